"""Numba kernels that say by how much a class misses its limits."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.base.sorting import sort_pairs
from anon_pipeline.recode.class_rules import (
    DISTANCE,
    DISTINCT,
    ENTROPY,
    KIND,
    NONE,
    START,
    C,
    L,
    Rules,
    T,
    class_distance,
    keeps_rules,
    tally,
)

KEPT = -np.inf
"""Excess of a class that keeps all of its limits."""


class Tallies(NamedTuple):
    """Room to count the sensitive values of one class.

    values, counts: (p,) distinct values, column after column, and records of each. ends: (s,) of a column.
    seen: (v,) zeros. own: (n,) values of the members. ones: (n,).
    """

    values: NDArray[np.int64]
    counts: NDArray[np.int64]
    ends: NDArray[np.int64]
    seen: NDArray[np.int64]
    own: NDArray[np.int64]
    ones: NDArray[np.int64]


class Limits(NamedTuple):
    """What every class must keep of the sensitive values.

    rules: of s columns. sensitive: (s, n) value of each record. room: to count them.
    """

    rules: Rules
    sensitive: NDArray[np.int64]
    room: Tallies


@kernel
def _count(limits: Limits, members: NDArray[np.int64]) -> int:
    """Count each sensitive column's values among some records, column after column; return the pairs."""
    rules, sensitive, room = limits.rules, limits.sensitive, limits.room
    begin, own, ones = 0, room.own[: len(members)], room.ones[: len(members)]
    for column in range(len(sensitive)):
        for place in range(len(members)):
            own[place] = sensitive[column, members[place]]
        seen = room.seen[: rules.columns[START, column + 1] - rules.columns[START, column]]
        begin += tally(own, ones, room.values[begin:], room.counts[begin:], seen)
        room.ends[column] = begin
    return begin


@kernel
def _shortfall(rules: Rules, column: int, counts: NDArray[np.int64], size: int) -> float:
    """Share of the diversity that is missing, in (−∞, 1]; 0 or less where there is enough."""
    if rules.columns[KIND, column] == NONE:
        return -1.0
    if rules.columns[KIND, column] == DISTINCT:
        return float(1.0 - len(counts) / rules.bounds[L, column])
    if rules.columns[KIND, column] == ENTROPY:
        entropy = 0.0
        for count in counts:
            entropy -= count / size * math.log(count / size)
        return float(1.0 - math.exp(entropy) / rules.bounds[L, column])
    ranked, rest = counts.copy(), 0
    sort_pairs(ranked, counts.copy())
    for place in range(len(ranked) - int(rules.bounds[L, column]) + 1):
        rest += ranked[place]
    return float(1.0 - rules.bounds[C, column] * rest / ranked[-1])


@kernel
def excess(
    rules: Rules, values: NDArray[np.int64], counts: NDArray[np.int64], ends: NDArray[np.int64], size: int
) -> float:
    """By how much a class misses the limit that it misses most.

    Args:
        rules: of s sensitive columns.
        values: (d,) distinct values, column after column, ascending in each.
        counts: (d,) records of each.
        ends: (s,) where each column's values end.
    Returns:
        The greatest of distance − t and of the missing share of l; −1 without limits.
    """
    worst, begin = -1.0, 0
    for column in range(len(ends)):
        own, records = values[begin : ends[column]], counts[begin : ends[column]]
        begin = ends[column]
        worst = max(worst, _shortfall(rules, column, records, size))
        if rules.columns[DISTANCE, column] != NONE:
            worst = max(worst, class_distance(rules, column, own, records, size) - rules.bounds[T, column])
    return worst


@kernel
def judge(limits: Limits, members: NDArray[np.int64]) -> tuple[bool, float]:
    """Whether some records keep all limits as a class, and by how much they miss the worst."""
    pairs = _count(limits, members)
    values, counts, ends = limits.room.values[:pairs], limits.room.counts[:pairs], limits.room.ends
    kept = keeps_rules(limits.rules, values, counts, ends, len(members))
    return kept, excess(limits.rules, values, counts, ends, len(members))
