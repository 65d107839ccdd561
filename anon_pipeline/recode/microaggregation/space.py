"""From a task to the points that clusters are formed of, in an order that forgets the rows'.

A number's position is (x − least)/(greatest − least) over the table's records: (9.7) with the table's range
as the distance between the boundaries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.by_record import ByRecord
from anon_pipeline.recode.microaggregation.geometry import Taxonomies, Work
from anon_pipeline.recode.task import Progress, Task

GRID = 2.0**26
"""Steps between the least and the greatest number of a column: sums of 2²⁷ records stay exact in 53 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """The n records of a task as points.

    order: (n,) row of each record: by quasi-identifiers, then sensitive values, then target.
    codes: (n, q) leaf codes in that order.
    numbers: (a, n) positions of the numeric and ordered columns, NaN for missing; ``numeric``: which.
    categories: (b, n) leaf of the others, among those that occur; ``nominal``: which columns they are.
    taxonomies: of the b columns.
    sensitive: (s, n) values of the limited sensitive columns.
    told: called now and then with the number of records that are in a cluster.
    """

    order: NDArray[np.int64] = field(repr=False)
    codes: NDArray[np.int64] = field(repr=False)
    numbers: NDArray[np.float64] = field(repr=False)
    categories: NDArray[np.int64] = field(repr=False)
    taxonomies: Taxonomies = field(repr=False)
    sensitive: NDArray[np.int64] = field(repr=False)
    numeric: tuple[int, ...]
    nominal: tuple[int, ...]
    told: Callable[[int], None] = field(repr=False)

    @property
    def records(self) -> int:
        """Records (n)."""
        return len(self.order)


def semantic_distance(height: int, levels: tuple[int, int], meeting: int) -> float:
    """Return the semantic distance of two concepts of a taxonomy.

    A leaf has ``height`` ancestors, itself included; a node on level l has ``height`` − l of them.

    Args:
        height: levels.
        levels: of the two concepts.
        meeting: level of their lowest common ancestor.
    Source:
        [DB (9.6)].

    >>> round(semantic_distance(3, (0, 0), 1), 3), semantic_distance(3, (1, 1), 1)
    (0.585, 0.0)
    """
    common = height - meeting
    union = 2 * height - sum(levels) - common
    return math.log2(1 + (union - common) / union)


def _positions(coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Place numbers in [0, 1], on a grid, (n,); NaN stays."""
    known = coordinates[~np.isnan(coordinates)]
    if not len(known):
        return coordinates
    scale = max(1.0, float(np.abs(known).max()) / 2.0**1000)  # a range beyond 64 bits
    low, high = known.min() / scale, known.max() / scale
    spread: NDArray[np.float64] = coordinates / scale - low
    return np.rint(spread / (high - low) * GRID) / GRID if high > low else spread * 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Taxonomy:
    """One column's part of `Taxonomies`; nodes numbered from 0."""

    leaves: NDArray[np.int64]
    ups: NDArray[np.int64]
    levels: NDArray[np.int64]
    parents: NDArray[np.int64]
    deltas: NDArray[np.float64]
    greatest: float


def _taxonomy(hierarchy: Hierarchy, column: NDArray[np.int64]) -> _Taxonomy:
    """Keep of a hierarchy what lies above the leaves that occur."""
    present, leaves = np.unique(column, return_inverse=True)
    height, ups, levels, parents, begin = hierarchy.height, [], [], [], 0
    for level, lookup in enumerate(hierarchy.lookups):
        distinct, ranks = np.unique(lookup[present], return_inverse=True)
        ups.append(begin + ranks)
        levels.append(np.full(len(distinct), level))
        if level:
            _, first = np.unique(ups[level - 1], return_index=True)
            parents.append(ups[level][first])
        begin += len(distinct)
    parents.append(np.full(1, -1))
    ends = hierarchy.leaves - 1
    meeting = next(level for level, lookup in enumerate(hierarchy.lookups) if lookup[0] == lookup[ends])
    deltas = np.zeros((height, height, height))
    for one in range(height):
        for other in range(height):
            for above in range(max(one, other), height):
                deltas[one, other, above] = semantic_distance(height, (one, other), above)
    return _Taxonomy(
        leaves.astype(np.int64),
        np.concatenate(ups).astype(np.int64),
        np.concatenate(levels).astype(np.int64),
        np.concatenate(parents).astype(np.int64),
        deltas,
        semantic_distance(height, (0, 0), meeting),
    )


def _join(found: Sequence[_Taxonomy]) -> Taxonomies:
    """Lay the taxonomies of the columns end to end."""
    heights = np.array([len(x.deltas) for x in found], np.int64)
    nodes = np.cumsum([0, *(len(x.levels) for x in found)]).astype(np.int64)
    tallest = int(heights.max(initial=1))
    deltas, squares = np.zeros((2, len(found), tallest, tallest, tallest))
    for column, one in enumerate(found):
        height = len(one.deltas)
        deltas[column, :height, :height, :height] = one.deltas
        if one.greatest > 0:
            squares[column, :height, :height, :height] = (one.deltas / one.greatest) ** 2
    empty = [np.zeros(0, np.int64)]
    above = [np.where(x.parents < 0, -1, x.parents + nodes[j]) for j, x in enumerate(found)]
    return Taxonomies(
        heights=heights,
        leaves=np.cumsum([0, *(len(x.ups) // len(x.deltas) for x in found)]).astype(np.int64),
        nodes=nodes,
        ups=np.concatenate(empty + [x.ups + nodes[j] for j, x in enumerate(found)]),
        starts=np.cumsum([0, *(len(x.ups) for x in found)])[:-1].astype(np.int64),
        levels=np.concatenate(empty + [x.levels for x in found]),
        parents=np.concatenate(empty + above),
        deltas=deltas,
        squares=squares,
    )


def make_space(task: Task, records: ByRecord) -> Space:
    """Lay the records of a task out as points."""
    sensitive = records.sensitive
    target = [] if records.target is None else [records.target]
    order = np.lexsort((*target, *reversed(sensitive), records.labels))
    codes = records.table.tuples[records.labels[order]].astype(np.int64, copy=False)
    places = [hierarchy.places for hierarchy in task.hierarchies]
    numeric = tuple(j for j, own in enumerate(places) if own is not None)
    nominal = tuple(j for j, own in enumerate(places) if own is None)
    numbers = np.empty((len(numeric), len(order)))
    for row, column in enumerate(numeric):
        own = places[column]
        assert own is not None  # noqa: S101 - chosen so
        numbers[row] = _positions(own[codes[:, column]])
    found = [_taxonomy(task.hierarchies[column], codes[:, column]) for column in nominal]
    categories = np.array([one.leaves for one in found], np.int64).reshape(len(found), len(order))
    values = np.array([x[order] for x in sensitive], np.int64).reshape(len(sensitive), len(order))
    n = len(order)
    return Space(
        order=order,
        codes=codes,
        numbers=numbers,
        categories=categories,
        taxonomies=_join(found),
        sensitive=values,
        numeric=numeric,
        nominal=nominal,
        told=lambda done: task.told(Progress("dividing", done, n - done)),
    )


def make_work(space: Space, k: int) -> Work:
    """Put all records into the room where clusters are taken out of."""
    tree, n = space.taxonomies, space.records
    counts = np.zeros(len(tree.levels), np.int64)
    for column, leaves in enumerate(space.categories):
        width = tree.leaves[column + 1] - tree.leaves[column]
        for level in range(tree.heights[column]):
            layer = tree.ups[tree.starts[column] + level * width :][:width]
            counts += np.bincount(layer[leaves], minlength=len(counts))
    return Work(
        numbers=space.numbers.copy(),
        categories=space.categories.copy(),
        ids=np.arange(n),
        sums=np.nansum(space.numbers, axis=1),
        known=np.count_nonzero(~np.isnan(space.numbers), axis=1).astype(np.int64),
        counts=counts,
        target=np.zeros(len(space.numbers)),
        concepts=np.zeros(len(space.categories), np.int64),
        row=np.zeros(tree.leaves[-1]),
        distances=np.zeros(n),
        heap=np.zeros(min(k, n)),
        places=np.zeros(min(k, n), np.int64),
    )
