"""A table that is too large for one release becomes partitions of whole classes, one release each.

Belongs here: choosing the levels from counts of the whole table, and which class goes into which partition.
Does not belong here: how a partition is released, which is what any other release is.
Decision: docs/adr/0086-partitions-of-whole-classes.md.
"""
