"""The stages from personal data to a table that can be judged: see `pipeline`."""
