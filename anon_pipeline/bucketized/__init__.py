"""Bucketized releases: values as they are, in several tables that only buckets of records connect.

Belongs here: buckets, tables, attackers, gate of these releases. Does not belong here: what releases with
declared columns have in common, see `declared`.

Decision: docs/adr/0092-bucketized-releases.md.
"""
