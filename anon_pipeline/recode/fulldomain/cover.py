"""Which node to count next, so that few counts say something about every node that may win.

A count may rule out all nodes below, or all nodes above. How many of them are open is known; whether it
will is guessed from how much the node's values tell apart, and learned. A bad guess costs time, never
exactness. Belongs here: the guess, and the queue of nodes by what they promise. Does not belong here: bounds
(`bounds`), when the search ends (`optimum`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from anon_pipeline.hierarchy.model import Hierarchy
from anon_pipeline.recode.fulldomain.lattice import Lattice, along
from anon_pipeline.recode.loss import information

__all__ = [
    "Cover",
    "cover",
    "learn",
    "likely",
    "next_node",
    "note",
    "open_nodes",
    "promise",
    "promises",
    "refill",
]

_BIT = 2.0**30  # of `information`
_TRIES = 64  # promises looked at again in one call, which therefore returns before long
_ENOUGH = 0.9  # of the next best promise: good enough to be counted
_WIDTH = 3.0  # bits between a guess of no and of yes
_STEP = 0.6  # bits by which a wholly wrong guess moves the threshold
_SOON = 1e9  # promise of a node that probably wins

_NOT_BELOW, _NOT_ABOVE = 1, 2


@dataclass(slots=True, eq=False)
class Cover:
    """The nodes of a lattice by what counting them promises.

    nodes: the lattice; ``shape``: (q,) levels of each attribute, and (q,) distance of its successor.
    cells: whether the loss adds up cells, so that counts say nothing about nodes above.
    telling: (2, N) bits by which records differ: one that foretells k, and one that foretells the loss.
    known: (N,) bit 1: not to rule out what is below; bit 2: nor what is above.
    thresholds: (2,) bits at which ruling out what is below, and above, is as likely as not.
    values, queue: (≥ size,) promises and nodes, as a heap whose greatest is first.
    size: of the heap; ``left``: open nodes when it was filled; ``since``: counts after that.
    """

    nodes: Lattice
    shape: tuple[NDArray[np.int64], NDArray[np.int64]]
    cells: bool
    telling: NDArray[np.float32] = field(repr=False)
    known: NDArray[np.uint8] = field(repr=False)
    thresholds: NDArray[np.float64]
    values: NDArray[np.float32] = field(repr=False)
    queue: NDArray[np.int32] = field(repr=False)
    size: int = 0
    left: int = 0
    since: int = 0


def _bits(hierarchy: Hierarchy, leaves: NDArray[np.int64]) -> tuple[list[float], list[float]]:
    """Return each level's entropy, and log₂ of the values that occur on it, in bits."""
    n, entropies, widths = max(1, int(leaves.sum())), [], []
    for lookup in hierarchy.lookups:
        counts = np.bincount(lookup, leaves).astype(np.int64)
        own = counts[counts > 0]
        whole, parts = int(information(np.array([n]))[0]), float(own @ information(own))
        entropies.append((whole - parts / n) / _BIT)
        widths.append(float(information(np.array([max(1, len(own))]))[0]) / _BIT)
    return entropies, widths


def cover(
    nodes: Lattice, hierarchies: Sequence[Hierarchy], leaves: Sequence[NDArray[np.int64]], *, cells: bool
) -> Cover:
    """Lay out a lattice for choosing nodes.

    Args:
        nodes: the lattice.
        hierarchies: q of them.
        leaves: q times (D,) records of each leaf.
        cells: whether the loss adds up cells.
    """
    telling = np.zeros((2, *nodes.shape), np.float32)
    for attribute, (hierarchy, own) in enumerate(zip(hierarchies, leaves, strict=True)):
        entropies, widths = (np.array(bits, np.float32) for bits in _bits(hierarchy, own))
        telling[0] += along(nodes, attribute, entropies + widths)
        telling[1] += along(nodes, attribute, entropies)
    flat = telling.reshape(2, -1)
    return Cover(
        nodes=nodes,
        shape=(np.array(nodes.shape, np.int64), np.array(nodes.steps, np.int64)),
        cells=cells,
        telling=flat,
        known=np.zeros(nodes.size, np.uint8),
        thresholds=np.array([flat[0].mean(), flat[1].mean()], np.float64),
        values=np.zeros(0, np.float32),
        queue=np.zeros(0, np.int32),
    )


@njit(cache=True)
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


@njit(cache=True)
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
    if known[node] & _NOT_BELOW == 0:
        low = min(1.0, max(0.0, 0.5 + (telling[0, node] - thresholds[0]) / _WIDTH))
    if not cells and known[node] & _NOT_ABOVE == 0:
        high = min(1.0, max(0.0, 0.5 + (thresholds[1] - telling[1, node]) / _WIDTH))
    found = low * below + high * above
    if is_open:
        found += 1.0
        if cells and low < 0.5:
            found += _SOON
    return found


@njit(cache=True)
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


@njit(cache=True)
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
        below = 0 if guess[1][node] & _NOT_BELOW else open_nodes(floors, ceiling, node, shape, False)
        above = 0
        if not guess[3] and guess[1][node] & _NOT_ABOVE == 0:
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


@njit(cache=True)
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


def _covers(cover: Cover, opened: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Count the open nodes at and below, and at and above, every node."""
    below = opened.reshape(cover.nodes.shape).astype(np.int32)
    above = below if cover.cells else below.copy()
    for axis in range(below.ndim):
        np.cumsum(below, axis, out=below)
        if not cover.cells:
            backward = np.flip(above, axis)
            np.cumsum(backward, axis, out=backward)
    return below.reshape(-1), above.reshape(-1)


def refill(cover: Cover, floors: NDArray[np.int64], ceiling: int) -> None:
    """Look at all promises again; ``floors`` (N,)."""
    opened = floors <= ceiling
    values = np.empty(len(floors), np.float32)
    guess = (cover.telling, cover.known, cover.thresholds, cover.cells)
    promises(values, _covers(cover, opened), opened, guess)
    some = np.flatnonzero(values > 0)
    queue = some[np.argsort(-values[some], kind="stable")]
    cover.queue, cover.values, cover.size = queue.astype(np.int32), values[queue], len(queue)
    cover.left, cover.since = int(np.count_nonzero(opened)), 0


def learn(cover: Cover, index: int, *, below: bool, above: bool) -> None:
    """Learn from a count whether it ruled out what is below, and above."""
    for side, (outcome, sign) in enumerate(zip((below, above), (1.0, -1.0), strict=True)):
        apart = sign * (float(cover.telling[side, index]) - float(cover.thresholds[side]))
        guessed = min(1.0, max(0.0, 0.5 + apart / _WIDTH))
        cover.thresholds[side] -= sign * _STEP * (outcome - guessed)
    note(cover, index, below=below, above=above)
    cover.since += 1


def note(cover: Cover, index: int, *, below: bool, above: bool) -> None:
    """Note that nodes above one that rules out nothing below will not either, and those below it likewise."""
    if below and above:
        return
    levels, known = cover.nodes.levels(index), cover.known.reshape(cover.nodes.shape)
    if not below:
        known[cover.nodes.up(levels)] |= _NOT_BELOW
    if not above:
        known[cover.nodes.down(levels)] |= _NOT_ABOVE


def likely(cover: Cover, floors: NDArray[np.int64], ceiling: int) -> int:
    """Return the open node that tells most apart of those that likely rule out nothing below; −1 if none."""
    some = np.flatnonzero((floors <= ceiling) & (cover.telling[0] < cover.thresholds[0]))
    return int(some[np.argmax(cover.telling[1][some])]) if len(some) else -1
