"""A policy for a table that has none: from proposed roles to one that runs, tuned, with its reasons.

Belongs here: from a profile to a policy file and the private files that it names. Does not belong here:
looking at the table (`draft.profile`), asking on a terminal (`cli`).

Decision: docs/adr/0053-a-policy-is-proposed.md.
"""
