"""The order of counting by a heap of older promises, and when all nodes that are left are swept at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.fulldomain.bounds import NOTHING, most_lasting
from anon_pipeline.recode.fulldomain.cover import NOT_ABOVE, NOT_BELOW, Cover, Guess, promise
from anon_pipeline.recode.fulldomain.fast.stand_kernels import CLOSED
from anon_pipeline.recode.fulldomain.fast.sweep import Sweep, is_worthwhile, node_states, sweep, sweep_nodes
from anon_pipeline.recode.fulldomain.lattice import Axes, axes_of
from anon_pipeline.recode.fulldomain.scan import Scan
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, report_progress
from anon_pipeline.recode.loss import Kept

_REFILL: Final = 32  # counts until all promises are looked at again; each time twice as many
_TRIES: Final = 64  # promises looked at again in one call, which therefore returns before long
_ENOUGH: Final = 0.9  # of the next best promise: good enough to be counted

EMPTY: Final = -1
"""In place of a node: no node promises anything."""

ASK_AGAIN: Final = -2
"""In place of a node: none was found yet."""


@dataclass(slots=True, eq=False)
class Queue:
    """Nodes by what they promised when they were last looked at, as a heap whose greatest promise is first.

    values, nodes: (≥ size,) promises, and whose they are.
    size: of the heap.
    given: nodes given since all promises were looked at; ``due``: how many until they are again.
    """

    values: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32), repr=False)
    nodes: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32), repr=False)
    size: int = 0
    given: int = 0
    due: int = 0


def refill(queue: Queue, promised: NDArray[np.float32]) -> None:
    """Fill a queue with all nodes that promise anything; ``promised`` (N,)."""
    some = np.flatnonzero(promised > 0)
    nodes = some[np.argsort(-promised[some], kind="stable")]
    queue.nodes, queue.values, queue.size = nodes.astype(np.int32), promised[nodes], len(nodes)
    queue.given, queue.due = 0, max(_REFILL, 2 * queue.due)


def next_node(queue: Queue, known: Cover, axes: Axes, floors: NDArray[np.int64], ceiling: int) -> int | None:
    """Return a node that promises most, or nearly so; None where no node promises anything."""
    index = ASK_AGAIN
    while index == ASK_AGAIN:
        heap = queue.values, queue.nodes, queue.size
        index, queue.size = most_promising(heap, floors, ceiling, axes, known.guess)
    queue.given += 1
    return None if index == EMPTY else index


def queue_nodes(scan: Scan, known: Cover) -> Iterator[int]:
    """Give nodes that promise most, or nearly so, until none is open; sweep when that is faster.

    The plain twin is `optimal.by_promise`.
    """
    search, queue, opened = scan.search, Queue(), 0
    axes, walk = axes_of(search.nodes), _walk(search)
    while True:
        if queue.given >= queue.due:
            promised = scan.promises(known)
            opened = int(np.count_nonzero(scan.flat <= scan.ceiling))
            greatest = float(promised.max(initial=0.0))
            if walk is not None and greatest > 0:
                stands = node_states(walk, scan.flat <= scan.ceiling)
                if is_worthwhile(walk, stands, greatest):
                    _sweep(scan, walk, stands)
                    walk, queue.due = None, 0
                    continue
            refill(queue, promised)
        index = next_node(queue, known, axes, scan.flat, scan.ceiling)
        if index is None:
            return
        search.told.left = max(0, opened - queue.given + 1)
        yield index


def _walk(search: Search) -> Sweep | None:
    """Lay out the lattice for walking over it, where what classes are worth is all that is asked."""
    own = None if search.tables is None else search.tables.shortcuts
    if own is None or own.cubes is None or search.bounds.cells or not search.nodes.shape:
        return None
    return sweep(search.nodes, own.kept, own.cubes)


def _sweep(scan: Scan, walk: Sweep, stands: NDArray[np.uint8]) -> None:
    """Count the nodes that stand to be swept, and look at those that are better than the best so far."""
    search, bounds, tables = scan.search, scan.search.bounds, scan.search.tables
    assert tables is not None  # noqa: S101 - a walk is laid out from them
    before = stands != CLOSED
    search.told.left = int(np.count_nonzero(before))

    def most_suppressed() -> int:
        """Return how many records a node may suppress and still be the best."""
        return most_lasting(bounds, scan.ceiling, limit=search.limit)

    for rows in sweep_nodes(walk, tables, stands, most_suppressed):
        search.told.swept += len(rows)
        search.told.left -= len(rows)
        for node, small, kept, squares in rows[rows[:, 1] <= search.limit].tolist():
            score, total = search.units.score(Kept(small, kept, squares)), sum(search.nodes.levels(node))
            if scan.best is None or NodeScore(score, small, total, node) < scan.best:
                scan.look(node)
        report_progress(search)
    scan.flat[before & (stands == CLOSED)] = NOTHING


@kernel
def open_nodes(floors: NDArray[np.int64], ceiling: int, node: int, axes: Axes, upward: bool) -> int:
    """Count the open nodes at and below, or at and above, a node: those with a floor up to the ceiling.

    Args:
        floors: (N,).
        ceiling: of open nodes.
    """
    heights, steps = axes
    q = len(heights)
    # Between which levels of each attribute the nodes lie, and the index of the first of them.
    first, last, now = np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q, np.int64)
    at, rest = 0, node
    for attribute in range(q):
        level = rest // steps[attribute]
        rest -= level * steps[attribute]
        first[attribute] = level if upward else 0
        last[attribute] = heights[attribute] - 1 if upward else level
        now[attribute] = first[attribute]
        at += now[attribute] * steps[attribute]
    # Nodes that differ in the last attribute alone lie side by side.
    found, inner = 0, last[q - 1] - first[q - 1] + 1
    while True:
        for place in range(at, at + inner):
            found += floors[place] <= ceiling
        # Go to the next row: count up the levels of the other attributes, the last of them fastest.
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
def _sink(values: NDArray[np.float32], nodes: NDArray[np.int32], size: int) -> None:
    """Let the first entry of a heap sink to its place."""
    at, value, node = 0, values[0], nodes[0]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and values[child + 1] > values[child]:
            child += 1
        if values[child] <= value:
            break
        values[at], nodes[at] = values[child], nodes[child]
        at = child
    values[at], nodes[at] = value, node


@kernel
def most_promising(
    heap: tuple[NDArray[np.float32], NDArray[np.int32], int],
    floors: NDArray[np.int64],
    ceiling: int,
    axes: Axes,
    guess: Guess,
) -> tuple[int, int]:
    """Find a node that promises most, or nearly so, looking at few promises again.

    Promises in the heap are old. Nodes that promise nothing any more are dropped.

    Args:
        heap: promises, nodes, size.
        floors: (N,) what no node's loss falls below.
        ceiling: nodes with a floor above it are closed.
    Returns:
        The node, EMPTY or ASK_AGAIN; and the heap's size.
    """
    values, nodes, size = heap
    best, most = ASK_AGAIN, 0.0
    for _ in range(_TRIES):
        if size == 0:
            return max(best, EMPTY), 0
        # Look again at what the first node of the heap promises.
        node = nodes[0]
        below = 0 if guess.marks[node] & NOT_BELOW else open_nodes(floors, ceiling, node, axes, False)
        above = 0
        if not guess.cells and guess.marks[node] & NOT_ABOVE == 0:
            above = open_nodes(floors, ceiling, node, axes, True)
        own = promise(node, below, above, floors[node] <= ceiling, guess)
        # Drop it, or put it where it belongs now.
        if own <= 0.0:
            size -= 1
            values[0], nodes[0] = values[size], nodes[size]
        else:
            values[0] = own
            if own > most:
                best, most = node, own
        _sink(values, nodes, size)
        # Promises only shrink: none in the heap is much greater than the best one.
        if size > 0 and most >= _ENOUGH * values[0]:
            return best, size
    return best, size
