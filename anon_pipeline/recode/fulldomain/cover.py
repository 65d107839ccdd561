"""Which node to count next, so that few counts say something about every node that may win.

A count may rule out all nodes below, or all nodes above. How many of them are open is known; whether it
will is guessed from how much the node's values tell apart, and learned. A bad guess costs time, never
exactness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.fulldomain.cover_kernels import NOT_ABOVE, NOT_BELOW, WIDTH, promises
from anon_pipeline.recode.fulldomain.lattice import Lattice, along
from anon_pipeline.recode.loss import information

_BIT = 2.0**30  # of `information`
_STEP = 0.6  # bits by which a wholly wrong guess moves the threshold


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
        guessed = min(1.0, max(0.0, 0.5 + apart / WIDTH))
        cover.thresholds[side] -= sign * _STEP * (outcome - guessed)
    note(cover, index, below=below, above=above)
    cover.since += 1


def note(cover: Cover, index: int, *, below: bool, above: bool) -> None:
    """Note that nodes above one that rules out nothing below will not either, and those below it likewise."""
    if below and above:
        return
    levels, known = cover.nodes.levels(index), cover.known.reshape(cover.nodes.shape)
    if not below:
        known[cover.nodes.up(levels)] |= NOT_BELOW
    if not above:
        known[cover.nodes.down(levels)] |= NOT_ABOVE


def likely(cover: Cover, floors: NDArray[np.int64], ceiling: int) -> int:
    """Return the open node that tells most apart of those that likely rule out nothing below; −1 if none."""
    some = np.flatnonzero((floors <= ceiling) & (cover.telling[0] < cover.thresholds[0]))
    return int(some[np.argmax(cover.telling[1][some])]) if len(some) else -1
