"""The k that a table of some size begins with, and that a proposed hierarchy is made for."""

from __future__ import annotations

USUAL_K, SMALL_K, SMALL_TABLE = 10, 5, 1_000
"""Records in the smallest class; in tables of fewer records than the last."""


def usual_k(records: int) -> int:
    """Return k to begin with.

    >>> usual_k(999), usual_k(1_000)
    (5, 10)
    """
    return SMALL_K if records < SMALL_TABLE else USUAL_K
