"""Where the combinations of values are in cubes: ranks, and what they cost, laid out once per table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.hierarchy.hierarchy import Hierarchy

_ByPair = tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class CubeLayout:
    """Where codes are in cubes. A code's rank is its place among the codes of its level that occur.

    ranks: (x,) rank on a level of each code on a level below it or on the same: all pairs, end to end.
    ranks_begin: q × h × h where the ranks from one level to another begin.
    first_ranks: (y,) first rank on a level of what each rank on a level above covers, and one more: all
        pairs, end to end.
    first_ranks_begin: q × h × h where those from one level to another begin.
    costs: (z,) of a released cell of each rank: all levels, end to end.
    costs_begin: q × h where those of a level begin.
    widths: q × h codes that occur on a level.
    code_counts: q × h codes of a level, those that do not occur included.
    axes: the attributes, those that have fewest codes on most levels first, so that most cells are next to
        those that they are added to.
    most_cells: of a cube.
    spare: two arrays of so many cells, used again for every node.
    """

    ranks: NDArray[np.int64] = field(repr=False)
    ranks_begin: _ByPair = field(repr=False)
    first_ranks: NDArray[np.int64] = field(repr=False)
    first_ranks_begin: _ByPair = field(repr=False)
    costs: NDArray[np.int64] = field(repr=False)
    costs_begin: tuple[tuple[int, ...], ...] = field(repr=False)
    widths: tuple[tuple[int, ...], ...]
    code_counts: tuple[tuple[int, ...], ...]
    axes: tuple[int, ...]
    most_cells: int
    spare: tuple[NDArray[np.int32], NDArray[np.int32]] = field(repr=False)

    def size(self, levels: Sequence[int]) -> int:
        """Return the cells of a node's cube."""
        return math.prod([own[level] for own, level in zip(self.widths, levels, strict=True)])

    def distances(self, levels: Sequence[int]) -> list[int]:
        """Return how far apart neighboring ranks of each attribute are in a node's cube, (q,)."""
        found, distance = [0] * len(levels), 1
        for attribute in reversed(self.axes):
            found[attribute] = distance
            distance *= self.widths[attribute][levels[attribute]]
        return found


def cube_layout(
    hierarchies: Sequence[Hierarchy],
    leaves: Sequence[NDArray[np.int64]],
    costs: Sequence[Sequence[NDArray[np.int64]]],
    *,
    cells: int,
) -> CubeLayout:
    """Lay out cubes.

    Args:
        leaves: q times, ascending, the leaves that occur.
        costs: of `cell_costs`, by attribute.
        cells: of a cube, at most.
    """
    present = [
        [np.unique(lookup[own]) for lookup in hierarchy.lookups]
        for hierarchy, own in zip(hierarchies, leaves, strict=True)
    ]
    ranks, firsts = _rank_tables(hierarchies, present)
    prices = [
        cost[own]
        for levels, codes in zip(costs, present, strict=True)
        for cost, own in zip(levels, codes, strict=True)
    ]
    heights = [hierarchy.height for hierarchy in hierarchies]
    widths = tuple(tuple(len(own) for own in codes) for codes in present)
    begins = iter(begins_of(prices))
    return CubeLayout(
        ranks=join(ranks),
        ranks_begin=_by_pair(heights, begins_of(ranks)),
        first_ranks=join(firsts),
        first_ranks_begin=_by_pair(heights, begins_of(firsts)),
        costs=join(prices),
        costs_begin=tuple(tuple(next(begins) for _ in range(height)) for height in heights),
        widths=widths,
        code_counts=tuple(
            tuple(int(lookup[-1]) + 1 for lookup in hierarchy.lookups) for hierarchy in hierarchies
        ),
        axes=tuple(
            sorted(range(len(widths)), key=lambda j: (math.prod(widths[j]) ** (1 / len(widths[j])), j))
        ),
        most_cells=cells,
        spare=(np.empty(cells, np.int32), np.empty(cells, np.int32)),
    )


def _rank_tables(
    hierarchies: Sequence[Hierarchy], present: Sequence[Sequence[NDArray[np.int64]]]
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """Return the ranks, and the first ranks, of each attribute from level to level; downwards there are none.

    Args:
        present: q × h, ascending, the codes that occur on a level.
    """
    ranks, firsts = [], []
    for hierarchy, codes in zip(hierarchies, present, strict=True):
        for below, lookup in enumerate(hierarchy.lookups):
            leaf = np.searchsorted(lookup, np.arange(int(lookup[-1]) + 1))
            for above in range(hierarchy.height):
                if above < below:
                    ranks.append(_NONE)
                    firsts.append(_NONE)
                    continue
                ranks.append(np.searchsorted(codes[above], hierarchy.lookups[above][leaf]))
                own = ranks[-1][codes[below]]
                firsts.append(np.searchsorted(own, np.arange(len(codes[above]) + 1)))
    return ranks, firsts


_NONE: Final = np.zeros(0, np.int64)


def join(arrays: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Put arrays end to end."""
    return np.concatenate([_NONE, *arrays]).astype(np.int64)


def begins_of(arrays: Sequence[NDArray[np.int64]]) -> list[int]:
    """Return where each of the arrays begins if they are put end to end."""
    begins: list[int] = np.cumsum([0, *(len(own) for own in arrays)])[:-1].tolist()
    return begins


def _by_pair(heights: Sequence[int], begins: Sequence[int]) -> _ByPair:
    """Sort numbers by attribute, level, and level again."""
    given = iter(begins)
    return tuple(
        tuple(tuple(next(given) for _ in range(height)) for _ in range(height)) for height in heights
    )
