"""Tuning: which k, ε, confidence and recoder, by what to expect of each before any noise is drawn.

Belongs here: a grid of such points, their expectations, which of them pass, the front, the recommended one,
the table, the map, writing the choice into a policy file. Does not belong here: making a release (`release`),
the closed forms (`risk`, `perturb`).
Decisions: docs/adr/0024-tuning-by-expectation.md.
"""
