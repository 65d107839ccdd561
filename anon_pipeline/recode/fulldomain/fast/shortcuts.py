"""What is kept between two counts: the tables made before, and the layout of cubes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.fulldomain.fast.cube_layout import CubeLayout, cube_layout
from anon_pipeline.recode.fulldomain.fast.cubes import Cube
from anon_pipeline.recode.fulldomain.node_table import NodeTable

_PLACES: Final = 4096  # tables that are kept, at most
_BYTES: Final = 2**28  # of the tables that are kept, at most
_RECORDS: Final = 2**31 - 1  # of a cube, at most
_CELLS: Final = 2**22  # of a cube, at most

CELLS_PER_CLASS: Final = 16
"""Cells of a cube that are added up in the time that a class of a table takes."""


@dataclass(slots=True, eq=False)
class KeptTables:
    """The tables that are kept, by place: the first is the whole table and stays.

    levels: (c, q) of each.
    work: (c,) of reading a table once, in cells of a cube; 0 where the place is free.
    last_used: (c,) clock when a table was read last.
    tables: by place; ``free``: places without one.
    bytes: of all tables but the first; ``most_bytes``: at most.
    clock: tables made so far.
    """

    levels: NDArray[np.int64]
    work: NDArray[np.int64]
    last_used: NDArray[np.int64]
    tables: dict[int, NodeTable | Cube]
    free: list[int]
    most_bytes: int
    bytes: int = 0
    clock: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Shortcuts:
    """What the search keeps to count nodes faster.

    kept: tables made before.
    widths: q × h codes that occur on a level.
    cubes: where their cells are; None where sensitive values or the target are asked: cubes have none.
    """

    kept: KeptTables = field(repr=False)
    widths: tuple[tuple[int, ...], ...]
    cubes: CubeLayout | None = field(repr=False)


def work_of(table: NodeTable | Cube) -> int:
    """Return the work of reading a table once, in cells of a cube."""
    return len(table.sizes) * (1 if isinstance(table, Cube) else CELLS_PER_CLASS)


def shortcuts(
    whole: NodeTable,
    hierarchies: Sequence[Hierarchy],
    leaves: Sequence[NDArray[np.int64]],
    costs: Sequence[Sequence[NDArray[np.int64]]],
) -> Shortcuts:
    """Keep the whole table, make places for more, and lay out cubes where they can be asked.

    Args:
        whole: the ungeneralized table.
        leaves: q times, ascending, the leaves that occur.
        costs: of `cell_costs`, by attribute.
    """
    work = np.zeros(_PLACES, np.int64)
    work[0] = work_of(whole)
    levels, free = np.zeros((_PLACES, len(whole.levels)), np.int64), list(range(_PLACES - 1, 0, -1))
    cubes, cells = None, min(_CELLS, CELLS_PER_CLASS * len(whole.sizes))
    if whole.histograms is None and int(whole.sizes.sum()) <= _RECORDS:
        cubes = cube_layout(hierarchies, leaves, costs, cells=cells)
    return Shortcuts(
        kept=KeptTables(levels, work, np.zeros(_PLACES, np.int64), {0: whole}, free, _BYTES),
        widths=tuple(
            tuple(int(np.count_nonzero(np.diff(lookup[own]))) + 1 for lookup in hierarchy.lookups)
            for hierarchy, own in zip(hierarchies, leaves, strict=True)
        ),
        cubes=cubes,
    )
