"""A folder per release, each with its policy in `defs.yaml`."""
