"""This repository's resources: where one deployment keeps things, and its hierarchies as CSV."""
