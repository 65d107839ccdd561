"""Numba kernels of distances: records as points, the taxonomies of categories, concepts, centroids.

Numbers lie on a grid of 2⁻²⁶ in [0, 1], so that their sums are exact in any order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel


class Taxonomies(NamedTuple):
    """The taxonomies of b categorical columns, end to end: leaves, and nodes level by level, leaves first.

    heights: (b,) levels.
    leaves: (b + 1,) where the leaves of a column begin; only leaves that occur.
    nodes: (b + 1,) where its nodes begin.
    ups: for each column, level, leaf: the node (in all columns' numbering); ``starts``: (b,) of a column.
    levels: (N,) level of each node. parents: (N,) node above; −1 for a top.
    deltas: (b, h, h, h) semantic distance (9.6) of nodes on two levels that meet on a third.
    squares: the same, divided by the greatest distance in the domain, squared.
    """

    heights: NDArray[np.int64]
    leaves: NDArray[np.int64]
    nodes: NDArray[np.int64]
    ups: NDArray[np.int64]
    starts: NDArray[np.int64]
    levels: NDArray[np.int64]
    parents: NDArray[np.int64]
    deltas: NDArray[np.float64]
    squares: NDArray[np.float64]


class Work(NamedTuple):
    """The records that are in no cluster yet, at the first ``alive`` positions, and room to work.

    numbers: (a, n) positions; NaN is missing. categories: (b, n) leaf in its column. ids: (n,) record.
    sums, known: (a,) sum of the numbers that are left, and how many are not missing.
    counts: (N,) records left below each node.
    target: (a,) and concepts: (b,): what distances are measured from; row: (leaves,) squared distance of
    each leaf from it. distances: (n,) squared, out.
    heap: (k,) and places: (k,): nearest records, distance and position.
    """

    numbers: NDArray[np.float64]
    categories: NDArray[np.int64]
    ids: NDArray[np.int64]
    sums: NDArray[np.float64]
    known: NDArray[np.int64]
    counts: NDArray[np.int64]
    target: NDArray[np.float64]
    concepts: NDArray[np.int64]
    row: NDArray[np.float64]
    distances: NDArray[np.float64]
    heap: NDArray[np.float64]
    places: NDArray[np.int64]


@kernel
def meeting_level(tree: Taxonomies, one: int, other: int) -> int:
    """Level on which two nodes of a column meet."""
    while one != other:
        if tree.levels[one] <= tree.levels[other]:
            one = tree.parents[one]
        else:
            other = tree.parents[other]
    level: int = tree.levels[one]
    return level


@kernel
def aim(tree: Taxonomies, concepts: NDArray[np.int64], row: NDArray[np.float64]) -> None:
    """Write the squared distance of every leaf of every column from the column's concept."""
    for column in range(len(concepts)):
        start, width = tree.leaves[column], tree.leaves[column + 1] - tree.leaves[column]
        concept, level = concepts[column], tree.levels[concepts[column]]
        row[start : start + width] = -1.0
        meeting = level
        while meeting < tree.heights[column]:
            layer = tree.starts[column] + meeting * width
            square = tree.squares[column, level, 0, meeting]
            for leaf in range(width):
                if row[start + leaf] < 0 and tree.ups[layer + leaf] == concept:
                    row[start + leaf] = square
            concept = tree.parents[concept]
            meeting += 1


@kernel
def centroid_distance(
    tree: Taxonomies,
    numbers: tuple[NDArray[np.float64], NDArray[np.float64]],
    concepts: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> float:
    """Squared distance (9.7) of two centroids: (a,) numbers and (b,) concepts of each."""
    distance = 0.0
    for column in range(len(numbers[0])):
        one, other = numbers[0][column], numbers[1][column]
        if np.isnan(one) or np.isnan(other):
            distance += 0.0 if np.isnan(one) == np.isnan(other) else 1.0
        else:
            distance += (one - other) * (one - other)
    for column in range(len(concepts[0])):
        first, second = concepts[0][column], concepts[1][column]
        levels = tree.levels[first], tree.levels[second]
        distance += tree.squares[column, levels[0], levels[1], meeting_level(tree, first, second)]
    return distance


@kernel
def measure(tree: Taxonomies, work: Work, begin: int, alive: int) -> None:
    """Write the squared distance (9.7) of the records at some positions from ``target`` and ``row``."""
    out = work.distances[begin:alive]
    out[:] = 0.0
    for column in range(len(work.target)):
        aimed, own = work.target[column], work.numbers[column, begin:alive]
        if np.isnan(aimed):
            for place in range(len(own)):
                out[place] += 0.0 if np.isnan(own[place]) else 1.0
        else:
            for place in range(len(own)):
                off = own[place] - aimed
                square = off * off
                out[place] += square if square == square else 1.0  # noqa: PLR0124 - vectorizes, isnan does not
    for column in range(len(work.concepts)):
        row = work.row[tree.leaves[column] : tree.leaves[column + 1]]
        leaves = work.categories[column, begin:alive]
        for place in range(len(leaves)):
            out[place] += row[leaves[place]]


@kernel
def record(tree: Taxonomies, work: Work, place: int) -> None:
    """Aim at the record at a position."""
    for column in range(len(work.target)):
        work.target[column] = work.numbers[column, place]
    for column in range(len(work.concepts)):
        work.concepts[column] = tree.nodes[column] + work.categories[column, place]
    aim(tree, work.concepts, work.row)


@kernel
def _marginality(tree: Taxonomies, counts: NDArray[np.int64], column: int, node: int) -> float:
    """Sum of the semantic distances (9.6) of a column's records from a node, level by level upwards."""
    level, below, total, above = tree.levels[node], 0, 0.0, node
    meeting = level
    while above >= 0:
        total += (counts[above] - below) * tree.deltas[column, level, 0, meeting]
        below = counts[above]
        above = tree.parents[above]
        meeting += 1
    return total


@kernel
def best_concept(
    tree: Taxonomies, counts: NDArray[np.int64], column: int, leaves: NDArray[np.int64], records: int
) -> int:
    """Centroid by marginality (9.4): of the records' leaves and what generalizes them up to where all meet.

    Args:
        counts: (N,) records below each node.
        leaves: leaves of the records, ascending; those without a record are passed over.
        records: how many there are, ≥ 1.
    Returns:
        The node of the least marginality; of equal ones the lowest level, then the least code.
    """
    width, start = tree.leaves[column + 1] - tree.leaves[column], tree.starts[column]
    best, least = -1, np.inf
    for level in range(tree.heights[column]):
        before, whole = -1, False
        for leaf in leaves:
            node = tree.ups[start + level * width + leaf]
            if node == before or counts[node] == 0:
                continue
            before, whole = node, whole or counts[node] == records
            found = _marginality(tree, counts, column, node)
            if found < least:
                best, least = node, found
        if whole:
            break
    return best


@kernel
def center(tree: Taxonomies, work: Work, alive: int) -> None:
    """Aim at the average of the records that are left: means, missing where most are, and concepts."""
    for column in range(len(work.target)):
        known = work.known[column]
        work.target[column] = work.sums[column] / known if 2 * known >= alive else np.nan
    for column in range(len(work.concepts)):
        leaves = np.arange(tree.leaves[column + 1] - tree.leaves[column])
        work.concepts[column] = best_concept(tree, work.counts, column, leaves, alive)
    aim(tree, work.concepts, work.row)


@kernel
def forget(tree: Taxonomies, work: Work, place: int, alive: int) -> int:
    """Take the record at a position out, the last one moves there; return how many are left."""
    last = alive - 1
    for column in range(len(work.target)):
        value = work.numbers[column, place]
        if not np.isnan(value):
            work.sums[column] -= value
            work.known[column] -= 1
        work.numbers[column, place] = work.numbers[column, last]
    for column in range(len(work.concepts)):
        node = tree.nodes[column] + work.categories[column, place]
        while node >= 0:
            work.counts[node] -= 1
            node = tree.parents[node]
        work.categories[column, place] = work.categories[column, last]
    work.ids[place] = work.ids[last]
    return last
