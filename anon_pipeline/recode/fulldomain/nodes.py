"""Counting the classes of lattice nodes, each from the table below it that takes least work to read.

A table holds the classes of one node: keys, sizes, and what occurs in them; or, where no sensitive value is
asked and the combinations of values are few, it is a cube. It is made from one made before, the widest
attribute rolled up first where that pays, and the tables used last are kept as far as their bytes allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.fulldomain.cubes import Cube, count_cube, filled, folded, stepping_stone
from anon_pipeline.recode.fulldomain.kernels import cheapest, count_sizes, price, roll_up
from anon_pipeline.recode.fulldomain.layout import WORK, Histograms, NodeTable, NodeTables, node_tables
from anon_pipeline.recode.fulldomain.values import by_class, judge, merge, mistakes
from anon_pipeline.recode.loss import Kept

__all__ = [
    "NodeCount",
    "NodeTable",
    "NodeTables",
    "count_node",
    "node_cube",
    "node_table",
    "node_tables",
]

_SPREAD = 4  # cells for a class of the table that a cube is filled from, at most
_STONE = 16  # times fewer cells of a cube that is made on the way
_STEPPED = 2_000  # classes of a table that is rolled up attribute by attribute
_FEW = 400  # classes of a table that is not worth keeping its parts
_ROWS = 2_000_000  # of one call of a kernel: less than half a second


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


def _parts(rows: int, of: int) -> list[tuple[int, int]]:
    """Cut a loop over classes into calls that return before long."""
    return [(begin, min(begin + of, rows)) for begin in range(0, rows, of)]


def _rolled(tables: NodeTables, below: NodeTable, levels: tuple[int, ...], changed: list[int]) -> NodeTable:
    """Make the table of a node from one below it; keys and sizes lie in scratch space."""
    rows = len(below.sizes)
    fields = np.array(
        [(*tables.fields[j], tables.changes[j][below.levels[j]][levels[j]]) for j in changed], np.int64
    )
    used, found = 4 << max(1, rows - 1).bit_length(), 0
    labels = tables.scratch.labels[: 0 if below.histograms is None else rows]
    out = (tables.scratch.keys, tables.scratch.sizes, labels)
    for begin, end in _parts(rows, _ROWS):
        found = roll_up(
            (below.keys, below.sizes),
            (fields, tables.codes),
            (tables.scratch.slots, used),
            out,
            (begin, end, found),
        )
    histograms = None if below.histograms is None else _merged(tables, below, below.histograms, found)
    return NodeTable(levels, tables.scratch.keys[:, :found], tables.scratch.sizes[:found], histograms)


def _merged(tables: NodeTables, below: NodeTable, histograms: Histograms, found: int) -> Histograms:
    """Add up the histograms of the classes that become one, (found) of them."""
    rows, a, entries = len(below.sizes), tables.columns, len(histograms[1])
    first, order = np.empty(found + 1, np.int64), tables.scratch.order[:rows]
    by_class(tables.scratch.labels[:rows], first, order)
    starts = np.zeros(found * a + 1, np.int64)
    codes, weights, values, counts = tables.scratch.values[:, :entries]
    scratch, out = (codes, weights, tables.scratch.seen), (starts, values, counts)
    for begin, end in _parts(found, 500_000):
        merge(histograms, (first, order), out, scratch, (begin, end, a))
    return starts, values[: starts[-1]].copy(), counts[: starts[-1]].copy()


def _keep(tables: NodeTables, own: NodeTable | Cube) -> None:
    """Keep a table for the nodes above it, in place of those that were used longest ago."""
    made = tables.made
    if own.bytes > tables.most_bytes:
        return
    while not made.free or made.bytes + own.bytes > tables.most_bytes:
        held = np.flatnonzero(made.work[1:]) + 1
        oldest = int(held[made.used[held].argmin()])
        made.bytes -= made.tables.pop(oldest).bytes
        made.work[oldest] = 0
        made.free.append(oldest)
    place = made.free.pop()
    made.levels[place], made.work[place], made.used[place] = own.levels, _work(own), made.clock
    made.tables[place] = own
    made.bytes += own.bytes


def node_table(tables: NodeTables, levels: Sequence[int]) -> NodeTable | Cube:
    """Find the classes of a node, from a table at or below it that takes least work to read.

    Returns:
        A table that may lie in scratch space: the next call overwrites it.
    """
    made, wanted = tables.made, tuple(levels)
    place = int(cheapest(made.levels, made.work, np.array(wanted, np.int64)))
    made.used[place] = made.clock
    here = made.tables[place]
    while here.levels != wanted:
        made.clock += 1
        if isinstance(here, Cube):
            here = _folded(tables, here, wanted)
        elif tables.cubed and tables.cubes.size(wanted) <= min(tables.cubes.cells, WORK * len(here.sizes)):
            here = _filled(tables, here, wanted)
        else:
            here = _stepped(tables, here, wanted)
    return here


def node_cube(tables: NodeTables, levels: tuple[int, ...]) -> Cube:
    """Find the cube of a node, from a table at or below it that takes least work to read; none is kept.

    Args:
        tables: where ``cubed``.
        levels: of a node of at most ``cubes.cells`` combinations.
    Returns:
        A cube that may lie in spare space: the next call overwrites it.
    """
    made = tables.made
    here = made.tables[int(cheapest(made.levels, made.work, np.array(levels, np.int64)))]
    if isinstance(here, Cube):
        return folded(tables.cubes, here, levels)
    return filled(tables.cubes, tables.fields, (here.levels, here.keys, here.sizes), levels)


def _filled(tables: NodeTables, below: NodeTable, wanted: tuple[int, ...]) -> Cube:
    """Make the cube of a node, or of one below it, from a table."""
    cubes = tables.cubes
    cells = min(cubes.cells, _SPREAD * len(below.sizes))
    stone = stepping_stone(cubes, below.levels, wanted, cells=cells)
    found = filled(cubes, tables.fields, (below.levels, below.keys, below.sizes), stone)
    _keep(tables, found)
    return found


def _folded(tables: NodeTables, below: Cube, wanted: tuple[int, ...]) -> Cube:
    """Make the cube of a node, or of one below it, from a cube; what lies in spare space is not kept."""
    cubes = tables.cubes
    stone = stepping_stone(cubes, below.levels, wanted, cells=len(below.sizes) // _STONE)
    found = folded(cubes, below, stone)
    if stone == wanted and (2 * len(found.sizes) > len(below.sizes) or len(found.sizes) <= _FEW):
        return found
    own = Cube(stone, found.sizes.copy())
    _keep(tables, own)
    return own


def _stepped(tables: NodeTables, here: NodeTable, wanted: tuple[int, ...]) -> NodeTable:
    """Roll up a table to a node, or its widest attribute alone where that pays."""
    changed = [j for j, (own, level) in enumerate(zip(here.levels, wanted, strict=True)) if own != level]
    rows, target = len(here.sizes), wanted
    if rows > _STEPPED and len(changed) > 1:
        widest = max(changed, key=partial(_gain, tables, here.levels, wanted))
        target = (*here.levels[:widest], wanted[widest], *here.levels[widest + 1 :])
        changed = [widest]
    found = _rolled(tables, here, target, changed)
    if rows <= _FEW or (target is wanted and 2 * len(found.sizes) >= rows):
        return found
    own = NodeTable(found.levels, found.keys.copy(), found.sizes.copy(), found.histograms)
    _keep(tables, own)
    return own


def _work(table: NodeTable | Cube) -> int:
    """Return the work of reading a table once, in cells of a cube."""
    return len(table.sizes) * (1 if isinstance(table, Cube) else WORK)


def _gain(tables: NodeTables, here: tuple[int, ...], wanted: tuple[int, ...], attribute: int) -> float:
    """Say how many times fewer codes an attribute has after rolling it up."""
    widths = tables.widths[attribute]
    return widths[here[attribute]] / widths[wanted[attribute]]


def _sums(tables: NodeTables, table: NodeTable, kept: NDArray[np.bool_], records: int) -> tuple[int, ...]:
    """Return the cost of the kept records by attribute."""
    fields, several = [], []
    sums = [0] * len(tables.prices)
    for attribute, level in enumerate(table.levels):
        start, cost = tables.prices[attribute][level]
        if cost is None:
            fields.append((*tables.fields[attribute], start))
            several.append(attribute)
        else:
            sums[attribute] = cost * records
    if fields:
        own = price(table.keys, table.sizes, kept, np.array(fields, np.int64), tables.cost)
        for attribute, cost in zip(several, own.tolist(), strict=True):
            sums[attribute] = cost
    return tuple(sums)


def _kept(
    tables: NodeTables, table: NodeTable, kept: NDArray[np.bool_], suppressed: int, squares: int
) -> tuple[Kept, int]:
    """Say what some classes of a node are worth, and how many labels are mistaken if all are released."""
    own, every = 0, 0
    if tables.labeled and table.histograms is not None:
        own, every = mistakes(table.histograms, table.sizes, kept, tables.columns)
    sums = _sums(tables, table, kept, tables.records - suppressed) if suppressed <= tables.limit else ()
    return Kept(suppressed, int(np.count_nonzero(kept)), squares, int(own), sums), int(every)


def _counted(tables: NodeTables, cube: Cube) -> NodeCount:
    """Say what a node does to the table, by its cube."""
    flat = [prices[level][1] for prices, level in zip(tables.prices, cube.levels, strict=True)]
    count = count_cube(tables.cubes, cube, tables.rules.k, flat, records=tables.records, limit=tables.limit)
    final = Kept(count.small, count.kept, count.squares, 0, count.sums)
    return NodeCount(count.small, Kept(0, count.classes, count.every), final, final)


def count_node(tables: NodeTables, levels: Sequence[int]) -> NodeCount:
    """Count and price the classes of one node.

    Args:
        tables: of `node_tables`; its scratch is overwritten, tables made are kept.
        levels: (q,) level of each attribute.
    """
    table = node_table(tables, levels)
    if isinstance(table, Cube):
        return _counted(tables, table)
    m, sizes, columns = len(table.sizes), table.sizes, tables.columns
    lasting, kept = tables.scratch.kept[0, :m], tables.scratch.kept[1, :m]
    small, _, squares, every = map(int, count_sizes(sizes, tables.rules.k, lasting))
    if not len(tables.least) or table.histograms is None or small > tables.limit:
        final, wrong = _kept(tables, table, lasting, small, squares)
        return NodeCount(small, Kept(0, m, every, wrong), final, final)
    for begin, end in _parts(m, 100_000):
        judge(tables.rules, table.histograms, sizes, tables.least, (lasting, kept), (begin, end, columns))
    found = []
    for mask in (lasting, kept):
        released = sizes[mask]
        suppressed = tables.records - int(released.sum())
        found.append(_kept(tables, table, mask, suppressed, int(released @ released)))
    (first, wrong), (final, _) = found
    return NodeCount(small, Kept(0, m, every, wrong), first, final)
