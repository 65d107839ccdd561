"""Counting all open nodes side by side, where each is cheap and none says much about others.

The search (`optimal`) counts first what promises to close many nodes. What is left is a ragged border of
nodes that close few others; walking over all their cubes then takes less time than choosing between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.fulldomain.fast.cube_layout import CubeLayout
from anon_pipeline.recode.fulldomain.fast.shortcuts import KeptTables
from anon_pipeline.recode.fulldomain.fast.stand_kernels import CLOSED, OPEN, TO_SWEEP, corner
from anon_pipeline.recode.fulldomain.fast.sweep_kernels import Places, walk
from anon_pipeline.recode.fulldomain.fast.tables import node_cube
from anon_pipeline.recode.fulldomain.lattice import Axes, Lattice, along, axes_of
from anon_pipeline.recode.fulldomain.layout import NodeTables

_ROOT: Final = 8  # cells of a cube that a walk begins from, for a class of the whole table
_CELLS: Final = 2**20  # of such a cube, at most
_WORK: Final = 2.0**28  # cells of all nodes of a walk, at most: less than half a second
_NODE: Final = 2**8  # cells that are added up in the time that the walk to a node takes
_WORTH: Final = 2.0**24  # cells of a node, times what it promises to close

_Levels = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """A lattice laid out for walking over it.

    nodes: the lattice.
    axes: the same for kernels.
    kept, layout: tables made before, and where cubes have their cells.
    places: the same for kernels.
    cells: (N,) combinations of values of each node; infinite beyond 3·10^38.
    most_cells: cells of a node that is swept, and of a cube that a walk begins from.
    arena, rows: space that every walk uses again.
    """

    nodes: Lattice
    axes: Axes
    kept: KeptTables = field(repr=False)
    layout: CubeLayout = field(repr=False)
    places: Places = field(repr=False)
    cells: NDArray[np.float32] = field(repr=False)
    most_cells: int
    arena: NDArray[np.uint16] = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)


def sweep(nodes: Lattice, kept: KeptTables, layout: CubeLayout) -> Sweep:
    """Lay out a lattice.

    Args:
        nodes: a lattice of at least one attribute.
        kept: tables of its nodes, the whole table among them.
    """
    q, height = len(nodes.shape), max(nodes.shape)
    widths = np.zeros((q, height), np.int64)
    begins = np.zeros((q, height, height), np.int64)
    cells = np.ones(nodes.shape, np.float32)
    for attribute, own in enumerate(nodes.shape):
        widths[attribute, :own] = layout.widths[attribute]
        begins[attribute, :own, :own] = layout.first_ranks_begin[attribute]
        with np.errstate(over="ignore"):  # a number that overflows is too many to sweep
            cells *= along(nodes, attribute, widths[attribute, :own].astype(np.float32))
    most = min(layout.most_cells, _CELLS, _ROOT * len(kept.tables[0].sizes))
    # Cubes in the arena at a time: for each step up, one of a chain and one of a corner.
    folds = 2 * (sum(nodes.shape) - q)
    return Sweep(
        nodes=nodes,
        axes=axes_of(nodes),
        kept=kept,
        layout=layout,
        places=Places(np.array(layout.axes, np.int64), widths, begins, layout.first_ranks),
        cells=cells.reshape(-1),
        most_cells=most,
        arena=np.empty(most * (1 + folds), np.uint16),
        rows=np.empty((min(nodes.size, max(1, int(_WORK) // _NODE)), 4), np.int64),
    )


def node_states(sweep: Sweep, opened: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return how each node, open or not, (N,), stands: CLOSED, OPEN, or open and TO_SWEEP; (N,)."""
    stands = np.where(sweep.cells <= sweep.most_cells, TO_SWEEP, OPEN)
    return np.where(opened, stands, CLOSED).astype(np.uint8)


def is_worthwhile(sweep: Sweep, stands: NDArray[np.uint8], promise: float) -> bool:
    """Tell whether walking over nodes takes less time than counting first those that close most.

    Args:
        stands: of `node_states`.
        promise: open nodes that the next count closes, at most.
    """
    own = sweep.cells[stands == TO_SWEEP]
    return len(own) > 0 and promise * float(own.mean(dtype=np.float64)) <= _WORTH


def _is_root(sweep: Sweep, stands: NDArray[np.uint8], low: _Levels, high: _Levels) -> bool:
    """Whether the nodes between two corners can be walked over at once."""
    if np.prod(sweep.places.widths[np.arange(len(low)), low].astype(np.float64)) > sweep.most_cells:
        return False
    part = tuple(slice(first, last + 1) for first, last in zip(low, high, strict=True))
    shape = sweep.nodes.shape
    wanted = stands.reshape(shape)[part] == TO_SWEEP
    work = sweep.cells.reshape(shape)[part].sum(where=wanted, dtype=np.float64)
    return bool(work + _NODE * np.count_nonzero(wanted) <= _WORK)


def _roots(
    sweep: Sweep, stands: NDArray[np.uint8], fixed: int, low: _Levels, high: _Levels
) -> Iterator[tuple[int, _Levels, _Levels]]:
    """Cut the lattice, the most general nodes first, until those to be swept have a corner of few cells."""
    order = sweep.places.axes[::-1].copy()
    if not corner(stands, sweep.axes, order, fixed, low, high):
        return
    if fixed == len(order) or _is_root(sweep, stands, low, high):
        yield fixed, low, high
        return
    attribute = order[fixed]
    for level in range(high[attribute], low[attribute] - 1, -1):
        first, last = low.copy(), high.copy()
        first[attribute] = last[attribute] = level
        yield from _roots(sweep, stands, fixed + 1, first, last)


def sweep_nodes(
    sweep: Sweep, tables: NodeTables, stands: NDArray[np.uint8], most: Callable[[], int]
) -> Iterator[NDArray[np.int64]]:
    """Count the nodes to be swept, the most general first, but none below one that suppresses too much.

    Args:
        stands: of `node_states`; overwritten: closed is what was counted, and what is below a node that
            suppresses too much. A node with a class of 2^16 records or more cannot be counted here and
            stays open.
        most: says how many records may be in classes below k, before each walk.
    Yields:
        (c, 4) of the nodes counted in one walk: node, records in classes below k, number of the others, Σ
        of their squared sizes. Overwritten by the next walk.
    """
    low, high = np.zeros(len(sweep.axes.heights), np.int64), sweep.axes.heights - 1
    for fixed, root, top in _roots(sweep, stands, 0, low, high):
        cube = node_cube(tables, sweep.kept, sweep.layout, tuple(root.tolist()))
        np.copyto(sweep.arena[: len(cube.sizes)], cube.sizes, casting="unsafe")
        rules = (tables.rules.k, tables.records, most())
        found = walk((sweep.arena, sweep.rows), (fixed, root, top), sweep.places, sweep.axes, stands, rules)
        yield sweep.rows[:found]
