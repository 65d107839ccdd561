"""Numba kernels of a sweep: the nodes above a cube, counted in one walk."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.fulldomain.fast.cube_kernels import fold_axis
from anon_pipeline.recode.fulldomain.fast.stand_kernels import CLOSED, OPEN, close_below, corner
from anon_pipeline.recode.fulldomain.lattice import Axes


class Places(NamedTuple):
    """Where codes are in cubes, as in `cube_layout.CubeLayout`.

    axes: (q,) the attributes in the order of a cube's axes.
    widths: (q, h) codes that occur on a level.
    first_ranks_begin: (q, h, h) where the first ranks from one level to another begin in ``first_ranks``.
    """

    axes: NDArray[np.int64]
    widths: NDArray[np.int64]
    first_ranks_begin: NDArray[np.int64]
    first_ranks: NDArray[np.int64]


@kernel
def count_narrow(sizes, k):  # type: ignore[no-untyped-def]
    """Count the classes of a cube whose cells may have lost multiples of 2^16.

    Args:
        sizes: (c,) the cube, uint16.
    Returns:
        Records in classes below k; number of the others, and Σ of their squared sizes; all records. Where the
        last is not what the table has, cells overflowed, and nothing of this is true.
    """
    nothing = np.int64(0)
    small, kept, squares, records = nothing, nothing, nothing, nothing
    for cell in range(len(sizes)):
        size = np.int64(sizes[cell])
        enough = size >= k
        records += size
        kept += np.int64(enough)
        squares += size * size if enough else nothing
        small += nothing if enough else size
    return small, kept, squares, records


@kernel
def _fold(arena, at, levels, wanted, places):  # type: ignore[no-untyped-def]
    """Generalize a cube in the arena to the wanted levels, which ``levels`` become.

    ``at`` is where the cube begins, and where the arena is free; returns the same of the result.
    """
    axes, widths = places.axes, places.widths
    begin, free = at
    # The last axis first: its cells lie side by side, and it has most codes.
    for rank in range(len(axes) - 1, -1, -1):
        attribute = axes[rank]
        here, there = levels[attribute], wanted[attribute]
        below, width = widths[attribute, here], widths[attribute, there]
        if below != width:
            # Cells before and after the axis, on the current levels.
            outer, inner = 1, 1
            for other in range(rank):
                outer *= widths[axes[other], levels[axes[other]]]
            for other in range(rank + 1, len(axes)):
                inner *= widths[axes[other], levels[axes[other]]]
            # The result is stored after the cube that it is made from.
            end = free + outer * width * inner
            own = places.first_ranks[places.first_ranks_begin[attribute, here, there] :]
            fold_axis(arena[begin:], arena[free:end], own, (outer, below, width, inner))
            begin, free = free, end
        levels[attribute] = there
    return begin, free


@kernel
def _number_of_cells(widths, levels):  # type: ignore[no-untyped-def]
    """Return how many cells the cube of a node has."""
    cells = 1
    for attribute in range(len(levels)):
        cells *= widths[attribute, levels[attribute]]
    return cells


@kernel
def _count(cube, levels, axes, stands, rules, row):  # type: ignore[no-untyped-def]
    """Count a node, write its row, and close what that rules out; return 0 if its cells overflowed."""
    k, records, limit = rules
    at = 0
    for attribute in range(len(levels)):
        at += levels[attribute] * axes.steps[attribute]
    small, kept, squares, every = count_narrow(cube, k)
    if every != records:
        stands[at] = OPEN
        return 0
    stands[at] = CLOSED
    if small > limit:
        close_below(stands, axes, levels)
    row[0], row[1], row[2], row[3] = at, small, kept, squares
    return 1


class Entered(NamedTuple):
    """Where a walk goes back to: a row for each attribute that was entered.

    lows, highs: (q, q) the sublattice.
    next_levels: (q,) the next level of the attribute to go to.
    cubes: (q, h) where the cube of each level begins.
    frees: (q,) where the free part of the arena begins.
    """

    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    next_levels: NDArray[np.int64]
    cubes: NDArray[np.int64]
    frees: NDArray[np.int64]


@kernel
def _make_levels(arena, at, cube, top, places, begins):  # type: ignore[no-untyped-def]
    """Make the cubes of all levels of an attribute, each from the one before, and note where they begin.

    ``cube`` is what there is, and what to begin with; ``top`` the attribute and its greatest level. Returns
    where the last cube begins, and where the arena is free.
    """
    (here, low), (attribute, high) = cube, top
    begins[low[attribute]] = at[0]
    for level in range(low[attribute] + 1, high + 1):
        low[attribute] = level
        at = _fold(arena, at, here, low, places)
        begins[level] = at[0]
    return at


@kernel
def _next_level(entered, row, attribute):  # type: ignore[no-untyped-def]
    """Go to the next level below, of the attribute that was entered last; return sublattice and place."""
    level = entered.next_levels[row]
    low, high = entered.lows[row].copy(), entered.highs[row].copy()
    low[attribute], high[attribute] = level, level
    entered.next_levels[row] -= 1
    return low, high, (entered.cubes[row, level], entered.frees[row])


@kernel
def walk(
    space: tuple[NDArray[np.uint16], NDArray[np.int64]],
    start: tuple[int, NDArray[np.int64], NDArray[np.int64]],
    places: Places,
    axes: Axes,
    stands: NDArray[np.uint8],
    rules: tuple[int, int, int],
) -> int:
    """Count the nodes above a cube, the most general first, and none below one that suppresses too much.

    Attribute by attribute, the cubes of all its levels are made, each from the one before. The cube of the
    corner that the nodes of a sublattice have in common is made before they part.

    Args:
        space: an arena that begins with the cube; (r, 4) out, of each node counted: which, records in classes
            below k, number of the others, Σ of their squared sizes.
        start: how many attributes are fixed; (q,) levels of the cube; (q,) levels of the nodes, at most.
        rules: k; records of the table; how many may be in classes below k.
    Returns:
        Nodes counted.
    """
    (arena, rows), (fixed, root, most) = space, start
    order, widths, q = places.axes[::-1].copy(), places.widths, len(root)
    lows, highs = np.empty((q, q), np.int64), np.empty((q, q), np.int64)
    begins, frees = np.empty((q, widths.shape[1]), np.int64), np.empty(q, np.int64)
    entered = Entered(lows, highs, np.empty(q, np.int64), begins, frees)
    # `at`: where the cube of the levels `here` begins, and where the arena is free.
    at, depth, found = (0, _number_of_cells(widths, root)), fixed, 0
    here, low, high = root.copy(), root.copy(), most.copy()
    while True:
        # Narrow the sublattice to the nodes to be swept; is there any?
        if corner(stands, axes, order, depth, low, high):
            at = _fold(arena, at, here, low, places)
            if depth == q:
                # A single node: count its cube.
                cube = arena[at[0] : at[0] + _number_of_cells(widths, low)]
                found += _count(cube, low, axes, stands, rules, rows[found])
            else:
                own = order[depth]
                lows[depth], highs[depth], entered.next_levels[depth] = low, high, high[own]
                at = _make_levels(arena, at, (here, low), (own, high[own]), places, begins[depth])
                frees[depth] = at[1]
                depth += 1
        # Leave the attributes whose levels are done.
        while depth > fixed and entered.next_levels[depth - 1] < lows[depth - 1, order[depth - 1]]:
            depth -= 1
        if depth == fixed:
            return found
        low, high, at = _next_level(entered, depth - 1, order[depth - 1])
        here = low.copy()
