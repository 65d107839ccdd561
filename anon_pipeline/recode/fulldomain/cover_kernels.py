"""Numba kernels of the choice of the next node: what it promises, and the heap of promises."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compiled import kernel

_TRIES: Final = 64  # promises looked at again in one call, which therefore returns before long
_ENOUGH: Final = 0.9  # of the next best promise: good enough to be counted
_SOON: Final = 1e9  # promise of a node that probably wins

WIDTH: Final = 3.0
"""Bits between a guess of no and of yes."""

NOT_BELOW: Final = 1
"""Of what is known about a node: counting it does not rule out what is below."""

NOT_ABOVE: Final = 2
"""Nor what is above."""


@kernel
def open_nodes(
    floors: NDArray[np.int64],
    ceiling: int,
    node: int,
    shape: tuple[NDArray[np.int64], NDArray[np.int64]],
    upward: bool,
) -> int:
    """Count the open nodes at and below, or at and above, a node: those with a floor up to the ceiling.

    Args:
        floors: (N,).
        ceiling: of open nodes.
        node: flat index.
        shape: (q,) levels of each attribute, and (q,) distance of its successor; q ≥ 1.
        upward: whether above.
    """
    heights, steps = shape
    q = len(heights)
    first, last, now = np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q, np.int64)
    at, rest = 0, node
    for attribute in range(q):
        level = rest // steps[attribute]
        rest -= level * steps[attribute]
        first[attribute] = level if upward else 0
        last[attribute] = heights[attribute] - 1 if upward else level
        now[attribute] = first[attribute]
        at += now[attribute] * steps[attribute]
    found, inner = 0, last[q - 1] - first[q - 1] + 1
    while True:
        for place in range(at, at + inner):
            found += floors[place] <= ceiling
        attribute = q - 2
        while attribute >= 0 and now[attribute] == last[attribute]:
            at -= (last[attribute] - first[attribute]) * steps[attribute]
            now[attribute] = first[attribute]
            attribute -= 1
        if attribute < 0:
            return found
        now[attribute] += 1
        at += steps[attribute]


@kernel
def promise(
    node: int,
    below: int,
    above: int,
    is_open: bool,
    guess: tuple[NDArray[np.float32], NDArray[np.uint8], NDArray[np.float64], bool],
) -> float:
    """Say how many open nodes counting a node closes, as a guess; soon if it probably wins.

    Args:
        node: flat index.
        below: open nodes at and below it; ``above``: at and above it.
        is_open: whether it is open itself.
        guess: ``telling``, ``known``, ``thresholds``, ``cells`` of `Cover`.
    """
    telling, known, thresholds, cells = guess
    low, high = 0.0, 0.0
    if known[node] & NOT_BELOW == 0:
        low = min(1.0, max(0.0, 0.5 + (telling[0, node] - thresholds[0]) / WIDTH))
    if not cells and known[node] & NOT_ABOVE == 0:
        high = min(1.0, max(0.0, 0.5 + (thresholds[1] - telling[1, node]) / WIDTH))
    found = low * below + high * above
    if is_open:
        found += 1.0
        if cells and low < 0.5:
            found += _SOON
    return found


@kernel
def _sink(values: NDArray[np.float32], queue: NDArray[np.int32], size: int) -> None:
    """Let the first entry of a heap sink to its place."""
    at, value, node = 0, values[0], queue[0]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and values[child + 1] > values[child]:
            child += 1
        if values[child] <= value:
            break
        values[at], queue[at] = values[child], queue[child]
        at = child
    values[at], queue[at] = value, node


@kernel
def next_node(
    heap: tuple[NDArray[np.float32], NDArray[np.int32], int],
    floors: NDArray[np.int64],
    ceiling: int,
    shape: tuple[NDArray[np.int64], NDArray[np.int64]],
    guess: tuple[NDArray[np.float32], NDArray[np.uint8], NDArray[np.float64], bool],
) -> tuple[int, int]:
    """Find a node that promises most, or nearly so, looking at few promises again.

    Promises in the heap are old. Nodes that promise nothing any more are dropped.

    Args:
        heap: promises, nodes, size.
        floors: (N,) what no node's loss falls below.
        ceiling: nodes with a floor above it are closed.
        shape: as in `open_nodes`; ``guess``: as in `promise`.
    Returns:
        The node, −1 if the heap is empty, −2 if it must be asked again; and the heap's size.
    """
    values, queue, size = heap
    best, most = -2, 0.0
    for _ in range(_TRIES):
        if size == 0:
            return max(best, -1), 0
        node = queue[0]
        below = 0 if guess[1][node] & NOT_BELOW else open_nodes(floors, ceiling, node, shape, False)
        above = 0
        if not guess[3] and guess[1][node] & NOT_ABOVE == 0:
            above = open_nodes(floors, ceiling, node, shape, True)
        own = promise(node, below, above, floors[node] <= ceiling, guess)
        if own <= 0.0:
            size -= 1
            values[0], queue[0] = values[size], queue[size]
        else:
            values[0] = own
            if own > most:
                best, most = node, own
        _sink(values, queue, size)
        if size > 0 and most >= _ENOUGH * values[0]:
            return best, size
    return best, size


@kernel
def promises(
    values: NDArray[np.float32],
    covers: tuple[NDArray[np.int32], NDArray[np.int32]],
    opened: NDArray[np.bool_],
    guess: tuple[NDArray[np.float32], NDArray[np.uint8], NDArray[np.float64], bool],
) -> None:
    """Write the promise of every node.

    Args:
        values: (N,) out.
        covers: (N,) open nodes at and below each, (N,) at and above each.
        opened: (N,) whether a node is open.
        guess: as in `promise`.
    """
    below, above = covers
    for node in range(len(values)):
        values[node] = promise(node, below[node], above[node], opened[node], guess)
