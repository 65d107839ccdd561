"""Synthetic releases: records drawn from a model of the data, and what attackers learn from them.

Belongs here: models, attackers, gate and report of these releases. Does not belong here: what releases with
declared columns have in common, see `declared`.

Decision: docs/adr/0091-synthetic-releases.md.
"""
