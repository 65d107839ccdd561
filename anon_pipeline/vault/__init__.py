"""The vault: private artifacts between the stages, for their owner alone, encrypted where there is a key.

Belongs here: bytes, keys, places, how long they stay. Does not belong here: what is in an artifact, Dagster.
Decisions: docs/adr/0006-the-vault-seals-each-artifact.md.
"""
