"""Counting all open nodes side by side, where each is cheap and none says much about others.

The search (`optimum`) counts first what promises to close many nodes. What is left is a ragged border of
nodes that close few others; walking over all their cubes then takes less time than choosing between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.fulldomain.cube_layout import CubeLayout
from anon_pipeline.recode.fulldomain.lattice import Lattice, along
from anon_pipeline.recode.fulldomain.nodes import NodeTables, node_cube
from anon_pipeline.recode.fulldomain.sweep_kernels import corner, walk

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
    cells: (N,) combinations of values of each node; infinite beyond 3·10^38.
    places, shape: of `sweep_kernels.walk`.
    most: cells of a node that is swept, and of a cube that a walk begins from.
    arena, rows: space that every walk uses again.
    """

    nodes: Lattice
    cells: NDArray[np.float32] = field(repr=False)
    places: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] = field(
        repr=False
    )
    shape: tuple[NDArray[np.int64], NDArray[np.int64]]
    most: int
    arena: NDArray[np.uint16] = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)


def sweep(nodes: Lattice, layout: CubeLayout, *, classes: int) -> Sweep:
    """Lay out a lattice.

    Args:
        nodes: a lattice of at least one attribute.
        layout: of its cubes.
        classes: of the whole table.
    """
    q, height = len(nodes.shape), max(nodes.shape)
    widths = np.zeros((q, height), np.int64)
    begins = np.zeros((q, height, height), np.int64)
    cells = np.ones(nodes.shape, np.float32)
    for attribute, own in enumerate(nodes.shape):
        widths[attribute, :own] = layout.widths[attribute]
        begins[attribute, :own, :own] = layout.begins[attribute]
        with np.errstate(over="ignore"):  # too many to tell is too many to sweep
            cells *= along(nodes, attribute, widths[attribute, :own].astype(np.float32))
    most = min(layout.cells, _CELLS, _ROOT * classes)
    folds = 2 * (
        sum(nodes.shape) - q
    )  # in the arena at a time: one of a chain, one to a corner, for each step
    return Sweep(
        nodes=nodes,
        cells=cells.reshape(-1),
        places=(np.array(layout.axes, np.int64), widths, begins, layout.firsts),
        shape=(np.array(nodes.shape, np.int64), np.array(nodes.steps, np.int64)),
        most=most,
        arena=np.empty(most * (1 + folds), np.uint16),
        rows=np.empty((min(nodes.size, max(1, int(_WORK) // _NODE)), 4), np.int64),
    )


def standing(sweep: Sweep, opened: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return how each node stands: 0 closed, 1 open, 2 open and to be swept; (N,).

    Args:
        sweep: the lattice.
        opened: (N,) whether a node is open.
    """
    return opened.astype(np.uint8) + (opened & (sweep.cells <= sweep.most))


def is_worthwhile(sweep: Sweep, stands: NDArray[np.uint8], promise: float) -> bool:
    """Tell whether walking over nodes takes less time than counting first those that close most.

    Args:
        sweep: the lattice.
        stands: of `standing`.
        promise: open nodes that the next count closes, at most.
    """
    own = sweep.cells[stands == 2]
    return len(own) > 0 and promise * float(own.mean(dtype=np.float64)) <= _WORTH


def _is_root(sweep: Sweep, stands: NDArray[np.uint8], low: _Levels, high: _Levels) -> bool:
    """Whether the nodes between two corners can be walked over at once."""
    if np.prod(sweep.places[1][np.arange(len(low)), low].astype(np.float64)) > sweep.most:
        return False
    part = tuple(slice(first, last + 1) for first, last in zip(low, high, strict=True))
    shape = sweep.nodes.shape
    wanted = stands.reshape(shape)[part] == 2
    work = sweep.cells.reshape(shape)[part].sum(where=wanted, dtype=np.float64)
    return bool(work + _NODE * np.count_nonzero(wanted) <= _WORK)


def _roots(
    sweep: Sweep, stands: NDArray[np.uint8], fixed: int, low: _Levels, high: _Levels
) -> Iterator[tuple[int, _Levels, _Levels]]:
    """Cut the lattice, the most general nodes first, until those to be swept have a corner of few cells."""
    order = sweep.places[0][::-1].copy()
    if not corner(stands, sweep.shape, order, fixed, low, high):
        return
    if fixed == len(order) or _is_root(sweep, stands, low, high):
        yield fixed, low, high
        return
    attribute = order[fixed]
    for level in range(high[attribute], low[attribute] - 1, -1):
        first, last = low.copy(), high.copy()
        first[attribute] = last[attribute] = level
        yield from _roots(sweep, stands, fixed + 1, first, last)


def swept(
    sweep: Sweep, tables: NodeTables, stands: NDArray[np.uint8], most: Callable[[], int]
) -> Iterator[NDArray[np.int64]]:
    """Count the nodes to be swept, the most general first, but none below one that suppresses too much.

    Args:
        sweep: the lattice.
        tables: its records.
        stands: of `standing`; overwritten: closed is what was counted, and what is below a node that
            suppresses too much. A node with a class of 2^16 records or more cannot be counted here and
            stays open.
        most: says how many records may be in classes below k, before each walk.
    Yields:
        (c, 4) of the nodes counted in one walk: node, records in classes below k, number of the others, Σ
        of their squared sizes. Overwritten by the next walk.
    """
    low, high = np.zeros(len(sweep.shape[0]), np.int64), sweep.shape[0] - 1
    for fixed, root, top in _roots(sweep, stands, 0, low, high):
        cube = node_cube(tables, tuple(root.tolist()))
        np.copyto(sweep.arena[: len(cube.sizes)], cube.sizes, casting="unsafe")
        rules = (tables.rules.k, tables.records, most())
        found = walk((sweep.arena, sweep.rows), (fixed, root, top), sweep.places, sweep.shape, stands, rules)
        yield sweep.rows[:found]
