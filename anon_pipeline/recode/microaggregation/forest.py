"""Clusters of a forest of nearest records, with a proven bound on what they lose.

Each record leads to at most one other: the nearest one outside of its tree, as long as the tree has fewer
than k records. That costs each record no more than it loses in any recoding with k records to a class, since
there k − 1 others are as near. The trees are then divided into clusters of k to 3(k − 1) records that are
connected by edges of their own. A cluster's range is at most the sum of the ranges of its edges, so that all
records together lose at most 3(k − 1) times the least possible, in ranges of numbers and in levels.
Source: Aggarwal, Feder, Kenthapadi, Motwani, Panigrahy, Thomas and Zhu (2005), Approximation algorithms for
k-anonymity, with another division of the trees.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.microaggregation.geometry import Taxonomies, Work
from anon_pipeline.recode.microaggregation.k_member import Extents, begin_cluster, widen_cluster

Integers = NDArray[np.int64]


class Forest(NamedTuple):
    """A forest of B blocks of equal records, while it grows.

    above: (B,) block that each leads to; −1 for none. group: (B,) leads to the number of its tree.
    sizes: (B,) records, and roots: (B,) block that leads nowhere, of the tree with this number.
    state: (1,) the first tree that may be too small.
    """

    above: Integers
    group: Integers
    sizes: Integers
    roots: Integers
    state: Integers


def new_forest(weights: Integers) -> Forest:
    """Return a forest without edges, of blocks with so many records, (B,)."""
    every = np.arange(len(weights), dtype=np.int64)
    return Forest(
        np.full(len(weights), -1, np.int64), every.copy(), weights.copy(), every.copy(), np.zeros(1, np.int64)
    )


@kernel
def _tree_of(group: Integers, block: int) -> int:
    """Return the number of a block's tree, and shorten the way to it."""
    while group[block] != block:
        group[block] = group[group[block]]
        block = group[block]
    return block


@kernel
def grow(tree: Taxonomies, work: Work, extents: Extents, forest: Forest, k: int, rounds: int) -> None:
    """Let the root of each tree with fewer than k records lead to the nearest block outside of the tree.

    Args:
        work: with the B blocks as its records.
        extents: of one cluster, as room to work.
        rounds: edges before returning.
    """
    above, group, sizes, roots, state = forest
    blocks = len(above)
    for _ in range(rounds):
        while state[0] < blocks and (group[state[0]] != state[0] or sizes[state[0]] >= k):
            state[0] += 1
        if state[0] == blocks:
            return
        small = state[0]
        begin_cluster(tree, work, extents, 0, roots[small])
        widen_cluster(tree, work, extents, 0, blocks)
        nearest = -1
        for block in range(blocks):
            if (nearest < 0 or work.distances[block] < work.distances[nearest]) and (
                _tree_of(group, block) != small
            ):
                nearest = block
        above[roots[small]] = nearest
        joined = _tree_of(group, nearest)
        group[small] = joined
        sizes[joined] += sizes[small]


@dataclass(frozen=True, slots=True, eq=False)
class _Cluster:
    """A cluster of a tree: its records, and the block next to it that is not of it, or −1."""

    records: list[int] = field(repr=False)
    beside: int


def divide_forest(above: Integers, starts: Integers, *, k: int) -> Integers:
    """Divide the trees of a forest into clusters of k to 3(k − 1) records.

    From the leaves up, what is left of a block's branches, fewer than k records each, is put together until k
    records are: a cluster that is connected through the block. The rest goes up with the block; what is left
    at the root joins a cluster next to it.

    Args:
        above: (B,) block that each leads to; −1 for a root.
        starts: (B + 1,) where the records of each block begin; they are alike.
        k: ≥ 1, at most the records of each tree.
    Returns:
        (n,) cluster of each record, numbered in the order of their first records.
    """
    rest: list[list[list[int]]] = [[] for _ in above]  # what the branches of a block have left
    clusters: list[_Cluster] = []
    for block in _leaves_first(above):
        own = list(range(int(starts[block]), int(starts[block + 1])))
        step = max(k - 1, 1)
        parts = [*rest[block], *(own[at : at + step] for at in range(1, len(own), step))]
        taken: list[int] = []
        for part in parts:
            taken += part
            if len(taken) >= k:
                clusters.append(_Cluster(taken, block))
                taken = []
        taken = [*taken, own[0]]
        up = int(above[block])
        if len(taken) >= k:
            clusters.append(_Cluster(taken, up))
        elif up >= 0:
            rest[up].append(taken)
        else:
            _join(clusters, taken, starts)
    found = np.empty(int(starts[-1]), np.int64)
    for number, cluster in enumerate(sorted(clusters, key=lambda one: min(one.records))):
        found[cluster.records] = number
    return found


def _join(clusters: list[_Cluster], left: list[int], starts: Integers) -> None:
    """Let what is left of a tree join the smallest of the clusters next to it."""
    blocks = set((np.searchsorted(starts, left, side="right") - 1).tolist())
    near = [one for one in clusters if one.beside in blocks]
    min(near, key=lambda one: (len(one.records), min(one.records))).records.extend(left)


def _leaves_first(above: Integers) -> Integers:
    """Order the blocks so that each comes before the one that it leads to."""
    waiting = np.bincount(above[above >= 0], minlength=len(above))
    order = np.flatnonzero(waiting == 0).tolist()
    for block in order:  # which grows
        up = int(above[block])
        if up >= 0:
            waiting[up] -= 1
            if waiting[up] == 0:
                order.append(up)
    return np.array(order, np.int64)
