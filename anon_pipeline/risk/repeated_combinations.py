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

from anon_pipeline.risk.agreement import independent_columns

FEWEST_PAIRS = 10
"""Pairs of equal records from which a table is looked at."""

FEWEST_COLUMNS = 3
"""Columns that do not follow from one another, without which nothing can be said."""

_TIMES = 4.0
_MOST_COLUMNS = 6  # those with most values, which tell people apart best
_HALF = 0.5  # added to counts of pairs, so that none is 0 (Haldane and Anscombe)

Integers = NDArray[np.int64]


def repeats_as_people_do(columns: Sequence[Integers]) -> bool:
    """Tell whether equal records are more than a table with one record a person has.

    Looked at are columns that do not follow from one another, at least three, at most those six with most
    values. For two of them, the odds ratio of agreeing in both, among pairs of records that agree in the
    others, is divided by that among the other pairs; more than `_TIMES` for some two columns is too many.

    Args:
        columns: arrays (n,) of values' numbers, ≥ 0.
    """
    if not len(columns) or not len(columns[0]):
        return False
    distinct = np.unique(np.stack(columns, axis=1), axis=0)
    kept = independent_columns(list(distinct.T.astype(np.int64)))[:_MOST_COLUMNS]
    if len(kept) < FEWEST_COLUMNS:
        return False
    chosen = [columns[j] for j in kept]
    if _pairs(chosen) < FEWEST_PAIRS:
        return False
    return max(interaction(chosen, i, j) for i, j in combinations(range(len(chosen)), 2)) > _TIMES


def interaction(columns: Sequence[Integers], i: int, j: int) -> float:
    """Return how much more agreeing in two columns goes together where pairs agree in all others.

    Args:
        columns: q ≥ 3 arrays (n,) of values' numbers, ≥ 0.
        i, j: two of them.
    Returns:
        A ratio of two odds ratios, 1 where the others have no part in it: the interaction of three in the
        table of pairs by whether they agree.
    """
    others = [column for number, column in enumerate(columns) if number not in (i, j)]
    inside = _agreement(columns[i], columns[j], others)
    outside = _agreement(columns[i], columns[j], []) - inside
    return float(_odds_ratio(inside) / _odds_ratio(outside))


def _agreement(one: Integers, other: Integers, others: Sequence[Integers]) -> NDArray[np.float64]:
    """Count the pairs that agree in all others by whether they agree in one and in the other, (2, 2)."""
    both, first, second = _pairs([one, other, *others]), _pairs([one, *others]), _pairs([other, *others])
    whole = _pairs(others) if others else len(one) * (len(one) - 1) / 2
    return np.array([[whole - first - second + both, second - both], [first - both, both]])


def _odds_ratio(pairs: NDArray[np.float64]) -> float:
    counts = pairs + _HALF
    return float(counts[0, 0] * counts[1, 1] / (counts[0, 1] * counts[1, 0]))


def _pairs(columns: Sequence[Integers]) -> float:
    """Count the pairs of records that agree in all columns."""
    key = columns[0]
    for column in columns[1:]:
        key = np.unique(key * (int(column.max()) + 1) + column, return_inverse=True)[1].astype(np.int64)
    sizes = np.bincount(key).astype(np.float64)
    return float((sizes * (sizes - 1)).sum() / 2)
