"""Exchanging members between clusters: first until t holds, then as long as the error falls.

Decision: docs/adr/0028-exchanges-after-slices.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.class_rules import CLOSE
from anon_pipeline.recode.microaggregation.crowds import Crowds, leaf_square, sum_of_distances, swap
from anon_pipeline.recode.microaggregation.excess import Limits, judge
from anon_pipeline.recode.microaggregation.geometry import Taxonomies, aim, measure
from anon_pipeline.recode.microaggregation.nearest import nearest
from anon_pipeline.recode.microaggregation.slots import Scale, distance_with

_LEAST = 1e-10
"""What an exchange must gain at least: the rounding of sums must not send records round in circles."""


@kernel
def _aim_mean(tree: Taxonomies, crowds: Crowds, cluster: int) -> None:
    """Aim at the mean of a cluster: of its numbers, and of its members' squared distances from each leaf."""
    work, begin, end = crowds.work, crowds.starts[cluster], crowds.starts[cluster + 1]
    for column in range(len(work.target)):
        known = crowds.known[cluster, column]
        work.target[column] = crowds.sums[cluster, column] / known if 2 * known >= end - begin else np.nan
    total = np.zeros(len(work.row))
    for place in range(begin, end):
        for column in range(len(work.concepts)):
            work.concepts[column] = tree.nodes[column] + work.categories[column, place]
        aim(tree, work.concepts, work.row)
        total += work.row
    work.row[:] = total / (end - begin)


@kernel
def _approach(tree: Taxonomies, crowds: Crowds, cluster: int, pool: NDArray[np.int64]) -> None:
    """Sum the squared distances of the records of the pool from the members of a cluster."""
    for slot in range(len(pool)):
        crowds.toward[slot] = sum_of_distances(tree, crowds, pool[slot], cluster)


@kernel
def _gather(tree: Taxonomies, crowds: Crowds, cluster: int, reach: int) -> NDArray[np.int64]:
    """Positions of the records of other clusters that are nearest to the mean of a cluster, (p,)."""
    work, n = crowds.work, len(crowds.labels)
    begin, end = crowds.starts[cluster], crowds.starts[cluster + 1]
    _aim_mean(tree, crowds, cluster)
    measure(tree, work, 0, n)
    work.distances[begin:end] = np.inf
    found = min(reach, n - (end - begin))
    nearest(work, 0, n, found)
    pool = np.sort(work.places[:found])
    _approach(tree, crowds, cluster, pool)
    return pool


@kernel
def _weigh(tree: Taxonomies, crowds: Crowds, one: int, pool: NDArray[np.int64]) -> None:
    """Write by how much the error grows when a record changes places with each of the pool."""
    labels, starts, own = crowds.labels, crowds.starts, crowds.own
    numbers, categories, known = crowds.work.numbers, crowds.work.categories, crowds.known
    sums, squares, changes, toward = crowds.sums, crowds.squares, crowds.changes, crowds.toward
    here = starts[labels[one] + 1] - starts[labels[one]]
    for slot in range(len(pool)):
        other = pool[slot]
        there = labels[other]
        size, apart, far = starts[there + 1] - starts[there], 0.0, 0.0
        for column in range(len(numbers)):
            # `far`: from one to all of the other cluster, of known sums; `apart`: from one to the other.
            x, y, count = numbers[column, one], numbers[column, other], known[there, column]
            if np.isnan(x):
                far += count
                apart += 0.0 if np.isnan(y) else 1.0
            else:
                far += count * x * x - 2.0 * x * sums[there, column] + squares[there, column] + (size - count)
                apart += 1.0 if np.isnan(y) else (x - y) * (x - y)
        for column in range(len(categories)):
            leaves = categories[column]
            apart += leaf_square(tree, column, leaves[one], leaves[other])
            for place in range(starts[there], starts[there + 1]):
                far += leaf_square(tree, column, leaves[one], leaves[place])
        # What each cluster's error grows by when its member goes and the other comes.
        changes[slot] = (toward[slot] - apart - own[one]) / here + (far - apart - own[other]) / size


@kernel
def _keeps(limits: Limits, crowds: Crowds, gone: int, come: int) -> bool:
    """Whether a cluster keeps all limits with the record at ``come`` for its own at ``gone``."""
    cluster = crowds.labels[gone]
    begin, end = crowds.starts[cluster], crowds.starts[cluster + 1]
    members = crowds.work.ids[begin:end].copy()
    members[gone - begin] = crowds.work.ids[come]
    return judge(limits, members)[0]


@kernel
def _best(limits: Limits, crowds: Crowds, scale: Scale, one: int, pool: NDArray[np.int64]) -> int:
    """Position to exchange with: the error falls most, both clusters keep all limits; −1: none.

    Overwrites ``changes``.
    """
    labels, starts, ranks, ranked, changes = (
        crowds.labels, crowds.starts, crowds.ranks, crowds.ranked, crowds.changes,
    )  # fmt: skip
    most, here = scale.t + CLOSE, ranked[starts[labels[one]] : starts[labels[one] + 1]]
    while True:
        # The record that lowers the error most, of those not refused yet.
        slot, least = -1, -_LEAST
        for candidate in range(len(pool)):
            if changes[candidate] < least:
                slot, least = candidate, changes[candidate]
        if slot < 0:
            return -1
        other: int = pool[slot]
        there = ranked[starts[labels[other]] : starts[labels[other] + 1]]
        if (
            distance_with(scale, here, ranks[one], ranks[other]) <= most
            and distance_with(scale, there, ranks[other], ranks[one]) <= most
            and _keeps(limits, crowds, one, other)
            and _keeps(limits, crowds, other, one)
        ):
            return other
        changes[slot] = 0.0


@kernel
def exchange_some(
    tree: Taxonomies, limits: Limits, crowds: Crowds, scale: Scale, span: tuple[int, int, int]
) -> int:
    """Let members of some clusters change places with nearby records where that lowers the error.

    Args:
        span: first cluster, the one after the last, and how many records are nearby.
    Returns:
        How many exchanges there were.
    """
    changed = 0
    for cluster in range(span[0], span[1]):
        pool = _gather(tree, crowds, cluster, span[2])
        for one in range(crowds.starts[cluster], crowds.starts[cluster + 1]):
            _weigh(tree, crowds, one, pool)
            other = _best(limits, crowds, scale, one, pool)
            if other >= 0:
                swap(tree, crowds, scale, one, other)
                _approach(tree, crowds, cluster, pool)
                changed += 1
    return changed


@kernel
def _mender(
    crowds: Crowds, scale: Scale, one: int, pool: NDArray[np.int64], least: tuple[float, float]
) -> tuple[int, float, float]:
    """Index in the pool of the record that lowers the excess most (ties: the error); −1 if none does.

    Args:
        least: what to beat: excess, growth of the error.
    Returns:
        The position, and what is to beat now.
    """
    labels, starts, ranks, ranked = crowds.labels, crowds.starts, crowds.ranks, crowds.ranked
    here = ranked[starts[labels[one]] : starts[labels[one] + 1]]
    best, excess, change = -1, least[0], least[1]
    before = max(0.0, crowds.excess[labels[one]])
    for slot in range(len(pool)):
        other = pool[slot]
        fall = before + max(0.0, crowds.excess[labels[other]]) - _LEAST
        found = max(0.0, distance_with(scale, here, ranks[one], ranks[other]) - scale.t - CLOSE) - fall
        if found > excess:
            continue
        there = ranked[starts[labels[other]] : starts[labels[other] + 1]]
        found += max(0.0, distance_with(scale, there, ranks[other], ranks[one]) - scale.t - CLOSE)
        if found < excess or (found == excess and crowds.changes[slot] < change):
            best, excess, change = other, found, crowds.changes[slot]
    return best, excess, change


@kernel
def mend_some(tree: Taxonomies, crowds: Crowds, scale: Scale, span: tuple[int, int, int]) -> int:
    """Let clusters beyond t exchange members, those exchanges first that lower the excess of both most.

    Args:
        span: first cluster, the one after the last, and how many records are nearby.
    Returns:
        How many exchanges there were.
    """
    changed = 0
    for cluster in range(span[0], span[1]):
        while crowds.excess[cluster] > 0:
            pool = _gather(tree, crowds, cluster, span[2])
            first, second, least = -1, -1, (0.0, 0.0)
            for one in range(crowds.starts[cluster], crowds.starts[cluster + 1]):
                _weigh(tree, crowds, one, pool)
                found, excess, change = _mender(crowds, scale, one, pool, least)
                if found >= 0:
                    first, second, least = one, found, (excess, change)
            if first < 0:
                break
            swap(tree, crowds, scale, first, second)
            changed += 1
    return changed
