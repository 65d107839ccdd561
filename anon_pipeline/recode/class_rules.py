"""Numba kernels that ask whether one class keeps k, t-closeness and l-diversity.

A class is given as the distinct sensitive values that it has and how often: sparse, so that a class of k
records costs O(k) however many values the column has. The arithmetic is that of `risk`, so that what a
recoder accepts is what the gate measures.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compiled import kernel
from anon_pipeline.risk.l_diversity import ENTROPY_TOLERANCE
from anon_pipeline.risk.t_closeness import flat_part

NONE, ORDERED, EQUAL, HIERARCHICAL = 0, 1, 2, 3
DISTINCT, ENTROPY, RECURSIVE = 1, 2, 3
CLOSE = 1e-12
"""A distance is within t if it is at most t + CLOSE: the gate's own tolerance for sums of floats."""


class Rules(NamedTuple):
    """What a class must keep, for a sensitive columns; V is the sum of their numbers of values.

    k: records of a class, at least.
    distances: (a,) NONE, ORDERED, EQUAL or HIERARCHICAL; NONE where t is not limited.
    t: (a,) largest distance.
    starts: (a + 1,) where a column's values begin in the arrays over V.
    whole: (V,) records of the whole table with each value.
    totals: (a,) records of the whole table with any value.
    ranks: (V,) place of a value among those that occur in the whole table.
    occurring: (a,) values that occur.
    below: (V,) records of the whole table up to each of the occurring values; the rest is unused.
    areas: (V + a,) sums of ``below`` in front of each of the occurring values, and of all.
    heights: (a,) levels of the column's hierarchy; 0 without.
    trees: (a + 1,) where a column's levels begin in ``nodes`` and ``masses``.
    nodes: (x,) code of each leaf on each level, level after level.
    masses: (x,) records of the whole table below each code of a level, in the same layout.
    kinds: (a,) NONE, DISTINCT, ENTROPY or RECURSIVE.
    l: (a,) how diverse; c: (a,) for RECURSIVE.
    """

    k: int
    distances: NDArray[np.int64]
    t: NDArray[np.float64]
    starts: NDArray[np.int64]
    whole: NDArray[np.int64]
    totals: NDArray[np.int64]
    ranks: NDArray[np.int64]
    occurring: NDArray[np.int64]
    below: NDArray[np.int64]
    areas: NDArray[np.int64]
    heights: NDArray[np.int64]
    trees: NDArray[np.int64]
    nodes: NDArray[np.int64]
    masses: NDArray[np.int64]
    kinds: NDArray[np.int64]
    l: NDArray[np.float64]  # noqa: E741 - the field's own letter
    c: NDArray[np.float64]


@kernel
def tally(
    codes: NDArray[np.int64],
    weights: NDArray[np.int64],
    values: NDArray[np.int64],
    counts: NDArray[np.int64],
    seen: NDArray[np.int64],
) -> int:
    """Count the values of one column in one class.

    Args:
        codes: (m,) value of each of the class's entries.
        weights: (m,) records of each entry.
        values: (≥ m,) out: the distinct values, ascending.
        counts: (≥ m,) out: records of each.
        seen: (v,) scratch, all zero before and after.
    Returns:
        Number of distinct values.
    """
    found = 0
    if len(seen) <= 8 * len(codes):
        for entry in range(len(codes)):
            seen[codes[entry]] += weights[entry]
        for value in range(len(seen)):
            if seen[value] > 0:
                values[found], counts[found] = value, seen[value]
                seen[value] = 0
                found += 1
        return found
    for entry in np.argsort(codes):
        if found == 0 or values[found - 1] != codes[entry]:
            values[found], counts[found] = codes[entry], 0
            found += 1
        counts[found - 1] += weights[entry]
    return found


@kernel
def _ordered(
    rules: Rules, column: int, values: NDArray[np.int64], counts: NDArray[np.int64], size: int
) -> float:
    """1/(r − 1)·Σ|cumulative difference| over the r values that occur; 0 for r = 1."""
    start, occurring = rules.starts[column], rules.occurring[column]
    if occurring <= 1:
        return 0.0
    prefixes = (
        rules.below[start : start + occurring],
        rules.areas[start + column : start + column + occurring + 1],
    )
    distance, begin, level = 0.0, 0, 0
    for pair in range(len(values)):
        rank = rules.ranks[start + values[pair]]
        distance += flat_part(begin, rank, level, size, prefixes)
        begin = rank
        level += counts[pair]
    distance += flat_part(begin, occurring, level, size, prefixes)
    return min(max(distance / (occurring - 1), 0.0), 1.0)


@kernel
def _equal(
    rules: Rules, column: int, values: NDArray[np.int64], counts: NDArray[np.int64], size: int
) -> float:
    """½Σ|p − q|, as the mass above q."""
    start, distance = rules.starts[column], 0.0
    for pair in range(len(values)):
        share = rules.whole[start + values[pair]] / rules.totals[column]
        distance += max(counts[pair] / size - share, 0.0)
    return distance


@kernel
def _hierarchical(
    rules: Rules, column: int, values: NDArray[np.int64], counts: NDArray[np.int64], size: int
) -> float:
    """Σ cost(N) over the hierarchy, as in `risk.t_closeness`: codes are in tree order, siblings together."""
    start, n, height = rules.starts[column], rules.totals[column], rules.heights[column]
    leaves = rules.starts[column + 1] - start
    first, count, extra = values.copy(), counts.copy(), np.empty(len(values), np.int64)
    for pair in range(len(values)):
        # Share above that in the whole table, as a whole number.
        extra[pair] = counts[pair] * n - rules.whole[start + values[pair]] * size
    found, cost = len(values), 0.0
    for level in range(1, height):
        layer, kept, pair = rules.trees[column] + level * leaves, 0, 0
        while pair < found:
            # Join the codes below one parent: what they can even out among themselves costs this level.
            parent, positive, records = rules.nodes[layer + first[pair]], 0, 0
            leaf = first[pair]
            while pair < found and rules.nodes[layer + first[pair]] == parent:
                positive += max(extra[pair], 0)
                records += count[pair]
                pair += 1
            first[kept], count[kept] = leaf, records
            extra[kept] = records * n - rules.masses[layer + parent] * size
            cost += level * min(positive, positive - extra[kept])
            kept += 1
        found = kept
    return cost / (max(height - 1, 1) * n * size)


@kernel
def class_distance(
    rules: Rules, column: int, values: NDArray[np.int64], counts: NDArray[np.int64], size: int
) -> float:
    """Earth mover's distance between a class and the whole table, in one sensitive column.

    Args:
        values: (d,) distinct values of the class, ascending.
        counts: (d,) records of each.
    Returns:
        In [0, 1]; 0 where t is not limited.
    """
    if rules.distances[column] == ORDERED:
        return _ordered(rules, column, values, counts, size)
    if rules.distances[column] == EQUAL:
        return _equal(rules, column, values, counts, size)
    if rules.distances[column] == HIERARCHICAL:
        return _hierarchical(rules, column, values, counts, size)
    return 0.0


@kernel
def _diverse(rules: Rules, column: int, counts: NDArray[np.int64], size: int) -> bool:
    """Whether a class is l-diverse in one column."""
    if rules.kinds[column] == NONE:
        return True
    if rules.kinds[column] == DISTINCT:
        return len(counts) >= rules.l[column]
    if rules.kinds[column] == ENTROPY:
        entropy = 0.0
        for count in counts:
            entropy -= count / size * math.log(count / size)
        return math.exp(entropy) >= rules.l[column] - ENTROPY_TOLERANCE
    ranked = np.sort(counts)
    rest = ranked[: max(0, len(ranked) - int(rules.l[column]) + 1)].sum()
    return rest > 0 and ranked[-1] / rest < rules.c[column]


@kernel
def keeps_rules(
    rules: Rules, values: NDArray[np.int64], counts: NDArray[np.int64], ends: NDArray[np.int64], size: int
) -> bool:
    """Whether a class keeps every rule.

    Args:
        rules: of a sensitive columns.
        values: (d,) distinct values of the class, column after column, ascending in each.
        counts: (d,) records of each.
        ends: (a,) where each column's values end.
    """
    if size < rules.k:
        return False
    begin = 0
    for column in range(len(ends)):
        own, records = values[begin : ends[column]], counts[begin : ends[column]]
        begin = ends[column]
        if not _diverse(rules, column, records, size):
            return False
        if class_distance(rules, column, own, records, size) > rules.t[column] + CLOSE:
            return False
    return True
