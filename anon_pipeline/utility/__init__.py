"""What an analyst loses by a release: losses by cell and class, errors, moments, models, queries.

Belongs here: measures of utility as pure functions over arrays. Does not belong here: the losses that steer a
search (`recode`), what an attacker learns (`risk`).
Decisions: docs/adr/0023-utility-in-one-result.md.
"""
