"""How far a share that was counted in a table may be from the one that it estimates; a rule for small tables.

Measured in docs/adr/0050-a-report-for-a-privacy-officer.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from anon_pipeline.base.shares import percent

ENOUGH = 100
"""Records from which on a share is given with its standard error."""

HITS = 10
"""Records on either side of a share that it takes, too."""

_Z = 1.959964  # of 95 %


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share that was counted in a table.

    share: what was counted, in [0, 1].
    error: its standard error; None where the table is too small for one.
    low, high: ends of its interval of 95 % confidence.
    """

    share: float
    error: float | None
    low: float
    high: float

    def as_text(self) -> str:
        """Say how well the share is known.

        >>> estimate(0.25, 400).as_text()
        'standard error 2.17 %'
        >>> estimate(0.2, 10).as_text()
        'too few records for a standard error: between 5.67 % and 51 % (95 %)'
        """
        if self.error is not None:
            return f"standard error {percent(self.error)}"
        between = f"between {percent(self.low)} and {percent(self.high)} (95 %)"
        return f"too few records for a standard error: {between}"


def estimate(share: float, records: int) -> Estimate:
    """Return how well a share is known, as if each record were linked or not by itself.

    Records of one class have the same candidates; what that does to the error is in [methods 8.8].

    Below `ENOUGH` records, or with fewer than `HITS` on either side, only Wilson's interval is given.

    Args:
        share: of the records, in [0, 1].
        records: of the table, at least 1.
    Source:
        Wilson (1927), the score interval of a proportion.
    """
    n, p = records, share
    middle, width = p + _Z**2 / (2 * n), _Z * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
    low, high = ((middle + sign * width) / (1 + _Z**2 / n) for sign in (-1, 1))
    fewest = min(p, 1 - p) * n
    error = math.sqrt(p * (1 - p) / n) if n >= ENOUGH and fewest >= HITS else None
    return Estimate(p, error, min(max(low, 0.0), p), max(min(high, 1.0), p))
