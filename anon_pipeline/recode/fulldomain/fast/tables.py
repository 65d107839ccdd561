"""The classes of a node from the table below it that takes least work to read, and which tables are kept.

A table is made from one made before, the widest attribute rolled up first where that pays; or, where the
combinations of values are few and no sensitive value is asked, it is a cube. The tables used last are kept as
far as their bytes allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.fulldomain.fast.cube_layout import CubeLayout
from anon_pipeline.recode.fulldomain.fast.cubes import Cube, fill_cube, fold_cube, stepping_stone
from anon_pipeline.recode.fulldomain.fast.shortcuts import CELLS_PER_CLASS, KeptTables, Shortcuts, work_of
from anon_pipeline.recode.fulldomain.layout import NodeTables
from anon_pipeline.recode.fulldomain.node_table import NodeTable
from anon_pipeline.recode.fulldomain.roll_up import roll_up_table

_SPREAD: Final = 4  # cells for a class of the table that a cube is filled from, at most
_STONE: Final = 16  # times fewer cells of a cube that is made on the way
_STEPPED: Final = 2_000  # classes of a table that is rolled up attribute by attribute
_FEW: Final = 400  # classes of a table that is not worth keeping its parts

_Levels = tuple[int, ...]


def node_table(tables: NodeTables, own: Shortcuts, levels: Sequence[int]) -> NodeTable | Cube:
    """Find the classes of a node, from a table at or below it that takes least work to read.

    Args:
        levels: (q,) level of each attribute.
    Returns:
        A table that may lie in scratch space: the next call overwrites it.
    """
    kept, cubes, wanted = own.kept, own.cubes, tuple(levels)
    place = _cheapest(kept, wanted)
    kept.last_used[place] = kept.clock
    here = kept.tables[place]
    while here.levels != wanted:
        kept.clock += 1
        if isinstance(here, Cube):
            here = _fold(kept, here, wanted)
        elif cubes is not None and cubes.size(wanted) <= min(
            cubes.most_cells, CELLS_PER_CLASS * len(here.sizes)
        ):
            here = _fill(tables, kept, cubes, here, wanted)
        else:
            here = _step(tables, own, here, wanted)
    return here


def node_cube(tables: NodeTables, kept: KeptTables, cubes: CubeLayout, levels: _Levels) -> Cube:
    """Find the cube of a node, from a table at or below it that takes least work to read; none is kept.

    Args:
        levels: of a node of at most ``cubes.most_cells`` combinations.
    Returns:
        A cube that may lie in spare space: the next call overwrites it.
    """
    here = kept.tables[_cheapest(kept, levels)]
    if isinstance(here, Cube):
        return fold_cube(here, levels)
    return fill_cube(cubes, tables.key_fields, here, levels)


def _fill(tables: NodeTables, kept: KeptTables, cubes: CubeLayout, below: NodeTable, wanted: _Levels) -> Cube:
    """Make the cube of a node, or of one below it, from a table."""
    cells = min(cubes.most_cells, _SPREAD * len(below.sizes))
    stone = stepping_stone(cubes, below.levels, wanted, cells=cells)
    found = fill_cube(cubes, tables.key_fields, below, stone)
    _keep(kept, found)
    return found


def _fold(kept: KeptTables, below: Cube, wanted: _Levels) -> Cube:
    """Make the cube of a node, or of one below it, from a cube; what lies in spare space is not kept."""
    stone = stepping_stone(below.layout, below.levels, wanted, cells=len(below.sizes) // _STONE)
    found = fold_cube(below, stone)
    if stone == wanted and (2 * len(found.sizes) > len(below.sizes) or len(found.sizes) <= _FEW):
        return found
    copied = Cube(below.layout, stone, found.sizes.copy())
    _keep(kept, copied)
    return copied


def _step(tables: NodeTables, own: Shortcuts, here: NodeTable, wanted: _Levels) -> NodeTable:
    """Roll up a table to a node, or its widest attribute alone where that pays."""
    changed = [j for j, (now, level) in enumerate(zip(here.levels, wanted, strict=True)) if now != level]
    rows, target = len(here.sizes), wanted
    if rows > _STEPPED and len(changed) > 1:
        widest = max(changed, key=partial(_gain, own, here.levels, wanted))
        target = (*here.levels[:widest], wanted[widest], *here.levels[widest + 1 :])
    found = roll_up_table(tables, here, target)
    if rows <= _FEW or (target is wanted and 2 * len(found.sizes) >= rows):
        return found
    copied = NodeTable(found.levels, found.keys.copy(), found.sizes.copy(), found.histograms)
    _keep(own.kept, copied)
    return copied


def _gain(own: Shortcuts, here: _Levels, wanted: _Levels, attribute: int) -> float:
    """Return how many times fewer codes an attribute has after rolling it up."""
    widths = own.widths[attribute]
    return widths[here[attribute]] / widths[wanted[attribute]]


def _keep(kept: KeptTables, own: NodeTable | Cube) -> None:
    """Keep a table for the nodes above it, in place of those that were used longest ago."""
    if own.bytes > kept.most_bytes:
        return
    while not kept.free or kept.bytes + own.bytes > kept.most_bytes:
        held = np.flatnonzero(kept.work[1:]) + 1
        oldest = int(held[kept.last_used[held].argmin()])
        kept.bytes -= kept.tables.pop(oldest).bytes
        kept.work[oldest] = 0
        kept.free.append(oldest)
    place = kept.free.pop()
    kept.levels[place], kept.work[place], kept.last_used[place] = own.levels, work_of(own), kept.clock
    kept.tables[place] = own
    kept.bytes += own.bytes


def _cheapest(kept: KeptTables, levels: _Levels) -> int:
    """Return the place of the table at or below a node that takes least work to read."""
    return int(cheapest(kept.levels, kept.work, np.array(levels, np.int64)))


@kernel
def cheapest(levels: NDArray[np.int64], work: NDArray[np.int64], node: NDArray[np.int64]) -> int:
    """Find the table that takes least work to read, of those that lie at or below a node.

    Args:
        levels: (c, q) of each table's node.
        work: (c,) of reading each table; 0 where there is none.
        node: (q,) levels.
    Returns:
        Its place; the first of several; the first table lies below every node.
    """
    best = 0
    for place in range(1, len(work)):
        if work[place] == 0 or work[place] >= work[best]:
            continue
        fits = True
        for attribute in range(len(node)):
            if levels[place, attribute] > node[attribute]:
                fits = False
                break
        if fits:
            best = place
    return best
