"""The rules and the words of manifest version 1, kept as they were so that releases of 0.1.0 verify."""
