"""Numba kernels of a sweep: the nodes above a cube, counted in one walk."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.fulldomain.fast.cube_kernels import fold_axis
from anon_pipeline.recode.fulldomain.lattice import Axes

CLOSED: Final = 0
"""How a node stands: it cannot win, or was counted."""

OPEN: Final = 1
"""It may win, and is counted in another way."""

TO_SWEEP: Final = 2
"""It may win, and is to be counted by the sweep."""


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
def corner(
    stands: NDArray[np.uint8],
    axes: Axes,
    order: NDArray[np.int64],
    fixed: int,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> bool:
    """Find the least and the greatest level of the nodes to be swept in a sublattice, by attribute.

    Args:
        stands: (N,) how each node stands.
        order: (q,) attributes; the first ``fixed`` of them keep the level in ``low``.
        low, high: (q,) levels between which the others are; overwritten by what is found.
    Returns:
        Whether there is any such node.
    """
    steps, q = axes.steps, len(order)
    # Begin at the lowest node of the sublattice.
    at = 0
    for attribute in range(q):
        at += low[attribute] * steps[attribute]
    if fixed == q:
        return bool(stands[at] == TO_SWEEP)
    now, least, most = low.copy(), high.copy(), low.copy()
    last, found = order[q - 1], False
    while True:
        # Look at the nodes that differ in the last attribute alone.
        some, place = False, at
        for level in range(low[last], high[last] + 1):
            if stands[place] == TO_SWEEP:
                some = True
                least[last], most[last] = min(least[last], level), max(most[last], level)
            place += steps[last]
        if some:
            found = True
            for rank in range(fixed, q - 1):
                own = order[rank]
                least[own], most[own] = min(least[own], now[own]), max(most[own], now[own])
        # Count up the levels of the other free attributes, the last of them fastest.
        rank = q - 2
        while rank >= fixed and now[order[rank]] == high[order[rank]]:
            own = order[rank]
            at -= (now[own] - low[own]) * steps[own]
            now[own] = low[own]
            rank -= 1
        if rank < fixed:
            break
        now[order[rank]] += 1
        at += steps[order[rank]]
    if found:
        low[:], high[:] = least, most
    return found


@kernel
def close_below(stands: NDArray[np.uint8], axes: Axes, levels: NDArray[np.int64]) -> None:
    """Close a node and all nodes below it.

    Args:
        stands: (N,) how each node stands.
        levels: (q,) of the node.
    """
    steps, q = axes.steps, len(levels)
    now, at = np.zeros(q, np.int64), 0
    while True:
        # Close the nodes that differ in the last attribute alone.
        place = at
        for _ in range(levels[q - 1] + 1):
            stands[place] = CLOSED
            place += steps[q - 1]
        # Count up the levels of the others, the last of them fastest.
        attribute = q - 2
        while attribute >= 0 and now[attribute] == levels[attribute]:
            at -= now[attribute] * steps[attribute]
            now[attribute] = 0
            attribute -= 1
        if attribute < 0:
            return
        now[attribute] += 1
        at += steps[attribute]


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
    # For each attribute that was entered: the sublattice, the next level of it to go to, where the cube of
    # each level begins, and where the free part of the arena begins.
    lows, highs = np.empty((q + 1, q), np.int64), np.empty((q + 1, q), np.int64)
    cubes = np.empty((q + 1, widths.shape[1]), np.int64)
    next_levels, frees = np.empty(q + 1, np.int64), np.empty(q + 1, np.int64)
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
                # Enter the next attribute: make the cubes of all its levels, each from the one before.
                attribute = order[depth]
                lows[depth], highs[depth], next_levels[depth] = low, high, high[attribute]
                cubes[depth, low[attribute]] = at[0]
                for level in range(low[attribute] + 1, high[attribute] + 1):
                    low[attribute] = level
                    at = _fold(arena, at, here, low, places)
                    cubes[depth, level] = at[0]
                frees[depth] = at[1]
                depth += 1
        # Leave the attributes whose levels are done.
        while depth > fixed and next_levels[depth - 1] < lows[depth - 1, order[depth - 1]]:
            depth -= 1
        if depth == fixed:
            return found
        # Go to the next level below, of the attribute that was entered last.
        before = depth - 1
        attribute, level = order[before], next_levels[before]
        low, high = lows[before].copy(), highs[before].copy()
        low[attribute], high[attribute] = level, level
        here, at = low.copy(), (cubes[before, level], frees[before])
        next_levels[before] -= 1
