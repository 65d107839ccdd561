"""Clusters whose members change places: their positions, sums and distances.

The error of a cluster is the sum of the squared distances (9.7) of its pairs over its size; with numbers
alone that is the squared error of releasing its mean.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.class_rules import CLOSE
from anon_pipeline.recode.microaggregation.geometry import Taxonomies, Work
from anon_pipeline.recode.microaggregation.slots import Scale, distance_with
from anon_pipeline.recode.microaggregation.space import Space, make_work


class Crowds(NamedTuple):
    """m clusters of n records, one after the other; an exchange leaves their sizes.

    work: the records; a cluster's members are at the positions from ``starts`` (m + 1,) on.
    labels: (n,) cluster of each position.
    ranks: (n,) rank of the sliced value at each position. ranked: (n,) the same, ascending in each cluster.
    known, sums, squares: (m, a) of the numbers that are not missing: how many, sum, sum of squares.
    own: (n,) sum of the squared distances of each record from the members of its cluster.
    excess: (m,) distance − t in the sliced column; 0 or less where t holds.
    toward: (p,) sum of the squared distances of the pool's records from the members of the cluster in work.
    changes: (p,) by how much the error grows when a member changes places with each of them.
    """

    work: Work
    starts: NDArray[np.int64]
    labels: NDArray[np.int64]
    ranks: NDArray[np.int64]
    ranked: NDArray[np.int64]
    known: NDArray[np.int64]
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]
    own: NDArray[np.float64]
    excess: NDArray[np.float64]
    toward: NDArray[np.float64]
    changes: NDArray[np.float64]


@kernel
def leaf_square(tree: Taxonomies, column: int, one: int, other: int) -> float:
    """Squared distance of two leaves of a column."""
    one, other, level = tree.nodes[column] + one, tree.nodes[column] + other, 0
    while one != other:
        one, other, level = tree.parents[one], tree.parents[other], level + 1
    return float(tree.squares[column, 0, 0, level])


@kernel
def sum_of_distances(tree: Taxonomies, crowds: Crowds, place: int, cluster: int) -> float:
    """Sum of the squared distances of the record at a position from the members of a cluster."""
    begin, end, total = crowds.starts[cluster], crowds.starts[cluster + 1], 0.0
    for column in range(len(crowds.work.numbers)):
        value, known = crowds.work.numbers[column, place], crowds.known[cluster, column]
        if np.isnan(value):
            total += known
        else:
            total += known * value * value - 2.0 * value * crowds.sums[cluster, column]
            total += crowds.squares[cluster, column] + (end - begin - known)
    for column in range(len(crowds.work.categories)):
        leaves = crowds.work.categories[column]
        for other in range(begin, end):
            total += leaf_square(tree, column, leaves[place], leaves[other])
    return total


@kernel
def _sum_up(tree: Taxonomies, crowds: Crowds, scale: Scale, cluster: int) -> None:
    """Write everything that is kept of a cluster, from its members."""
    begin, end = crowds.starts[cluster], crowds.starts[cluster + 1]
    for column in range(len(crowds.work.numbers)):
        known, total, squares = 0, 0.0, 0.0
        for place in range(begin, end):
            value = crowds.work.numbers[column, place]
            if not np.isnan(value):
                known, total, squares = known + 1, total + value, squares + value * value
        crowds.known[cluster, column] = known
        crowds.sums[cluster, column], crowds.squares[cluster, column] = total, squares
    crowds.ranked[begin:end] = np.sort(crowds.ranks[begin:end])
    first = crowds.ranked[begin]
    crowds.excess[cluster] = distance_with(scale, crowds.ranked[begin:end], first, first) - scale.t - CLOSE
    for place in range(begin, end):
        crowds.own[place] = sum_of_distances(tree, crowds, place, cluster)


@kernel
def _sum_all(tree: Taxonomies, crowds: Crowds, scale: Scale, begin: int, end: int) -> None:
    """Write what is kept of some clusters."""
    for cluster in range(begin, end):
        _sum_up(tree, crowds, scale, cluster)


@kernel
def swap(tree: Taxonomies, crowds: Crowds, scale: Scale, one: int, other: int) -> None:
    """Let the records at two positions change places."""
    work = crowds.work
    for column in range(len(work.numbers)):
        numbers = work.numbers[column]
        numbers[one], numbers[other] = numbers[other], numbers[one]
    for column in range(len(work.categories)):
        leaves = work.categories[column]
        leaves[one], leaves[other] = leaves[other], leaves[one]
    work.ids[one], work.ids[other] = work.ids[other], work.ids[one]
    crowds.ranks[one], crowds.ranks[other] = crowds.ranks[other], crowds.ranks[one]
    _sum_up(tree, crowds, scale, crowds.labels[one])
    _sum_up(tree, crowds, scale, crowds.labels[other])


def make_crowds(space: Space, labels: NDArray[np.int64], *, limit: int, scale: Scale, reach: int) -> Crowds:
    """Lay clusters out for exchanges.

    Args:
        labels: (n,) cluster of each, 0 … m−1.
        limit: row of ``space.sensitive``. scale: of that column.
        reach: records that a cluster looks at.
    """
    order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)
    m, n, columns = len(sizes), space.records, len(space.numbers)
    work = make_work(space, reach)
    crowds = Crowds(
        work=work._replace(
            numbers=np.ascontiguousarray(space.numbers[:, order]),
            categories=np.ascontiguousarray(space.categories[:, order]),
            ids=order,
        ),
        starts=np.concatenate(([0], np.cumsum(sizes))),
        labels=labels[order],
        ranks=scale.ranks[space.sensitive[limit][order]],
        ranked=np.zeros(n, np.int64),
        known=np.zeros((m, columns), np.int64),
        sums=np.zeros((m, columns)),
        squares=np.zeros((m, columns)),
        own=np.zeros(n),
        excess=np.zeros(m),
        changes=np.zeros(reach),
        toward=np.zeros(reach),
    )
    for begin in range(0, m, 2_000):
        _sum_all(space.taxonomies, crowds, scale, begin, min(m, begin + 2_000))
    return crowds
