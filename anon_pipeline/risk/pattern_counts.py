"""How often the pairs of each attacker have each pattern of similarity levels: they are compared once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.risk.comparison import (
    Levels,
    LinkageFiles,
    columns_of,
    count_best,
    count_each,
    count_outcomes,
    count_patterns,
    packed_cuts,
)

OUTCOMES = 4
"""Outcomes that pairs are classified by, at most."""

_KEPT = 2**22  # counts that are kept, 32 MiB

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PatternCounts:
    """What is known of the pairs of a attackers and n records, by P patterns.

    mine: (a,) pattern of each attacker's own pair.
    total: (P,) pairs of each pattern.
    """

    files: LinkageFiles
    levels: Levels
    mine: Integers = field(repr=False)
    total: Integers = field(repr=False)
    _each: Integers | None = field(repr=False)  # (a, P); None: too many, the pairs are compared once more

    def by_outcome(self, outcomes: Integers) -> Integers:
        """Count, for each attacker, the records of each outcome, (a, `OUTCOMES`); ``outcomes``: (P,)."""
        if self._each is None:
            found: Integers = count_outcomes(columns_of(self.files), packed_cuts(self.levels), outcomes)
            return found
        of = [self._each[:, outcomes == outcome].sum(axis=1) for outcome in range(OUTCOMES)]
        return np.stack(of, axis=1)

    def best(self, ranks: Integers) -> Integers:
        """Return each attacker's highest rank and how many records have it, (a, 2); ``ranks``: (P,), ≥ 0."""
        if self._each is None:
            found: Integers = count_best(columns_of(self.files), packed_cuts(self.levels), ranks)
            return found
        highest = np.where(self._each > 0, ranks, -1).max(axis=1)
        many = np.where(ranks == highest[:, None], self._each, 0).sum(axis=1)
        return np.stack([highest, many], axis=1)


def pattern_counts(files: LinkageFiles, levels: Levels) -> PatternCounts:
    """Compare every attacker's record with every released one.

    Args:
        levels: how similarity becomes levels.
    """
    arrays, packed, patterns = columns_of(files), packed_cuts(levels), levels.patterns
    if len(files.own) * patterns > _KEPT:
        total, mine = count_patterns(arrays, packed, patterns)
        return PatternCounts(files, levels, mine, total, None)
    each, mine = count_each(arrays, packed, patterns)
    return PatternCounts(files, levels, mine, each.sum(axis=0), each)
