"""ε-DP releases: nothing that is published of one comes from the data without noise.

Belongs here: the methods, their own gate, manifest, report and verification. Does not belong here: anything
that measures the originals.

Decision: docs/adr/0090-releases-with-differential-privacy.md.
"""
