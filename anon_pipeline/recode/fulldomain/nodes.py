"""Counting the classes of lattice nodes, each from the smallest table that lies below it.

A table holds the classes of one node: keys, sizes, and what occurs in them. It is made from one made before,
the widest attribute rolled up first where that pays, and the tables used last are kept as far as their bytes
allow. Belongs here: layout, which table a node is counted from, what is kept. Does not belong here: loops
over classes (`kernels`, `values`), the order in which nodes are looked at (`search`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.hierarchy.model import Hierarchy
from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.fulldomain.kernels import cheapest, count_sizes, price, roll_up
from anon_pipeline.recode.fulldomain.values import by_class, judge, least_distinct, merge, mistakes
from anon_pipeline.recode.loss import Kept
from anon_pipeline.recode.model import Task
from anon_pipeline.recode.rules import Rules
from anon_pipeline.recode.table import DistinctTuples
from anon_pipeline.risk.histograms import class_histograms

__all__ = ["NodeCount", "NodeTable", "NodeTables", "count_node", "node_table", "node_tables"]

_WORD = 62  # bits of a key in one word
_PLACES = 512  # tables that are kept, at most
_BYTES = 2**28
_STEPPED = 2_000  # classes of a table that is rolled up attribute by attribute
_FEW = 400  # classes of a table that is not worth keeping its parts
_ROWS = 2_000_000  # of one call of a kernel: less than half a second

Histograms = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class NodeTable:
    """The m classes of one node.

    levels: (q,).
    keys: (w, m); the code of each attribute in bits of its own.
    sizes: (m,) records.
    histograms: (m·a + 1,) where the values of a class and column begin; (d,) values, ascending; (d,) records
        of each. The a columns are those with limits, and the target last.
    """

    levels: tuple[int, ...]
    keys: NDArray[np.int64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    histograms: Histograms | None = field(repr=False)

    @property
    def bytes(self) -> int:
        """Size in memory."""
        arrays = (self.keys, self.sizes, *(self.histograms or ()))
        return sum(array.nbytes for array in arrays)


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


@dataclass(slots=True, eq=False)
class _Made:
    """The tables that are kept: the first is the whole table and stays.

    levels: (c, q); rows: (c,), 0 where there is none; used: (c,) when it was last.
    tables: by place; ``free``: places; ``bytes``: of all; ``clock``: of ``used`` and of the slots' stamps.
    """

    levels: NDArray[np.int64]
    rows: NDArray[np.int64]
    used: NDArray[np.int64]
    tables: dict[int, NodeTable]
    free: list[int]
    bytes: int = 0
    clock: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class NodeTables:
    """One table and its hierarchies, ready for the kernels.

    fields: (q, 3) word, shift and mask of each attribute in a key.
    codes: (x,) code on a level above of each code on a level: all pairs of levels, end to end.
    changes: q × h × h where the codes from one level to another begin.
    widths: q × h codes that occur on a level.
    cost: (y,) of a released cell of each code: all levels, end to end.
    prices: q × h where a level's costs begin, and its cost where all of its codes cost the same (else None).
    rules, least: what a class must keep; distinct values it needs.
    limit: records that may be suppressed, fewer than all of the ``records``.
    columns: a, of the histograms; ``labelled``: whether the last one is the target.
    keys, labels, sizes, order, slots: scratch for n classes; ``kept``: (2, n).
    values, seen: scratch for the histograms.
    made: tables that are kept; ``most_bytes``: of them.
    """

    fields: tuple[tuple[int, int, int], ...]
    codes: NDArray[np.int64] = field(repr=False)
    changes: tuple[tuple[tuple[int, ...], ...], ...] = field(repr=False)
    widths: tuple[tuple[int, ...], ...]
    cost: NDArray[np.int64] = field(repr=False)
    prices: tuple[tuple[tuple[int, int | None], ...], ...] = field(repr=False)
    rules: Rules = field(repr=False)
    least: NDArray[np.int64]
    limit: int
    records: int
    columns: int
    labelled: bool
    keys: NDArray[np.int64] = field(repr=False)
    labels: NDArray[np.int64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    order: NDArray[np.int64] = field(repr=False)
    slots: NDArray[np.int64] = field(repr=False)
    kept: NDArray[np.bool_] = field(repr=False)
    values: NDArray[np.int64] = field(repr=False)
    seen: NDArray[np.int64] = field(repr=False)
    made: _Made = field(repr=False)
    most_bytes: int


def _fields(hierarchies: Sequence[Hierarchy], word_bits: int) -> tuple[tuple[tuple[int, int, int], ...], int]:
    """Give each attribute bits of its own: word, shift, mask, (q, 3); and the number of words."""
    places, word, used = [], 0, 0
    for hierarchy in hierarchies:
        bits = (hierarchy.leaves - 1).bit_length()
        if used + bits > word_bits and used:
            word, used = word + 1, 0
        places.append((word, used, (1 << bits) - 1))
        used += bits
    return tuple(places), word + 1


def _changes(
    hierarchies: Sequence[Hierarchy],
) -> tuple[NDArray[np.int64], tuple[tuple[tuple[int, ...], ...], ...]]:
    """Lay out the code on each level above of each code on each level."""
    flat: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    starts, at = [], 0
    for hierarchy in hierarchies:
        own = []
        for below, lookup in enumerate(hierarchy.lookups):
            first = np.searchsorted(lookup, np.arange(int(lookup[-1]) + 1))
            row = []
            for above in range(hierarchy.height):
                row.append(at)
                if above > below:
                    flat.append(hierarchy.lookups[above][first].astype(np.int64))
                    at += len(first)
            own.append(tuple(row))
        starts.append(tuple(own))
    return np.concatenate(flat), tuple(starts)


def _prices(
    costs: Sequence[Sequence[NDArray[np.int64]]],
) -> tuple[NDArray[np.int64], tuple[tuple[tuple[int, int | None], ...], ...]]:
    """Lay out the costs, and say which levels cost the same for every cell."""
    flat = [cost for levels in costs for cost in levels]
    begins = iter(np.cumsum([0] + [len(cost) for cost in flat]).tolist())
    prices = tuple(
        tuple((next(begins), int(cost[0]) if cost.min() == cost.max() else None) for cost in levels)
        for levels in costs
    )
    return np.concatenate([np.zeros(0, np.int64), *flat]), prices


def _histograms(task: Task, table: DistinctTuples) -> Histograms | None:
    """Count the values of each limited column, and of the target, in every distinct tuple."""
    columns = [limit.codes for limit in task.constraints.sensitive]
    if task.loss == "classification" and task.target is not None:
        columns.append(task.target)
    if not columns:
        return None
    a, t = len(columns), len(table.counts)
    found = [class_histograms(codes, table.labels, m=t) for codes in columns]
    lengths = np.stack([np.diff(own.starts) for own in found], axis=1).reshape(-1)
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    values, counts = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.int64)
    for column, own in enumerate(found):
        shift = starts[column:-1:a] - own.starts[:-1]
        places = np.arange(len(own.codes)) + np.repeat(shift, np.diff(own.starts))
        values[places], counts[places] = own.codes, own.counts
    return starts, values, counts


def node_tables(
    task: Task, table: DistinctTuples, costs: Sequence[Sequence[NDArray[np.int64]]]
) -> NodeTables:
    """Lay out a table for `count_node`.

    Args:
        task: its hierarchies, constraints, target.
        table: its records.
        costs: of `cell_costs`, by attribute.
    """
    fields, words = _fields(task.hierarchies, _WORD)
    t, q = table.tuples.shape
    keys = np.zeros((words, t), np.int64)
    for attribute, (word, shift, _) in enumerate(fields):
        keys[word] |= table.tuples[:, attribute] << shift
    histograms = _histograms(task, table)
    base = NodeTable((0,) * q, keys, table.counts, histograms)
    made = _Made(
        np.zeros((_PLACES, q), np.int64),
        np.zeros(_PLACES, np.int64),
        np.zeros(_PLACES, np.int64),
        {0: base},
        list(range(_PLACES - 1, 0, -1)),
    )
    made.rows[0] = t
    codes, changes = _changes(task.hierarchies)
    cost, prices = _prices(costs)
    rules = rules_of(task.constraints)
    labelled = task.loss == "classification" and task.target is not None
    entries, most = 0, 0
    if histograms is not None:
        entries, most = len(histograms[1]), int(histograms[1].max()) + 1
    return NodeTables(
        fields=fields,
        codes=codes,
        changes=changes,
        widths=_widths(task.hierarchies, table),
        cost=cost,
        prices=prices,
        rules=rules,
        least=least_distinct(rules),
        limit=min(task.constraints.max_suppressed, table.records - 1),
        records=table.records,
        columns=len(task.constraints.sensitive) + labelled,
        labelled=labelled,
        keys=np.empty((words, t + 1), np.int64),
        labels=np.empty(t, np.int64),
        sizes=np.empty(t, np.int64),
        order=np.empty(t if histograms is not None else 0, np.int64),
        slots=np.zeros(2 << max(1, t - 1).bit_length(), np.int64),
        kept=np.empty((2, t), np.bool_),
        values=np.empty((4, entries), np.int64),
        seen=np.zeros(most, np.int64),
        made=made,
        most_bytes=_BYTES,
    )


def _widths(hierarchies: Sequence[Hierarchy], table: DistinctTuples) -> tuple[tuple[int, ...], ...]:
    """Count the codes that occur on each level of each attribute."""
    found = []
    for attribute, hierarchy in enumerate(hierarchies):
        present = np.flatnonzero(np.bincount(table.tuples[:, attribute], minlength=hierarchy.leaves))
        found.append(
            tuple(int(np.count_nonzero(np.diff(lookup[present]))) + 1 for lookup in hierarchy.lookups)
        )
    return tuple(found)


def _parts(rows: int, of: int) -> list[tuple[int, int]]:
    """Cut a loop over classes into calls that return before long."""
    return [(begin, min(begin + of, rows)) for begin in range(0, rows, of)]


def _rolled(tables: NodeTables, below: NodeTable, levels: tuple[int, ...], changed: list[int]) -> NodeTable:
    """Make the table of a node from one below it; keys and sizes lie in scratch space."""
    rows = len(below.sizes)
    fields = np.array(
        [(*tables.fields[j], tables.changes[j][below.levels[j]][levels[j]]) for j in changed], np.int64
    )
    made = tables.made
    made.clock += 1
    used, found = 2 << max(1, rows - 1).bit_length(), 0
    out = (tables.keys, tables.sizes, tables.labels)
    for begin, end in _parts(rows, _ROWS):
        found = roll_up(
            (below.keys, below.sizes),
            (fields, tables.codes),
            (tables.slots, made.clock, used),
            out,
            (begin, end, found),
        )
    histograms = None if below.histograms is None else _merged(tables, below, below.histograms, found)
    return NodeTable(levels, tables.keys[:, :found], tables.sizes[:found], histograms)


def _merged(tables: NodeTables, below: NodeTable, histograms: Histograms, found: int) -> Histograms:
    """Add up the histograms of the classes that become one, (found) of them."""
    rows, a, entries = len(below.sizes), tables.columns, len(histograms[1])
    first, order = np.empty(found + 1, np.int64), tables.order[:rows]
    by_class(tables.labels[:rows], first, order)
    starts = np.zeros(found * a + 1, np.int64)
    codes, weights, values, counts = tables.values[:, :entries]
    scratch, out = (codes, weights, tables.seen), (starts, values, counts)
    for begin, end in _parts(found, 500_000):
        merge(histograms, (first, order), out, scratch, (begin, end, a))
    return starts, values[: starts[-1]].copy(), counts[: starts[-1]].copy()


def _keep(tables: NodeTables, table: NodeTable) -> NodeTable:
    """Keep a table for the nodes above it, in place of those that were used longest ago."""
    made = tables.made
    own = NodeTable(table.levels, table.keys.copy(), table.sizes.copy(), table.histograms)
    if own.bytes > tables.most_bytes:
        return own
    while not made.free or made.bytes + own.bytes > tables.most_bytes:
        held = np.flatnonzero(made.rows[1:]) + 1
        oldest = int(held[made.used[held].argmin()])
        made.bytes -= made.tables.pop(oldest).bytes
        made.rows[oldest] = 0
        made.free.append(oldest)
    place = made.free.pop()
    made.levels[place], made.rows[place], made.used[place] = table.levels, len(table.sizes), made.clock
    made.tables[place] = own
    made.bytes += own.bytes
    return own


def node_table(tables: NodeTables, levels: Sequence[int]) -> NodeTable:
    """Find the classes of a node, from the smallest table at or below it.

    Returns:
        A table that may lie in scratch space: the next call overwrites it.
    """
    made, wanted = tables.made, tuple(levels)
    place = int(cheapest(made.levels, made.rows, np.array(wanted, np.int64)))
    made.used[place] = made.clock
    here = made.tables[place]
    while here.levels != wanted:
        changed = [j for j, (own, level) in enumerate(zip(here.levels, wanted, strict=True)) if own != level]
        rows, target = len(here.sizes), wanted
        if rows > _STEPPED and len(changed) > 1:
            widest = max(changed, key=partial(_gain, tables, here.levels, wanted))
            target = (*here.levels[:widest], wanted[widest], *here.levels[widest + 1 :])
            changed = [widest]
        found = _rolled(tables, here, target, changed)
        if rows > _FEW and (target is not wanted or 4 * len(found.sizes) < 3 * rows):
            found = _keep(tables, found)
        here = found
    return here


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
    if tables.labelled and table.histograms is not None:
        own, every = mistakes(table.histograms, table.sizes, kept, tables.columns)
    sums = _sums(tables, table, kept, tables.records - suppressed) if suppressed <= tables.limit else ()
    return Kept(suppressed, int(np.count_nonzero(kept)), squares, int(own), sums), int(every)


def count_node(tables: NodeTables, levels: Sequence[int]) -> NodeCount:
    """Count and price the classes of one node.

    Args:
        tables: of `node_tables`; its scratch is overwritten, tables made are kept.
        levels: (q,) level of each attribute.
    """
    table = node_table(tables, levels)
    m, sizes, columns = len(table.sizes), table.sizes, tables.columns
    lasting, kept = tables.kept[0, :m], tables.kept[1, :m]
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
