"""Numba kernels of a sweep: the nodes above a cube, counted in one walk."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compiled import kernel
from anon_pipeline.recode.fulldomain.cube_kernels import fold_axis

_CLOSED, _OPEN, _SWEPT = 0, 1, 2
_PART = 2**14  # cells whose counts fit into 32 bits


@kernel
def corner(
    stands: NDArray[np.uint8],
    shape: tuple[NDArray[np.int64], NDArray[np.int64]],
    order: NDArray[np.int64],
    fixed: int,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> bool:
    """Find the least and the greatest level of the nodes to be swept in a sublattice, by attribute.

    Args:
        stands: (N,) 2 where a node is to be swept.
        shape: (q,) levels of each attribute, and (q,) distance of its successor.
        order: (q,) attributes; the first ``fixed`` of them keep the level in ``low``.
        low, high: (q,) levels between which the others are; overwritten by what is found.
    Returns:
        Whether there is any such node.
    """
    steps, q = shape[1], len(order)
    at = 0
    for attribute in range(q):
        at += low[attribute] * steps[attribute]
    if fixed == q:
        return bool(stands[at] == _SWEPT)
    now, least, most = low.copy(), high.copy(), low.copy()
    last, found = order[q - 1], False
    while True:
        some, place = False, at
        for level in range(low[last], high[last] + 1):
            if stands[place] == _SWEPT:
                some = True
                least[last], most[last] = min(least[last], level), max(most[last], level)
            place += steps[last]
        if some:
            found = True
            for rank in range(fixed, q - 1):
                own = order[rank]
                least[own], most[own] = min(least[own], now[own]), max(most[own], now[own])
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
def close_below(
    stands: NDArray[np.uint8],
    shape: tuple[NDArray[np.int64], NDArray[np.int64]],
    levels: NDArray[np.int64],
) -> None:
    """Close a node and all nodes below it.

    Args:
        stands: (N,) 0 where a node is closed.
        shape: as in `corner`.
        levels: (q,) of the node.
    """
    steps, q = shape[1], len(levels)
    now, at = np.zeros(q, np.int64), 0
    while True:
        place = at
        for _ in range(levels[q - 1] + 1):
            stands[place] = _CLOSED
            place += steps[q - 1]
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
        k: records that a class needs.
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
def _folded(arena, at, levels, wanted, places):  # type: ignore[no-untyped-def]
    """Generalize a cube in the arena to the wanted levels, which ``levels`` become.

    ``at`` is where the cube begins, and where the arena is free; returns the same of the result.
    """
    axes, widths, begins, firsts = places
    begin, top = at
    for rank in range(len(axes) - 1, -1, -1):
        attribute = axes[rank]
        here, there = levels[attribute], wanted[attribute]
        below, width = widths[attribute, here], widths[attribute, there]
        if below != width:
            outer, inner = 1, 1
            for other in range(rank):
                outer *= widths[axes[other], levels[axes[other]]]
            for other in range(rank + 1, len(axes)):
                inner *= widths[axes[other], levels[axes[other]]]
            end = top + outer * width * inner
            own = firsts[begins[attribute, here, there] :]
            fold_axis(arena[begin:], arena[top:end], own, (outer, below, width, inner))
            begin, top = top, end
        levels[attribute] = there
    return begin, top


@kernel
def _counted(cells, node, shape, stands, rules, row):  # type: ignore[no-untyped-def]
    """Count a node, write its row, and close what that rules out; return 0 if its cells overflowed."""
    levels, at = node
    k, records, limit = rules
    small, kept, squares, every = count_narrow(cells, k)
    if every != records:
        stands[at] = _OPEN
        return 0
    stands[at] = _CLOSED
    if small > limit:
        close_below(stands, shape, levels)
    row[0], row[1], row[2], row[3] = at, small, kept, squares
    return 1


@kernel
def walk(
    space: tuple[NDArray[np.uint16], NDArray[np.int64]],
    start: tuple[int, NDArray[np.int64], NDArray[np.int64]],
    places: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    shape: tuple[NDArray[np.int64], NDArray[np.int64]],
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
        places: (q,) axes; (q, h) codes that occur on a level; (q, h, h) where first ranks begin, and these,
            as in `cube_layout.CubeLayout`.
        shape: as in `corner`.
        stands: (N,) of `sweep.standing`; overwritten.
        rules: k; records of the table; how many may be in classes below k.
    Returns:
        Nodes counted.
    """
    (arena, rows), (fixed, root, most) = space, start
    order, widths, q = places[0][::-1].copy(), places[1], len(root)
    lows, highs, now = (
        np.empty((q + 1, q), np.int64),
        np.empty((q + 1, q), np.int64),
        np.empty(q + 1, np.int64),
    )
    cubes, tops = np.empty((q + 1, widths.shape[1]), np.int64), np.empty(q + 1, np.int64)
    cells = 1
    for attribute in range(q):
        cells *= widths[attribute, root[attribute]]
    at, depth, found = (0, cells), fixed, 0
    here, low, high = root.copy(), root.copy(), most.copy()
    while True:
        if corner(stands, shape, order, depth, low, high):
            at = _folded(arena, at, here, low, places)
            if depth == q:
                node, cells = 0, 1
                for attribute in range(q):
                    node += low[attribute] * shape[1][attribute]
                    cells *= widths[attribute, low[attribute]]
                own = arena[at[0] : at[0] + cells]
                found += _counted(own, (low, node), shape, stands, rules, rows[found])
            else:
                attribute = order[depth]
                lows[depth], highs[depth], now[depth] = low, high, high[attribute]
                cubes[depth, low[attribute]] = at[0]
                for level in range(low[attribute] + 1, high[attribute] + 1):
                    low[attribute] = level
                    at = _folded(arena, at, here, low, places)
                    cubes[depth, level] = at[0]
                tops[depth] = at[1]
                depth += 1
        while depth > fixed and now[depth - 1] < lows[depth - 1, order[depth - 1]]:
            depth -= 1
        if depth == fixed:
            return found
        before = depth - 1
        attribute, level = order[before], now[before]
        low, high = lows[before].copy(), highs[before].copy()
        low[attribute], high[attribute] = level, level
        here, at = low.copy(), (cubes[before, level], tops[before])
        now[before] -= 1
