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

from anon_pipeline.base.compilation import kernel
from anon_pipeline.base.sorting import sort_pairs
from anon_pipeline.risk.l_diversity import ENTROPY_TOLERANCE
from anon_pipeline.risk.t_closeness import flat_part

NONE, ORDERED, EQUAL, HIERARCHICAL = 0, 1, 2, 3
DISTINCT, ENTROPY, RECURSIVE = 1, 2, 3
DISTANCE, START, TOTAL, OCCURRING, HEIGHT, TREE, KIND, UNIT = 0, 1, 2, 3, 4, 5, 6, 7
T, L, C = 0, 1, 2
WHOLE, RANK, BELOW, AREA = 0, 1, 2, 3
NODE, MASS = 0, 1
CLOSE = 1e-12
"""A distance is within t if it is at most t + CLOSE: the gate's own tolerance for sums of floats."""


class Rules(NamedTuple):
    """What a class must keep, for a sensitive columns; V is the sum of their numbers of values.

    Few arrays of many rows: numba takes as long to compile a kernel's arguments as its loops.

    k: records of a class, at least.
    columns: (8, a + 1) of each column, and of the end.
        DISTANCE: NONE, ORDERED, EQUAL or HIERARCHICAL; NONE where t is not limited.
        START: where its values begin in ``values``. TOTAL: records of the whole table with any value.
        OCCURRING: values that occur. HEIGHT: levels of its hierarchy; 0 without.
        TREE: where its levels begin in ``levels``. KIND: NONE, DISTINCT, ENTROPY or RECURSIVE.
        UNIT: of `risk.capacity.share_unit`.
    bounds: (3, a). T: largest distance. L: how diverse; C: for RECURSIVE.
    values: (4, V + a).
        WHOLE: records of the whole table with each value.
        RANK: place of a value among those that occur in the whole table.
        BELOW: records of the whole table up to each of the occurring values; the rest is unused.
        AREA: sums of BELOW in front of each of the occurring values, and of all; a column's begin at its
        START plus its number.
    levels: (2, x). NODE: code of each leaf on each level, level after level. MASS: records of the whole table
        below each code of a level, in the same layout.
    """

    k: int
    columns: NDArray[np.int64]
    bounds: NDArray[np.float64]
    values: NDArray[np.int64]
    levels: NDArray[np.int64]


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
        codes: (m,) value of each of the class's entries; may be sorted, with their weights.
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
    sort_pairs(codes, weights)
    for entry in range(len(codes)):
        if found == 0 or values[found - 1] != codes[entry]:
            values[found], counts[found] = codes[entry], 0
            found += 1
        counts[found - 1] += weights[entry]
    return found


@kernel
def _ordered_distance(
    rules: Rules, column: int, values: NDArray[np.int64], counts: NDArray[np.int64], size: int
) -> float:
    """1/(r − 1)·Σ|cumulative difference| over the r values that occur; 0 for r = 1."""
    start, occurring = rules.columns[START, column], rules.columns[OCCURRING, column]
    if occurring <= 1:
        return 0.0
    prefixes = (
        rules.values[BELOW, start : start + occurring],
        rules.values[AREA, start + column : start + column + occurring + 1],
        rules.columns[UNIT, column],
    )
    distance, begin, level = 0.0, 0, 0
    for pair in range(len(values)):
        rank = rules.values[RANK, start + values[pair]]
        distance += flat_part(begin, rank, level, size, prefixes)
        begin = rank
        level += counts[pair]
    distance += flat_part(begin, occurring, level, size, prefixes)
    return float(min(max(distance / (occurring - 1), 0.0), 1.0))


@kernel
def _equal(
    rules: Rules, column: int, values: NDArray[np.int64], counts: NDArray[np.int64], size: int
) -> float:
    """½Σ|p − q|, as the mass above q."""
    start, distance = rules.columns[START, column], 0.0
    for pair in range(len(values)):
        share = rules.values[WHOLE, start + values[pair]] / rules.columns[TOTAL, column]
        distance += max(counts[pair] / size - share, 0.0)
    return distance


@kernel
def _surplus(count: int, size: int, mass: int, n: int, unit: int) -> int:
    """By how much a share of a class exceeds that of the whole table, in n·size or in ``unit``."""
    if unit == 0:
        return count * n - mass * size
    return int(count / size * unit) - int(mass / n * unit)


@kernel
def _hierarchical(
    rules: Rules, column: int, values: NDArray[np.int64], counts: NDArray[np.int64], size: int
) -> float:
    """Σ cost(N) over the hierarchy, as in `risk.t_closeness`: codes are in tree order, siblings together."""
    start, n = rules.columns[START, column], rules.columns[TOTAL, column]
    height, unit = rules.columns[HEIGHT, column], rules.columns[UNIT, column]
    leaves = rules.columns[START, column + 1] - start
    first, count, extra = values.copy(), counts.copy(), np.empty(len(values), np.int64)
    for pair in range(len(values)):
        # Share above that in the whole table, as a whole number.
        extra[pair] = _surplus(counts[pair], size, rules.values[WHOLE, start + values[pair]], n, unit)
    found, cost = len(values), 0.0
    for level in range(1, height):
        layer, kept, pair = rules.columns[TREE, column] + level * leaves, 0, 0
        while pair < found:
            # Join the codes below one parent: what they can even out among themselves costs this level.
            parent, positive, records = rules.levels[NODE, layer + first[pair]], 0, 0
            leaf = first[pair]
            while pair < found and rules.levels[NODE, layer + first[pair]] == parent:
                positive += max(extra[pair], 0)
                records += count[pair]
                pair += 1
            first[kept], count[kept] = leaf, records
            extra[kept] = _surplus(records, size, rules.levels[MASS, layer + parent], n, unit)
            cost += level * max(min(positive, positive - extra[kept]), 0)
            kept += 1
        found = kept
    return float(cost / (max(height - 1, 1) * (n * size if unit == 0 else unit)))


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
    if rules.columns[DISTANCE, column] == ORDERED:
        return _ordered_distance(rules, column, values, counts, size)
    if rules.columns[DISTANCE, column] == EQUAL:
        return _equal(rules, column, values, counts, size)
    if rules.columns[DISTANCE, column] == HIERARCHICAL:
        return _hierarchical(rules, column, values, counts, size)
    return 0.0


@kernel
def _diverse(rules: Rules, column: int, counts: NDArray[np.int64], size: int) -> bool:
    """Whether a class is l-diverse in one column."""
    if rules.columns[KIND, column] == NONE:
        return True
    if rules.columns[KIND, column] == DISTINCT:
        return bool(len(counts) >= rules.bounds[L, column])
    if rules.columns[KIND, column] == ENTROPY:
        entropy = 0.0
        for count in counts:
            entropy -= count / size * math.log(count / size)
        return bool(math.exp(entropy) >= rules.bounds[L, column] - ENTROPY_TOLERANCE)
    ranked, rest = counts.copy(), 0
    sort_pairs(ranked, counts.copy())
    for place in range(len(ranked) - int(rules.bounds[L, column]) + 1):
        rest += ranked[place]
    return rest > 0 and ranked[-1] / rest < rules.bounds[C, column]


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
        if class_distance(rules, column, own, records, size) > rules.bounds[T, column] + CLOSE:
            return False
    return True
