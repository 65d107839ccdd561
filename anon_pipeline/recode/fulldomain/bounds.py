"""What a node's loss cannot fall below: by its levels alone, and by what other nodes turned out to be.

A bound is a score, shifted right until it fits into 62 bits: rounded down, so it never rules out a node that
could win.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.catalog.losses import WEIGHED
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.fulldomain.lattice import Lattice, along
from anon_pipeline.recode.fulldomain.nodes import NodeCount
from anon_pipeline.recode.loss import Kept, LossUnits, class_loss
from anon_pipeline.recode.task import Task

_BITS = 62
NOTHING = 2**_BITS
"""A bound that nothing reaches: the node is ruled out."""


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """What is known about the nodes of a lattice before any is counted.

    units: of the scores.
    shift: bits that a score is shifted right.
    alone: in the lattice's shape; what no node falls below.
    levels: q × h score of each level of each attribute if nothing is suppressed, for the cell-wise losses.
    k: records of a class, at least.
    limited: whether anything may be, or must have been, suppressed.
    """

    units: LossUnits
    shift: int
    alone: NDArray[np.int64] = field(repr=False)
    levels: tuple[tuple[int, ...], ...] = field(repr=False)
    k: int
    limited: bool

    @property
    def cells(self) -> bool:
        """Whether the loss adds up cells."""
        return self.units.name in WEIGHED

    def of(self, score: int) -> int:
        """Shift a score."""
        return score >> self.shift


def level_scores(
    units: LossUnits,
    costs: Sequence[Sequence[NDArray[np.int64]]],
    hierarchies: Sequence[Hierarchy],
    counts: Sequence[NDArray[np.int64]],
) -> tuple[tuple[int, ...], ...]:
    """Return what each level of each attribute scores if nothing is suppressed; offset not taken off."""
    return tuple(
        tuple(
            weight * int(leaves @ cost[lookup])
            for cost, lookup in zip(levels, hierarchy.lookups, strict=True)
        )
        for weight, levels, hierarchy, leaves in zip(units.weights, costs, hierarchies, counts, strict=True)
    )


def lower_bounds(
    task: Task,
    units: LossUnits,
    nodes: Lattice,
    levels: tuple[tuple[int, ...], ...],
    counts: Sequence[NDArray[np.int64]],
) -> Bounds:
    """Bound every node by its levels alone.

    Cell-wise losses: its own score without suppression, since a suppressed cell costs at least as much as a
    released one. Classes: a node has at most as many as its attributes have combinations of values; then
    Σ m² ≥ n²/classes, and no more than n/k are kept.

    Args:
        levels: of `level_scores`.
        counts: q times (D,) records of each leaf.
    """
    limited = task.constraints.max_suppressed > 0 or task.gone > 0
    k, cells = task.constraints.k, units.name in WEIGHED
    shift = 0
    if cells:
        most = sum(max(own, default=0) for own in levels) + units.suppressed * units.records
        shift = max(0, most.bit_length() + len(levels).bit_length() - _BITS)
        alone = np.zeros(nodes.shape, np.int64)
        for attribute, own in enumerate(levels):
            alone += along(nodes, attribute, np.array([score >> shift for score in own], np.int64))
        alone -= (units.offset >> shift) + (shift > 0)
        return Bounds(units, shift, alone, levels, k, limited)
    classes = np.ones(nodes.shape, np.int64)
    for attribute, (hierarchy, leaves) in enumerate(zip(task.hierarchies, counts, strict=True)):
        present = np.flatnonzero(leaves)
        widths = [len(np.unique(lookup[present])) for lookup in hierarchy.lookups]
        classes *= along(nodes, attribute, np.array(widths, np.int64))
        np.minimum(classes, max(1, units.records), out=classes)
    loss = class_loss(units.name)
    shift = max(0, int(loss.score(units, Kept(units.records))).bit_length() - _BITS)
    alone = loss.floors(units, classes, k, int(limited)).astype(np.int64)
    return Bounds(units, shift, alone >> shift, levels, k, limited)


def _above(bounds: Bounds, count: NodeCount) -> int:
    """Bound the nodes above one that was counted."""
    own = class_loss(bounds.units.name)
    return bounds.of(own.above(bounds.units, count.whole, count.lasting, bounds.k, int(bounds.limited)))


def _below(bounds: Bounds, lasting: int) -> int:
    """Bound the nodes below one that suppresses so many records lastingly: they suppress them as well."""
    units = bounds.units
    return bounds.of(class_loss(units.name).below(units, lasting + units.gone, bounds.k, int(bounds.limited)))


def most_lasting(bounds: Bounds, ceiling: int, *, limit: int) -> int:
    """Return the most records that a node may suppress lastingly if it, or one below it, shall win.

    Args:
        bounds: of the lattice; of a loss that looks at classes.
        ceiling: a node with a floor above it cannot win.
        limit: records that may be suppressed.
    Returns:
        −1 if no node can win.
    """
    return bisect_right(range(limit + 1), ceiling, key=lambda lasting: _below(bounds, lasting)) - 1


def rule_out(
    bounds: Bounds, floors: NDArray[np.int64], nodes: Lattice, index: int, count: NodeCount, *, limit: int
) -> tuple[int, int]:
    """Raise the floors of the nodes that a count says something about.

    Args:
        floors: in the lattice's shape; what no node's loss falls below, as far as is known.
        limit: records that may be suppressed.
    Returns:
        The floor of everything below, and of everything above; 0 where it is not the same for all of them.
    Source:
        Cell-wise: a node below suppresses at least the same records, and a released cell of them costs at
        most what it costs here, so it loses at least as much by suppressing as this node does.
    """
    levels = nodes.levels(index)
    below, down, up = nodes.down(levels), 0, 0
    if count.lasting.suppressed > limit:
        down = NOTHING
        floors[below] = down
    elif bounds.cells:
        own = (
            sum(scores[level] for scores, level in zip(bounds.levels, levels, strict=True))
            - bounds.units.offset
        )
        lost = bounds.of(bounds.units.score(count.lasting) - own)
        if lost > 0:
            np.maximum(floors[below], bounds.alone[below] + lost, out=floors[below])
    else:
        down = _below(bounds, count.lasting.suppressed)
        np.maximum(floors[below], down, out=floors[below])
    if not bounds.cells:
        above, up = nodes.up(levels), _above(bounds, count)
        np.maximum(floors[above], up, out=floors[above])
    return down, up
