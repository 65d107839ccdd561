"""Counting the classes of lattice nodes: their sizes, what they cost, which of them are suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.fulldomain.fast.cubes import Cube, count_cube
from anon_pipeline.recode.fulldomain.fast.tables import node_table
from anon_pipeline.recode.fulldomain.kernels import count_sizes, price
from anon_pipeline.recode.fulldomain.layout import NodeTables
from anon_pipeline.recode.fulldomain.node_table import NodeTable
from anon_pipeline.recode.fulldomain.roll_up import parts, roll_up_table
from anon_pipeline.recode.fulldomain.values import judge, mistakes
from anon_pipeline.recode.loss import Kept

_JUDGED: Final = 100_000  # classes that one call judges


@dataclass(frozen=True, slots=True)
class NodeCount:
    """What one node does to the table.

    small: records in classes below k.
    whole: nothing suppressed; without costs.
    lasting: classes suppressed that break k or have fewer distinct values than any l-diversity needs: they
        are suppressed on every node below as well.
    final: classes suppressed that break any constraint; without costs if that is beyond the limit.
    """

    small: int
    whole: Kept
    lasting: Kept
    final: Kept


def _sums(tables: NodeTables, table: NodeTable, kept: NDArray[np.bool_], records: int) -> tuple[int, ...]:
    """Return the cost of the kept records by attribute."""
    fields, several = [], []
    sums = [0] * len(tables.level_costs)
    for attribute, level in enumerate(table.levels):
        start, cost = tables.level_costs[attribute][level]
        if cost is None:
            fields.append((*tables.key_fields[attribute], start))
            several.append(attribute)
        else:
            sums[attribute] = cost * records
    if fields:
        own = price(table.keys, table.sizes, kept, np.array(fields, np.int64), tables.cell_costs)
        for attribute, cost in zip(several, own.tolist(), strict=True):
            sums[attribute] = cost
    return tuple(sums)


def _keep(
    tables: NodeTables, table: NodeTable, kept: NDArray[np.bool_], suppressed: int, squares: int
) -> tuple[Kept, int]:
    """Say what some classes of a node are worth, and how many labels are mistaken if all are released."""
    own, every = 0, 0
    if tables.labeled and table.histograms is not None:
        own, every = mistakes(table.histograms, table.sizes, kept, tables.columns)
    sums = _sums(tables, table, kept, tables.records - suppressed) if suppressed <= tables.limit else ()
    return Kept(suppressed, int(np.count_nonzero(kept)), squares, int(own), sums), int(every)


def _count_by_cube(tables: NodeTables, cube: Cube) -> NodeCount:
    """Say what a node does to the table, by its cube: no rule but k is asked."""
    flat = [costs[level][1] for costs, level in zip(tables.level_costs, cube.levels, strict=True)]
    count = count_cube(cube, tables.rules.k, flat, records=tables.records, limit=tables.limit)
    final = Kept(count.small, count.kept, count.squares, 0, count.sums)
    return NodeCount(count.small, Kept(0, count.classes, count.every), final, final)


def count_node(tables: NodeTables, levels: Sequence[int]) -> NodeCount:
    """Count and price the classes of one node; scratch space is overwritten, tables made are kept."""
    if tables.shortcuts is None:
        return _count_by_table(tables, roll_up_table(tables, tables.whole, levels))
    table = node_table(tables, tables.shortcuts, levels)
    return _count_by_cube(tables, table) if isinstance(table, Cube) else _count_by_table(tables, table)


def _count_by_table(tables: NodeTables, table: NodeTable) -> NodeCount:
    """Say what a node does to the table, by the keys of its classes."""
    m, sizes, columns = len(table.sizes), table.sizes, tables.columns
    lasting, kept = tables.scratch.kept[0, :m], tables.scratch.kept[1, :m]
    small, _, squares, every = map(int, count_sizes(sizes, tables.rules.k, lasting))
    if not len(tables.least_distinct) or table.histograms is None or small > tables.limit:
        final, wrong = _keep(tables, table, lasting, small, squares)
        return NodeCount(small, Kept(0, m, every, wrong), final, final)
    for begin, end in parts(m, _JUDGED):
        judge(
            tables.rules,
            table.histograms,
            sizes,
            tables.least_distinct,
            (lasting, kept),
            (begin, end, columns),
        )
    found = []
    for mask in (lasting, kept):
        released = sizes[mask]
        suppressed = tables.records - int(released.sum())
        found.append(_keep(tables, table, mask, suppressed, int(released @ released)))
    (first, wrong), (final, _) = found
    return NodeCount(small, Kept(0, m, every, wrong), first, final)
