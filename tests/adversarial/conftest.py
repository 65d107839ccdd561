"""The harness is imported by its tests; it has no doctests of its own to collect."""

collect_ignore_glob = ["[!t]*.py", "torn.py"]
