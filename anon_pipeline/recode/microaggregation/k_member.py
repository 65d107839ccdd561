"""k-member: clusters that grow by the record that makes their ranges wider by least."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.microaggregation.geometry import Taxonomies, Work, center, forget, measure, record
from anon_pipeline.recode.microaggregation.nearest import farthest


class Extents(NamedTuple):
    """What m clusters cover.

    low, high: (m, a) least and greatest number; NaN without one. missing: (m, a) whether a number is missing.
    concepts: (m, b) lowest node above all leaves. sizes: (m,) records.
    row: (leaves,) scratch: what a column loses with each leaf added.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    missing: NDArray[np.bool_]
    concepts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    row: NDArray[np.float64]


@kernel
def begin_cluster(tree: Taxonomies, work: Work, extents: Extents, cluster: int, place: int) -> None:
    """Let a cluster cover one record."""
    for column in range(len(work.target)):
        value = work.numbers[column, place]
        extents.low[cluster, column], extents.high[cluster, column] = value, value
        extents.missing[cluster, column] = np.isnan(value)
    for column in range(len(work.concepts)):
        extents.concepts[cluster, column] = tree.nodes[column] + work.categories[column, place]
    extents.sizes[cluster] = 1


@kernel
def _cover(tree: Taxonomies, work: Work, extents: Extents, cluster: int, place: int) -> None:
    """Let a cluster cover one more record."""
    for column in range(len(work.target)):
        value = work.numbers[column, place]
        if np.isnan(value):
            extents.missing[cluster, column] = True
        elif not extents.low[cluster, column] <= value:  # also where there was none
            extents.low[cluster, column] = value
        if not np.isnan(value) and not extents.high[cluster, column] >= value:
            extents.high[cluster, column] = value
    for column in range(len(work.concepts)):
        width = tree.leaves[column + 1] - tree.leaves[column]
        concept, leaf = extents.concepts[cluster, column], work.categories[column, place]
        while tree.ups[tree.starts[column] + tree.levels[concept] * width + leaf] != concept:
            concept = tree.parents[concept]
        extents.concepts[cluster, column] = concept
    extents.sizes[cluster] += 1


@kernel
def _levels_with(tree: Taxonomies, extents: Extents, cluster: int, column: int) -> None:
    """Write what a cluster loses in one column with each leaf added: the level of what is then above all."""
    first, width = tree.leaves[column], tree.leaves[column + 1] - tree.leaves[column]
    concept, row = extents.concepts[cluster, column], extents.row[first : first + width]
    row[:] = -1.0
    while concept >= 0:
        level = tree.levels[concept]
        layer = tree.starts[column] + level * width
        lost = level / max(1, tree.heights[column] - 1)
        for leaf in range(width):
            if row[leaf] < 0 and tree.ups[layer + leaf] == concept:
                row[leaf] = lost
        concept = tree.parents[concept]


@kernel
def _span_with(low: float, high: float, missing: bool, value: float) -> float:
    """What a cluster loses in one column with a number added: its range, 1 where one of them is missing."""
    if np.isnan(value):
        return 0.0 if np.isnan(low) else 1.0
    if missing:
        return 1.0
    return float(max(high, value) - min(low, value))


@kernel
def widen_cluster(tree: Taxonomies, work: Work, extents: Extents, cluster: int, alive: int) -> None:
    """Write what each cell of a cluster loses with one of the records that are left added, all columns."""
    out = work.distances[:alive]
    out[:] = 0.0
    for column in range(len(work.target)):
        own = work.numbers[column, :alive]
        low, high = extents.low[cluster, column], extents.high[cluster, column]
        missing = extents.missing[cluster, column]
        for place in range(alive):
            out[place] += _span_with(low, high, missing, own[place])
    for column in range(len(work.concepts)):
        _levels_with(tree, extents, cluster, column)
        row = extents.row[tree.leaves[column] : tree.leaves[column + 1]]
        leaves = work.categories[column, :alive]
        for place in range(alive):
            out[place] += row[leaves[place]]


@kernel
def _least(distances: NDArray[np.float64], ids: NDArray[np.int64]) -> int:
    """Position of the least number, of equal ones that of the least id."""
    found = 0
    for place in range(1, len(distances)):
        if distances[place] < distances[found] or (
            distances[place] == distances[found] and ids[place] < ids[found]
        ):
            found = place
    return found


@kernel
def k_member_rounds(
    tree: Taxonomies,
    work: Work,
    extents: Extents,
    formed: tuple[NDArray[np.int64], NDArray[np.int64]],
    k: int,
    rounds: int,
) -> None:
    """Form clusters of k records until fewer than k are left.

    A cluster begins with the record that is farthest from the one that was taken last; the first one with
    the record that is farthest from the average.

    Args:
        formed: (n,) out: cluster of each record; in and out: records left, clusters formed.
        rounds: how many before returning.
    Source:
        Byun, Kamra, Bertino and Li (2007), "Efficient k-anonymization using clustering techniques".
    """
    labels, state = formed
    for _ in range(rounds):
        if state[0] < k:
            return
        if state[1] == 0:
            center(tree, work, state[0])
        measure(tree, work, 0, state[0])
        place, cluster = farthest(work.distances[: state[0]], work.ids), state[1]
        begin_cluster(tree, work, extents, cluster, place)
        while True:
            labels[work.ids[place]] = cluster
            record(tree, work, place)
            state[0] = forget(tree, work, place, state[0])
            if extents.sizes[cluster] == k:
                break
            widen_cluster(tree, work, extents, cluster, state[0])
            place = _least(work.distances[: state[0]], work.ids)
            _cover(tree, work, extents, cluster, place)
        state[1] += 1


@kernel
def _loss_of(tree: Taxonomies, extents: Extents, cluster: int) -> float:
    """What each cell of a cluster loses, all columns."""
    lost = 0.0
    for column in range(extents.low.shape[1]):
        low, high = extents.low[cluster, column], extents.high[cluster, column]
        if not np.isnan(low):
            lost += 1.0 if extents.missing[cluster, column] else high - low
    for column in range(extents.concepts.shape[1]):
        level = tree.levels[extents.concepts[cluster, column]]
        lost += level / max(1, tree.heights[column] - 1)
    return lost


@kernel
def k_member_rest(
    tree: Taxonomies, work: Work, extents: Extents, formed: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> None:
    """Put each of the fewer than k records that are left, by their ids, where that loses least.

    Args:
        formed: of `k_member_rounds`; at least one cluster.
    """
    labels, state = formed
    for place in np.argsort(work.ids[: state[0]]):
        best, least = -1, np.inf
        for cluster in range(state[1]):
            lost = 0.0
            for column in range(len(work.target)):
                lost += _span_with(
                    extents.low[cluster, column],
                    extents.high[cluster, column],
                    extents.missing[cluster, column],
                    work.numbers[column, place],
                )
            for column in range(len(work.concepts)):
                _levels_with(tree, extents, cluster, column)
                lost += extents.row[tree.leaves[column] + work.categories[column, place]]
            size = extents.sizes[cluster]
            more = (size + 1) * lost - size * _loss_of(tree, extents, cluster)
            if more < least:
                best, least = cluster, more
        labels[work.ids[place]] = best
        _cover(tree, work, extents, best, place)
