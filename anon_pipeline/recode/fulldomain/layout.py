"""The arrays that counting lattice nodes needs, laid out once per table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.class_rules import Rules
from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.fulldomain.cube_layout import CubeLayout, cube_layout
from anon_pipeline.recode.fulldomain.cubes import Cube
from anon_pipeline.recode.fulldomain.values import least_distinct
from anon_pipeline.recode.task import Task
from anon_pipeline.recode.tuples import DistinctTuples
from anon_pipeline.risk.histograms import class_histograms

_WORD = 62  # bits of a key in one word
_PLACES = 4096  # tables that are kept, at most
_BYTES = 2**28
_RECORDS = 2**31 - 1  # of a cube, at most
_CELLS = 2**22  # of a cube, at most
WORK = 16
"""Cells of a cube that are added up in the time that a class of a table takes."""

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


@dataclass(slots=True, eq=False)
class Made:
    """The tables that are kept: the first is the whole table and stays.

    levels: (c, q); work: (c,) of reading a table once, in cells of a cube, 0 where there is none; used: (c,)
        when it was last.
    tables: by place; ``free``: places; ``bytes``: of all; ``clock``: of ``used``.
    """

    levels: NDArray[np.int64]
    work: NDArray[np.int64]
    used: NDArray[np.int64]
    tables: dict[int, NodeTable | Cube]
    free: list[int]
    bytes: int = 0
    clock: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Scratch:
    """Space for the t classes of the whole table and their d values, which no node exceeds.

    keys: (w, t + 1); labels, sizes, order: (t,); kept: (2, t).
    slots: (power of two ≥ 4·t,), of hashing.
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


def _scratch(whole: NodeTable) -> Scratch:
    """Make the scratch space for a whole table."""
    words, t = whole.keys.shape
    values = np.zeros(0, np.int64) if whole.histograms is None else whole.histograms[1]
    return Scratch(
        keys=np.empty((words, t + 1), np.int64),
        labels=np.empty(t, np.int64),
        sizes=np.empty(t, np.int64),
        order=np.empty(t, np.int64),
        kept=np.empty((2, t), np.bool_),
        slots=np.empty(4 << max(1, t - 1).bit_length(), np.int32),
        values=np.empty((4, len(values)), np.int64),
        seen=np.zeros(int(values.max(initial=-1)) + 1, np.int64),
    )


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
    scratch: used again for every node.
    made: tables that are kept; ``most_bytes``: of them.
    cubes: their layout; ``cubed``: whether there are any: not where sensitive values or the target are asked.
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
    scratch: Scratch = field(repr=False)
    made: Made = field(repr=False)
    most_bytes: int
    cubes: CubeLayout = field(repr=False)
    cubed: bool


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
    if LOSSES[task.loss].labels and task.target is not None:
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


def _whole(task: Task, table: DistinctTuples) -> tuple[NodeTable, tuple[tuple[int, int, int], ...]]:
    """Lay out the ungeneralized table, and say where each attribute is in its keys."""
    fields, words = _fields(task.hierarchies, _WORD)
    t, q = table.tuples.shape
    keys = np.zeros((words, t), np.int64)
    for attribute, (word, shift, _) in enumerate(fields):
        keys[word] |= table.tuples[:, attribute] << shift
    return NodeTable((0,) * q, keys, table.counts, _histograms(task, table)), fields


def _made(whole: NodeTable) -> Made:
    """Keep the whole table, and make places for more."""
    levels = np.zeros((_PLACES, len(whole.levels)), np.int64)
    work, used = np.zeros(_PLACES, np.int64), np.zeros(_PLACES, np.int64)
    work[0] = len(whole.sizes) * WORK
    return Made(levels, work, used, {0: whole}, list(range(_PLACES - 1, 0, -1)))


def node_tables(
    task: Task, table: DistinctTuples, costs: Sequence[Sequence[NDArray[np.int64]]]
) -> NodeTables:
    """Lay out a table for `nodes.count_node`.

    Args:
        task: its hierarchies, constraints, target.
        table: its records.
        costs: of `cell_costs`, by attribute.
    """
    whole, fields = _whole(task, table)
    present = [np.flatnonzero(np.bincount(own)) for own in table.tuples.T]
    codes, changes = _changes(task.hierarchies)
    cost, prices = _prices(costs)
    rules = rules_of(task.constraints)
    labelled = LOSSES[task.loss].labels and task.target is not None
    return NodeTables(
        fields=fields,
        codes=codes,
        changes=changes,
        widths=tuple(
            tuple(int(np.count_nonzero(np.diff(lookup[own]))) + 1 for lookup in hierarchy.lookups)
            for hierarchy, own in zip(task.hierarchies, present, strict=True)
        ),
        cost=cost,
        prices=prices,
        rules=rules,
        least=least_distinct(rules),
        limit=min(task.constraints.max_suppressed, table.records - 1),
        records=table.records,
        columns=len(task.constraints.sensitive) + labelled,
        labelled=labelled,
        scratch=_scratch(whole),
        made=_made(whole),
        most_bytes=_BYTES,
        cubes=cube_layout(task.hierarchies, present, costs, cells=min(_CELLS, WORK * len(table.counts))),
        cubed=whole.histograms is None and table.records <= _RECORDS,
    )
