"""The earth mover's distance of a cluster, member by member: what each carries to its share of the whole.

A cluster of s records is nearest to the whole table in one column when its i-th value, in ascending order,
goes to the i-th of s equal shares ("slots") of the table's ascending values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.class_rules import BELOW, OCCURRING, RANK, START, TOTAL, Rules, T


class Scale(NamedTuple):
    """One ordered sensitive column; r of its values occur in the whole table.

    ranks: (v,) place of a value among those that occur.
    shares: (r,) share of the records up to each of these. areas: (r,) integral of the rank up to that share.
    begins: (s + 1,) where the slots of clusters of a size begin in ``edges``, −1 for a size that none has.
    edges: integral of the rank up to 0/s, 1/s, … s/s, size after size.
    t: greatest distance.
    """

    ranks: NDArray[np.int64]
    shares: NDArray[np.float64]
    areas: NDArray[np.float64]
    begins: NDArray[np.int64]
    edges: NDArray[np.float64]
    t: float


@kernel
def distance_with(scale: Scale, ranked: NDArray[np.int64], old: int, new: int) -> float:
    """Distance of a cluster from the whole table with another value in the place of one of its own.

    Args:
        ranked: (s,) ranks of the cluster's values, ascending.
        old: one of them. new: what replaces it; may be the same.
    """
    shares, areas, edges, size = scale.shares, scale.areas, scale.edges, len(ranked)
    if len(shares) <= 1:
        return 0.0
    begin, total, read, skipped, put = scale.begins[size], 0.0, 0, False, False
    for slot in range(size):
        if not skipped and read < size and ranked[read] == old:
            read, skipped = read + 1, True
        if not put and (read == size or ranked[read] >= new):
            rank, put = new, True
        else:
            rank, read = ranked[read], read + 1
        low, high, up = slot / size, (slot + 1) / size, shares[rank]
        if up <= low:
            total += edges[begin + slot + 1] - edges[begin + slot] - rank * (high - low)
        elif up >= high:
            total += edges[begin + slot] - edges[begin + slot + 1] + rank * (high - low)
        else:
            total += rank * (2.0 * up - low - high) - 2.0 * areas[rank]
            total += edges[begin + slot] + edges[begin + slot + 1]
    return total / (len(shares) - 1)


def make_scale(rules: Rules, column: int, sizes: NDArray[np.int64]) -> Scale:
    """Describe an ordered sensitive column for clusters of some sizes."""
    begin, end = rules.columns[START, column], rules.columns[START, column + 1]
    below = rules.values[BELOW, begin : begin + rules.columns[OCCURRING, column]]
    shares = below / max(1, rules.columns[TOTAL, column])
    heights = np.diff(shares, prepend=0.0)
    areas = np.cumsum(np.arange(len(shares)) * heights)
    begins, edges, filled = np.full(int(sizes.max()) + 1, -1), [], 0
    for size in np.unique(sizes).tolist():
        begins[size] = filled
        edges.append(np.interp(np.arange(size + 1) / size, np.append(0.0, shares), np.append(0.0, areas)))
        filled += size + 1
    ranks, t = rules.values[RANK, begin:end], float(rules.bounds[T, column])
    return Scale(ranks, shares, areas, begins, np.concatenate(edges), t)
