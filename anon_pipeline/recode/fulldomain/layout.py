"""The arrays that counting lattice nodes needs, laid out once per table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.class_rules import Rules
from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.fulldomain.fast.shortcuts import Shortcuts, shortcuts
from anon_pipeline.recode.fulldomain.node_table import KeyField, NodeTable
from anon_pipeline.recode.fulldomain.values import least_distinct
from anon_pipeline.recode.task import Task
from anon_pipeline.recode.tuples import DistinctTuples

_WORD = 62  # bits of a key in one word
_MANY = 2**20  # rows; larger tables get half as many slots for each row


@dataclass(frozen=True, slots=True, eq=False)
class Scratch:
    """Space for the t classes of the whole table and their d values, which no node exceeds.

    keys: (w, t + 1); sizes: (t,); kept: (2, t).
    labels, order: (t,), or none where no values are counted.
    slots: (`hash_slots`,), of hashing.
    values: (4, d); seen: (v,) zeros, v the most values of a column.
    """

    keys: NDArray[np.int64] = field(repr=False)
    labels: NDArray[np.int64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    order: NDArray[np.int64] = field(repr=False)
    kept: NDArray[np.bool_] = field(repr=False)
    slots: NDArray[np.int32] = field(repr=False)
    values: NDArray[np.int64] = field(repr=False)
    seen: NDArray[np.int64] = field(repr=False)


def hash_slots(rows: int) -> int:
    """Return the number of hash slots for the classes of so many rows: a power of two, ≥ 2·rows.

    More slots mean fewer collisions; large tables get fewer, to save memory. More rows never get fewer slots.
    """
    return (2 if rows > _MANY else 4) << max(1, rows - 1).bit_length()


def _scratch(whole: NodeTable) -> Scratch:
    """Make the scratch space for a whole table."""
    words, t = whole.keys.shape
    values = np.zeros(0, np.int64) if whole.histograms is None else whole.histograms[1]
    counted = 0 if whole.histograms is None else t
    return Scratch(
        keys=np.empty((words, t + 1), np.int64),
        labels=np.empty(counted, np.int64),
        sizes=np.empty(t, np.int64),
        order=np.empty(counted, np.int64),
        kept=np.empty((2, t), np.bool_),
        slots=np.empty(hash_slots(t), np.int32),
        values=np.empty((4, len(values)), np.int64),
        seen=np.zeros(int(values.max(initial=-1)) + 1, np.int64),
    )


@dataclass(frozen=True, slots=True, eq=False)
class NodeTables:
    """One table and its hierarchies, ready for the kernels.

    whole: the ungeneralized table.
    key_fields: (q,) where each attribute is in a key.
    codes_above: (x,) code on a level above of each code on a level: all pairs of levels, end to end.
    codes_begin: q × h × h where the codes from one level to another begin.
    cell_costs: (y,) of a released cell of each code: all levels, end to end.
    level_costs: q × h where a level's costs begin, and its cost where all codes cost the same (else None).
    rules: what a class must keep.
    least_distinct: (a,) distinct values that a class needs.
    limit: records that may be suppressed, fewer than all of the ``records``.
    columns: a, of the histograms; ``labeled``: whether the last one is the target.
    scratch: used again for every node.
    shortcuts: to count faster; None where every node is counted from the whole table.
    """

    whole: NodeTable = field(repr=False)
    key_fields: tuple[KeyField, ...]
    codes_above: NDArray[np.int64] = field(repr=False)
    codes_begin: tuple[tuple[tuple[int, ...], ...], ...] = field(repr=False)
    cell_costs: NDArray[np.int64] = field(repr=False)
    level_costs: tuple[tuple[tuple[int, int | None], ...], ...] = field(repr=False)
    rules: Rules = field(repr=False)
    least_distinct: NDArray[np.int64]
    limit: int
    records: int
    columns: int
    labeled: bool
    scratch: Scratch = field(repr=False)
    shortcuts: Shortcuts | None = field(repr=False)


def key_fields(hierarchies: Sequence[Hierarchy], word_bits: int) -> tuple[tuple[KeyField, ...], int]:
    """Give each attribute bits of its own, (q,); and the number of words."""
    places, word, used = [], 0, 0
    for hierarchy in hierarchies:
        bits = (hierarchy.leaves - 1).bit_length()
        if used + bits > word_bits and used:
            word, used = word + 1, 0
        places.append(KeyField(word, used, (1 << bits) - 1))
        used += bits
    return tuple(places), word + 1


def _codes_above(
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


def _level_costs(
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


def _whole(task: Task, table: DistinctTuples) -> tuple[NodeTable, tuple[KeyField, ...]]:
    """Lay out the ungeneralized table, and say where each attribute is in its keys."""
    fields, words = key_fields(task.hierarchies, _WORD)
    (t, q), counted = table.tuples.shape, table.counted
    keys = np.zeros((words, t), np.int64)
    for attribute, (word, shift, _) in enumerate(fields):
        keys[word] |= table.tuples[:, attribute].astype(np.int64) << shift
    histograms = None if counted is None else (counted.starts, counted.values, counted.counts)
    return NodeTable((0,) * q, keys, table.counts, histograms), fields


def node_tables(
    task: Task,
    table: DistinctTuples,
    costs: Sequence[Sequence[NDArray[np.int64]]],
    *,
    limit: int | None = None,
    fast: bool = True,
) -> NodeTables:
    """Lay out a table for `nodes.count_node`.

    Args:
        task: its hierarchies and constraints.
        costs: of `cell_costs`, by attribute.
        limit: records that may be suppressed; None: as many as the task says, but not all of them.
        fast: whether to keep tables and to use cubes; the counts are the same.
    """
    whole, key_fields = _whole(task, table)
    leaves = [np.flatnonzero(np.bincount(own)) for own in table.tuples.T]
    codes_above, codes_begin = _codes_above(task.hierarchies)
    costs_of_cells, costs_of_levels = _level_costs(costs)
    rules, counted, records = rules_of(task.constraints), table.counted, table.records
    return NodeTables(
        whole=whole,
        key_fields=key_fields,
        codes_above=codes_above,
        codes_begin=codes_begin,
        cell_costs=costs_of_cells,
        level_costs=costs_of_levels,
        rules=rules,
        least_distinct=least_distinct(rules),
        limit=min(task.constraints.max_suppressed, records - 1) if limit is None else limit,
        records=records,
        columns=0 if counted is None else counted.columns,
        labeled=counted is not None and counted.labeled,
        scratch=_scratch(whole),
        shortcuts=shortcuts(whole, task.hierarchies, leaves, costs) if fast else None,
    )
