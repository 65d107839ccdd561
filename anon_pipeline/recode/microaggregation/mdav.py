"""MDAV and V-MDAV: clusters of the records nearest to the most distant ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.microaggregation.geometry import Taxonomies, Work, center, forget, measure, record
from anon_pipeline.recode.microaggregation.nearest import farthest, nearest, take


@kernel
def _around(
    tree: Taxonomies, work: Work, labels: NDArray[np.int64], state: NDArray[np.int64], k: int
) -> None:
    """Make a cluster of the k records with the least distances."""
    nearest(work, 0, state[0], k)
    state[0] = take(tree, work, labels, work.places[:k], state[0], state[1])
    state[1] += 1


@kernel
def _from_center(tree: Taxonomies, work: Work, alive: int) -> None:
    """Measure from the record that is farthest from the average."""
    center(tree, work, alive)
    measure(tree, work, 0, alive)
    record(tree, work, farthest(work.distances[:alive], work.ids))
    measure(tree, work, 0, alive)


@kernel
def mdav_rounds(
    tree: Taxonomies, work: Work, labels: NDArray[np.int64], state: NDArray[np.int64], k: int, rounds: int
) -> None:
    """Form clusters of k records, two a round, until none is left; the last has up to 2·k − 1.

    Args:
        labels: (n,) out: cluster of each record.
        state: in and out: records left (≥ k, or 0), clusters formed.
        rounds: how many before returning.
    Source:
        [DB 3.2]; Domingo-Ferrer and Torra (2005), Algorithm MDAV.
    """
    for _ in range(rounds):
        if state[0] < 2 * k:
            state[0] = take(tree, work, labels, np.arange(state[0]), state[0], state[1])
            return
        _from_center(tree, work, state[0])
        if state[0] < 3 * k:
            _around(tree, work, labels, state, k)
            continue
        nearest(work, 0, state[0], k)
        record(tree, work, farthest(work.distances[: state[0]], work.ids))
        state[0] = take(tree, work, labels, work.places[:k], state[0], state[1])
        state[1] += 1
        measure(tree, work, 0, state[0])
        _around(tree, work, labels, state, k)


class Growth(NamedTuple):
    """Clusters that grow: their members move to the end of the records that are left.

    labels: (n,) in and out: cluster of each record, −1 without.
    state: records left, clusters formed, place in ``queue``.
    queue: (n,) records, the farthest from the average of all first.
    near: (n,) squared distance of each position from the cluster. at: (n,) position of each record.
    """

    labels: NDArray[np.int64]
    state: NDArray[np.int64]
    queue: NDArray[np.int64]
    near: NDArray[np.float64]
    at: NDArray[np.int64]


@kernel
def _join(work: Work, growth: Growth, place: int, last: int) -> None:
    """Put the record at a position into the cluster, and in exchange for the last one that is left."""
    growth.labels[work.ids[place]] = growth.state[1]
    for column in range(len(work.target)):
        numbers = work.numbers[column]
        numbers[place], numbers[last] = numbers[last], numbers[place]
    for column in range(len(work.concepts)):
        leaves = work.categories[column]
        leaves[place], leaves[last] = leaves[last], leaves[place]
    work.ids[place], work.ids[last] = work.ids[last], work.ids[place]
    growth.near[place] = growth.near[last]
    growth.at[work.ids[place]], growth.at[work.ids[last]] = place, last


@kernel
def _approach(tree: Taxonomies, work: Work, growth: Growth, place: int, left: int) -> None:
    """Lower the distances to the cluster by those to its new member."""
    record(tree, work, place)
    measure(tree, work, 0, left)
    for other in range(left):
        growth.near[other] = min(growth.near[other], work.distances[other])


@kernel
def _seed(tree: Taxonomies, work: Work, growth: Growth, k: int) -> int:
    """Begin a cluster with the k records nearest to the farthest one; return how many are left."""
    state = growth.state
    while growth.labels[growth.queue[state[2]]] >= 0:
        state[2] += 1
    record(tree, work, growth.at[growth.queue[state[2]]])
    measure(tree, work, 0, state[0])
    nearest(work, 0, state[0], k)
    left: int = state[0]
    for place in np.sort(work.places[:k])[::-1]:
        left -= 1
        _join(work, growth, place, left)
    growth.near[:left] = np.inf
    for place in range(left, state[0]):
        _approach(tree, work, growth, place, left)
    return left


@kernel
def _candidate(near: NDArray[np.float64], ids: NDArray[np.int64]) -> int:
    """Position of the least distance to the cluster, of equal ones that of the least id."""
    found = 0
    for place in range(1, len(near)):
        if near[place] < near[found] or (near[place] == near[found] and ids[place] < ids[found]):
            found = place
    return found


@kernel
def _lonely(tree: Taxonomies, work: Work, place: int, left: int) -> float:
    """Squared distance of a record to the nearest other one that is left; infinite without one."""
    record(tree, work, place)
    measure(tree, work, 0, left)
    work.distances[place] = np.inf
    return float(work.distances[:left].min())


@kernel
def vmdav_rounds(tree: Taxonomies, work: Work, growth: Growth, k: int, gamma: float, rounds: int) -> None:
    """Form clusters of k to 2·k − 1 records until fewer than k are left.

    A cluster takes in the nearest record outside as long as that is nearer to it than γ times its distance to
    any other record outside.

    Args:
        growth: in and out.
        gamma: γ ≥ 0.
        rounds: clusters before returning.
    Source:
        Solanas and Martínez-Ballesté (2006).
    """
    state = growth.state
    for _ in range(rounds):
        if state[0] < k:
            return
        left = _seed(tree, work, growth, k)
        while left > 0 and state[0] - left < 2 * k - 1:
            place = _candidate(growth.near[:left], work.ids)
            if growth.near[place] >= gamma * gamma * _lonely(tree, work, place, left):
                break
            left -= 1
            _join(work, growth, place, left)
            _approach(tree, work, growth, left, left)
        for place in range(state[0] - 1, left - 1, -1):
            state[0] = forget(tree, work, place, state[0])
        state[1] += 1
