"""Which node to count next, so that few counts say something about every node that may win.

A count may rule out all nodes below, or all nodes above. How many of them are open is known; whether it
will is guessed from how well the node's values distinguish records, and learned. A bad guess costs time,
never exactness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.fulldomain.lattice import Lattice, along
from anon_pipeline.recode.loss import information, information_bits

_STEP: Final = 0.6  # bits by which a wholly wrong guess moves the threshold
_WIDTH: Final = 3.0  # bits between a guess of no and of yes
_SOON: Final = 1e9  # promise of a node that probably wins

NOT_BELOW: Final = 1
"""Mark of a node: counting it does not rule out what is below."""

NOT_ABOVE: Final = 2
"""Mark of a node: counting it does not rule out what is above."""


class Guess(NamedTuple):
    """What foretells whether counting a node rules out others.

    bits: (2, N) bits by which records differ: those that foretell k, and those that foretell the loss.
    marks: (N,) NOT_BELOW, NOT_ABOVE, both or none.
    thresholds: (2,) bits at which ruling out what is below, and above, is as likely as not.
    cells: whether the loss adds up cells, so that counts say nothing about nodes above.
    """

    bits: NDArray[np.float32]
    marks: NDArray[np.uint8]
    thresholds: NDArray[np.float64]
    cells: bool


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """The nodes of a lattice by what counting them promises; the guess learns from every count."""

    nodes: Lattice
    guess: Guess = field(repr=False)


def _bits(hierarchy: Hierarchy, leaves: NDArray[np.int64]) -> tuple[list[float], list[float]]:
    """Return each level's entropy, and log₂ of the values that occur on it, in bits."""
    n, entropies, widths = max(1, int(leaves.sum())), [], []
    bits = information_bits(n)
    one = 2.0**bits
    for lookup in hierarchy.lookups:
        counts = np.bincount(lookup, leaves).astype(np.int64)
        own = counts[counts > 0]
        whole, parts = int(information(np.array([n]), bits)[0]), float(own @ information(own, bits))
        entropies.append((whole - parts / n) / one)
        widths.append(float(information(np.array([max(1, len(own))]), bits)[0]) / one)
    return entropies, widths


def cover(
    nodes: Lattice, hierarchies: Sequence[Hierarchy], leaves: Sequence[NDArray[np.int64]], *, cells: bool
) -> Cover:
    """Lay out a lattice for choosing nodes.

    Args:
        leaves: q times (D,) records of each leaf.
        cells: whether the loss adds up cells.
    """
    bits = np.zeros((2, *nodes.shape), np.float32)
    for attribute, (hierarchy, own) in enumerate(zip(hierarchies, leaves, strict=True)):
        entropies, widths = (np.array(bits, np.float32) for bits in _bits(hierarchy, own))
        bits[0] += along(nodes, attribute, entropies + widths)
        bits[1] += along(nodes, attribute, entropies)
    flat = bits.reshape(2, -1)
    thresholds = np.array([flat[0].mean(), flat[1].mean()], np.float64)
    return Cover(nodes, Guess(flat, np.zeros(nodes.size, np.uint8), thresholds, cells))


def _covers(cover: Cover, opened: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Count the open nodes at and below, and at and above, every node."""
    below = opened.reshape(cover.nodes.shape).astype(np.int32)
    above = below if cover.guess.cells else below.copy()
    for axis in range(below.ndim):
        np.cumsum(below, axis, out=below)
        if not cover.guess.cells:
            backward = np.flip(above, axis)
            np.cumsum(backward, axis, out=backward)
    return below.reshape(-1), above.reshape(-1)


def promises(cover: Cover, floors: NDArray[np.int64], ceiling: int) -> NDArray[np.float32]:
    """Say what counting each node promises, (N,): 0 where it says nothing about any open node.

    Args:
        cover: the lattice.
        floors: (N,) what no node's loss falls below.
        ceiling: nodes with a floor above it are closed.
    """
    opened = floors <= ceiling
    found = np.empty(len(floors), np.float32)
    _promise_all(found, _covers(cover, opened), opened, cover.guess)
    return found


def learn(cover: Cover, index: int, *, below: bool, above: bool) -> None:
    """Learn from a count whether it ruled out what is below, and above."""
    bits, thresholds = cover.guess.bits, cover.guess.thresholds
    for side, (outcome, sign) in enumerate(zip((below, above), (1.0, -1.0), strict=True)):
        apart = sign * (float(bits[side, index]) - float(thresholds[side]))
        guessed = min(1.0, max(0.0, 0.5 + apart / _WIDTH))
        thresholds[side] -= sign * _STEP * (outcome - guessed)
    note(cover, index, below=below, above=above)


def note(cover: Cover, index: int, *, below: bool, above: bool) -> None:
    """Note that nodes above one that rules out nothing below will not either, and those below it likewise."""
    if below and above:
        return
    levels, marks = cover.nodes.levels(index), cover.guess.marks.reshape(cover.nodes.shape)
    if not below:
        marks[cover.nodes.up(levels)] |= NOT_BELOW
    if not above:
        marks[cover.nodes.down(levels)] |= NOT_ABOVE


def likely(cover: Cover, floors: NDArray[np.int64], ceiling: int) -> int | None:
    """Return the open node that distinguishes most, of those that probably rule out nothing below."""
    bits = cover.guess.bits
    some = np.flatnonzero((floors <= ceiling) & (bits[0] < cover.guess.thresholds[0]))
    return int(some[np.argmax(bits[1][some])]) if len(some) else None


@kernel
def promise(node: int, below: int, above: int, is_open: bool, guess: Guess) -> float:
    """Say how many open nodes counting a node closes, as a guess; soon if it probably wins.

    Args:
        below: open nodes at and below it; ``above``: at and above it.
    """
    bits, thresholds = guess.bits, guess.thresholds
    # How likely the count rules out what is below, and what is above: a ramp around the threshold.
    rules_below, rules_above = 0.0, 0.0
    if guess.marks[node] & NOT_BELOW == 0:
        rules_below = min(1.0, max(0.0, 0.5 + (bits[0, node] - thresholds[0]) / _WIDTH))
    if not guess.cells and guess.marks[node] & NOT_ABOVE == 0:
        rules_above = min(1.0, max(0.0, 0.5 + (thresholds[1] - bits[1, node]) / _WIDTH))
    found = rules_below * below + rules_above * above
    # An open node closes itself; one that probably keeps k lowers the ceiling, so it goes first.
    if is_open:
        found += 1.0
        if guess.cells and rules_below < 0.5:
            found += _SOON
    return found


@kernel
def _promise_all(
    values: NDArray[np.float32],
    covers: tuple[NDArray[np.int32], NDArray[np.int32]],
    opened: NDArray[np.bool_],
    guess: Guess,
) -> None:
    """Write the promise of every node.

    Args:
        values: (N,) out.
        covers: (N,) open nodes at and below each, (N,) at and above each.
        opened: (N,) whether a node is open.
    """
    below, above = covers
    for node in range(len(values)):
        values[node] = promise(node, below[node], above[node], opened[node], guess)
