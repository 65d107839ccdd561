"""Cubes: a node's classes as one number for each combination of its values, those without records included.

Where the combinations are not many more than the classes, adding up cells side by side is many times faster
than looking for keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.fulldomain.fast.cube_kernels import count_cells, fill, fold, price_cells
from anon_pipeline.recode.fulldomain.fast.cube_layout import CubeLayout, begins_of, join
from anon_pipeline.recode.fulldomain.node_table import KeyField, NodeTable

_RUN: Final = 2**12  # values of neighboring attributes that are looked up together, at most
_HEAD: Final = 4  # runs of bits that `fill` reads without a loop
_ROWS: Final = 2_000_000  # of one call of a kernel: it returns before long

_Levels = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Cube:
    """The classes of one node.

    layout: of all cubes of its table.
    levels: (q,).
    sizes: (c,) records of each combination of the codes that occur on these levels, in the order of
        `CubeLayout.axes`, the last axis' codes next to each other.
    """

    layout: CubeLayout = field(repr=False)
    levels: _Levels
    sizes: NDArray[np.int32] = field(repr=False)

    @property
    def bytes(self) -> int:
        """Size in memory."""
        return int(self.sizes.nbytes)


@dataclass(frozen=True, slots=True)
class CubeCount:
    """What the classes of a cube are.

    small: records in classes below k.
    kept: classes of at least k; ``squares``: Σ of their squared sizes; ``sums``: costs of their cells, (q,).
    classes: all; ``every``: Σ of all squared sizes.
    """

    small: int
    kept: int
    squares: int
    classes: int
    every: int
    sums: tuple[int, ...]


def stepping_stone(layout: CubeLayout, below: _Levels, levels: _Levels, *, cells: int) -> _Levels:
    """Choose the node whose cube is made first, so that other nodes can be made from it as well.

    Args:
        below: the levels of what it is made from.
        levels: of the node that is wanted, at or above ``below``.
        cells: of the cube that is chosen, at most, unless the wanted one has more.
    Returns:
        Its levels: the axes lowered one after the other, as far as the cells allow.
    """
    found, size = list(levels), layout.size(levels)
    for attribute in layout.axes:
        widths = layout.widths[attribute]
        rest = size // widths[found[attribute]]
        while found[attribute] > below[attribute] and rest * widths[found[attribute] - 1] <= cells:
            found[attribute] -= 1
        size = rest * widths[found[attribute]]
    return tuple(found)


def _runs(
    layout: CubeLayout, fields: Sequence[KeyField], below: _Levels, levels: _Levels
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Join neighboring attributes of a key to runs of bits, and say how each of their values moves the cell.

    Returns:
        As `fill` wants them: (≥ 4, 4) word, shift, mask, begin; (x,) the moves.
    """
    distances = layout.distances(levels)
    runs: list[tuple[int, int, NDArray[np.int64]]] = []
    for attribute, (word, shift, mask) in enumerate(fields):
        here, there = below[attribute], levels[attribute]
        begin, codes = layout.ranks_begin[attribute][here][there], layout.code_counts[attribute][here]
        moves = np.zeros(mask + 1, np.int64)
        moves[:codes] = layout.ranks[begin : begin + codes] * distances[attribute]
        if runs and runs[-1][0] == word and len(moves) * len(runs[-1][2]) <= _RUN:
            _, first, before = runs.pop()
            runs.append((word, first, (moves[:, None] + before).reshape(-1)))
        else:
            runs.append((word, shift, moves))
    head = [run for run in runs if run[0] == 0]
    nothing = (0, 0, np.zeros(1, np.int64))
    ordered = [*head, *[nothing] * (_HEAD - len(head)), *(run for run in runs if run[0] > 0)]
    begins = begins_of([moves for _, _, moves in ordered])
    table = [
        (word, shift, len(moves) - 1, begin)
        for (word, shift, moves), begin in zip(ordered, begins, strict=True)
    ]
    return np.array(table, np.int64), join([moves for _, _, moves in ordered])


def fill_cube(layout: CubeLayout, fields: Sequence[KeyField], below: NodeTable, levels: _Levels) -> Cube:
    """Make a cube from the keys of a table below.

    Args:
        fields: where each attribute is in a key, ascending.
        below: a table at or below the node.
    """
    runs, moves = _runs(layout, fields, below.levels, levels)
    cells, rows = np.zeros(layout.size(levels), np.int32), len(below.sizes)
    for begin in range(0, rows, _ROWS):
        fill((below.keys, below.sizes), runs, moves, cells, (begin, min(begin + _ROWS, rows)))
    return Cube(layout, levels, cells)


def fold_cube(below: Cube, levels: _Levels) -> Cube:
    """Make a cube from one at or below its node, in spare space that the next call overwrites."""
    layout, here = below.layout, below.levels
    widths = [layout.widths[j][here[j]] for j in layout.axes]
    steps = [
        (axis, layout.first_ranks_begin[j][here[j]][levels[j]], layout.widths[j][levels[j]])
        for axis, j in enumerate(layout.axes)
        if layout.widths[j][levels[j]] < widths[axis]
    ]
    if not steps:
        return Cube(layout, levels, below.sizes)
    place = fold(
        below.sizes, np.array(widths, np.int64), np.array(steps, np.int64), layout.first_ranks, layout.spare
    )
    return Cube(layout, levels, layout.spare[place][: layout.size(levels)])


def count_cube(cube: Cube, k: int, flat: Sequence[int | None], *, records: int, limit: int) -> CubeCount:
    """Count and price the classes of a cube.

    Args:
        flat: (q,) cost of every cell of an attribute on the node's level, None where it is not the same.
        records: in all classes.
        limit: records in classes below k beyond which nothing is priced.
    """
    layout = cube.layout
    small, kept, squares, classes, every = map(int, count_cells(cube.sizes, k))
    if small > limit:
        return CubeCount(small, kept, squares, classes, every, ())
    distances, fields = layout.distances(cube.levels), []
    for j, level in enumerate(cube.levels):
        if flat[j] is None:
            fields.append((layout.widths[j][level], distances[j], layout.costs_begin[j][level]))
    priced = iter(
        price_cells(cube.sizes, k, np.array(fields, np.int64), layout.costs).tolist() if fields else ()
    )
    sums = tuple(next(priced) if cost is None else cost * (records - small) for cost in flat)
    return CubeCount(small, kept, squares, classes, every, sums)
