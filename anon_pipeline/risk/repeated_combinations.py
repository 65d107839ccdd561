"""Whether combinations of values occur in more records than one record a person explains: pairs of records.

Two records of one person agree in everything at once. In a table with one record a person, whether a pair of
records agrees in two columns has to do with each other as much where it agrees in the other columns as where
it does not; records of one person are only where it agrees in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import first_rows, pack_columns
from anon_pipeline.base.order import repeated_rows
from anon_pipeline.risk.agreement import independent_columns

FEWEST_PAIRS = 10
"""Pairs of equal records from which a table is looked at."""

FEWEST_COLUMNS = 3
"""Columns that do not follow from one another, without which nothing can be said."""

_FEWEST_COUNTS = 20
_TIMES = 4.0
_MOST_COLUMNS = 6  # the columns with most values distinguish people best
_TOGETHER = 2  # columns whose records are set aside first
_WORTHWHILE = 0.5  # share of the records up to which those that have a pair are set aside
_HALF = 0.5  # added to counts of pairs, so that none is 0 (Haldane and Anscombe)

Integers = NDArray[np.integer]


def repeats_as_people_do(columns: Sequence[Integers]) -> bool | None:
    """Tell whether equal records are more than a table with one record a person has; None: nothing tells.

    Looked at are columns that do not follow from one another, at least three, at most those six with most
    values. For two of them, the odds ratio of agreeing in both, among pairs of records that agree in the
    others, is divided by that among the other pairs; more than `_TIMES` for some two columns is too many.

    Args:
        columns: arrays (n,) of values' numbers, ≥ 0.
    Returns:
        None with fewer than three columns that do not follow from one another.
    """
    if not len(columns) or not len(columns[0]):
        return None
    different = first_rows(columns)
    kept = independent_columns([column[different] for column in columns])[:_MOST_COLUMNS]
    if len(kept) < FEWEST_COLUMNS:
        return None
    pairs = _Pairs([columns[j] for j in kept])
    if pairs.agree(frozenset(range(len(kept)))) < FEWEST_PAIRS:
        return False
    return any(_interaction(pairs, i, j) > _TIMES for i, j in combinations(range(len(kept)), 2))


def counts_repeat(columns: Sequence[Integers]) -> bool:
    """Tell whether each combination of values has a multiple of some number of records: two, three, …

    So it is where each person has that many records, as after a join. Of records of different people, each
    count is even with a chance of about one half, and `_FEWEST_COUNTS` of them in one of a million tables.

    Args:
        columns: arrays (n,) of values' numbers, ≥ 0; at least one.
    """
    if not len(columns[0]):
        return False
    counts = repeated_rows(*pack_columns(columns))[1]
    return len(counts) >= _FEWEST_COUNTS and int(np.gcd.reduce(counts)) > 1


def interaction(columns: Sequence[Integers], i: int, j: int) -> float:
    """Return how much more agreeing in two columns goes together where pairs agree in all others.

    Args:
        columns: q ≥ 3 arrays (n,) of values' numbers, ≥ 0.
        i, j: two of them.
    Returns:
        A ratio of two odds ratios, 1 where the others have no part in it: the interaction of three in the
        table of pairs by whether they agree.
    """
    return _interaction(_Pairs(columns), i, j)


class _Pairs:
    """The pairs of records that agree in some columns, counted once for each set of columns."""

    def __init__(self, columns: Sequence[Integers]) -> None:
        self.columns = columns
        self.records = len(columns[0])
        self._counted: dict[frozenset[int], float] = {
            frozenset(): float(self.records) * (self.records - 1) / 2
        }
        self._rows: dict[frozenset[int], Integers | None] = {frozenset(): None}  # None: all

    def agree(self, names: frozenset[int]) -> float:
        """Count the pairs that agree in all columns of a set."""
        if names not in self._counted:
            self._count(names)
        return self._counted[names]

    def _count(self, names: frozenset[int]) -> None:
        """Group the records that agree with another one in some of the columns; others have no pair.

        Two columns often leave few records, and are counted in any case.
        """
        if len(names) > _TOGETHER:
            for few in combinations(sorted(names), _TOGETHER):
                self.agree(frozenset(few))
        among = [rows for fewer, rows in self._rows.items() if rows is not None and fewer < names]
        rows = min(among, key=len, default=None)
        if rows is not None and not len(rows):
            self._rows[names], self._counted[names] = rows, 0.0
            return
        key, space = pack_columns(
            self.columns[name] if rows is None else self.columns[name][rows] for name in sorted(names)
        )
        places, sizes = repeated_rows(key, space)
        if len(places) <= self.records * _WORTHWHILE:
            rows = places if rows is None else rows[places]
        self._rows[names] = rows
        counts = sizes.astype(np.float64)
        self._counted[names] = float((counts * (counts - 1)).sum() / 2)


def _interaction(pairs: _Pairs, i: int, j: int) -> float:
    others = frozenset(range(len(pairs.columns))) - {i, j}
    inside = _agreement(pairs, i, j, others)
    outside = _agreement(pairs, i, j, frozenset()) - inside
    return float(_odds_ratio(inside) / _odds_ratio(outside))


def _agreement(pairs: _Pairs, one: int, other: int, others: frozenset[int]) -> NDArray[np.float64]:
    """Count the pairs that agree in all others by whether they agree in one and in the other, (2, 2)."""
    both, first, second = (pairs.agree(others | more) for more in ({one, other}, {one}, {other}))
    return np.array([[pairs.agree(others) - first - second + both, second - both], [first - both, both]])


def _odds_ratio(pairs: NDArray[np.float64]) -> float:
    counts = pairs + _HALF
    return float(counts[0, 0] * counts[1, 1] / (counts[0, 1] * counts[1, 0]))
