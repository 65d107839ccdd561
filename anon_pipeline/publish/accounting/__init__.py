"""What ledger and memory know of releases: entering them, comparing both, one run at a time."""
