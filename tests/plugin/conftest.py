"""The example plugin is a package of its own: its modules are imported where it is installed."""

collect_ignore = ["src", "scenarios.py"]
