"""What releases with declared columns have in common: codes, draft, manifest, report, verify.

Belongs here: what is equal for all kinds. Does not belong here: what one kind takes from the data, guarantees
or measures, see `declared.parts`.
"""
