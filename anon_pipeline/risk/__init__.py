"""What an attacker learns from a release: linking, closeness, diversity, confidence, class sizes.

Belongs here: measures of risk as pure functions over arrays. Does not belong here: what counts as too much
(`limits`), what an analyst loses (`utility`).
Decisions: docs/adr/0022-attacks.md.
"""
