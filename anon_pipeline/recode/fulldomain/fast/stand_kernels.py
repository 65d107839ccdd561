"""Numba kernels of a sweep: how nodes stand, and which part of a lattice is still to be swept."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.fulldomain.lattice import Axes

CLOSED: Final = 0
"""How a node stands: it cannot win, or was counted."""

OPEN: Final = 1
"""It may win, and is counted in another way."""

TO_SWEEP: Final = 2
"""It may win, and is to be counted by the sweep."""


@kernel
def _swept_levels(stands, place, step, low, high):  # type: ignore[no-untyped-def]
    """Return the least and the greatest level, of one attribute alone, of nodes to be swept; −1 if none is.

    ``place`` is the node with the attribute on ``low``, ``step`` leads to the next level.
    """
    first, final = high, -1
    for level in range(low, high + 1):
        if stands[place] == TO_SWEEP:
            first, final = min(first, level), level
        place += step
    return first, final


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
        first, final = _swept_levels(stands, at, steps[last], low[last], high[last])
        if final >= 0:
            found = True
            least[last], most[last] = min(least[last], first), max(most[last], final)
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
