"""Mondrian: recode each class by its own ranges instead of a whole column by one level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import equivalence_classes, group_rows
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.losses import WEIGHED
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.recode.constraints import broken_classes, infeasible_error, rules_of
from anon_pipeline.recode.loss import measured_loss
from anon_pipeline.recode.mondrian.kernels import advance
from anon_pipeline.recode.mondrian.state import Axes, State, initial_state
from anon_pipeline.recode.ranges import Axis, column_costs, make_axis, release_ranges
from anon_pipeline.recode.task import Progress, Recoding, Task
from anon_pipeline.recode.tuples import DistinctTuples

CELLS_AT_ONCE = 2**24
"""Cells that the kernel looks at between two chances to interrupt it; some hundredths of a second."""

_ADVICE = (
    "Mondrian suppresses no record, so the whole table must keep every limit: relax that one, or try a "
    "recoder that suppresses."
)


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """The n records in m classes, each a range on each of q axes.

    labels: (n,) class of each record, 0 … m−1.
    sizes: (m,) records of each class.
    low: (q, m) least position of each class; ``high``: greatest position.
    """

    labels: NDArray[np.int64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    low: NDArray[np.int64] = field(repr=False)
    high: NDArray[np.int64] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """Records with the same tuple and sensitive values, in an order that does not depend on the row order.

    first: (e,) a record of each entry.
    weights: (e,) records of each.
    labels: (n,) entry of each record.
    """

    first: NDArray[np.int64] = field(repr=False)
    weights: NDArray[np.int64] = field(repr=False)
    labels: NDArray[np.int64] = field(repr=False)


def mondrian_entries(task: Task, table: DistinctTuples) -> _Entries:
    """Group records that no cut can tell apart."""
    sensitive = [limit.codes for limit in task.constraints.sensitive]
    if not sensitive:
        first = np.empty(len(table.counts), np.int64)
        first[table.labels] = np.arange(table.records)
        return _Entries(first, table.counts, table.labels)
    first, labels, weights = group_rows(np.stack([table.labels, *sensitive], axis=1))
    return _Entries(first, weights.astype(np.int64), labels)


def mondrian_relaxed_entries(task: Task, table: DistinctTuples) -> _Entries:
    """Make every record an entry, by tuple; within one, the sensitive values dealt out evenly.

    Any beginning of a tuple's records then has nearly the sensitive values of all of them. Of equal ones, the
    task's target decides.
    """
    constraints, groups = task.constraints, mondrian_entries(task, table)
    order = np.lexsort((*([] if task.target is None else [task.target]), groups.labels))
    ranks = np.empty(table.records, np.int64)
    ranks[order] = np.arange(table.records) - np.repeat(
        np.cumsum(groups.weights) - groups.weights, groups.weights
    )
    if constraints.sensitive:
        shares = (2 * ranks + 1) / (2 * groups.weights)[groups.labels]
        order = np.lexsort((groups.labels, shares, table.labels))
    labels = np.empty(table.records, np.int64)
    labels[order] = np.arange(table.records)
    return _Entries(order, np.ones(table.records, np.int64), labels)


def _axes(axes: Sequence[Axis]) -> Axes:
    """Lay the axes end to end for the kernel."""
    lengths = [len(axis.leaves) for axis in axes]
    return Axes(
        coordinates=np.concatenate([np.zeros(0), *(axis.coordinates for axis in axes)]),
        starts=np.cumsum([0, *lengths])[:-1].astype(np.int64),
        spans=np.array([axis.span for axis in axes], np.float64),
    )


def _begun(task: Task, table: DistinctTuples, axes: Sequence[Axis], entries: _Entries) -> State:
    """Lay the entries out for the kernel."""
    sensitive = task.constraints.sensitive
    tuples = table.labels[entries.first]
    cells = np.empty((len(axes) + len(sensitive), len(entries.weights)), np.int32)
    for column, axis in enumerate(axes):
        cells[column] = axis.positions[table.tuples[:, column]][tuples]
    for row, limit in enumerate(sensitive, start=len(axes)):
        cells[row] = limit.codes[entries.first]
    lengths = [1, *(len(axis.leaves) for axis in axes), *(len(limit.whole) for limit in sensitive)]
    return initial_state(cells, entries.weights.copy(), max(lengths))


def mondrian_classes(task: Task, table: DistinctTuples, axes: Sequence[Axis]) -> Partition:
    """Divide the records into classes that keep k, t and l.

    Args:
        task: with ``mondrian`` or, where equal values and even equal records may be divided,
            ``mondrian_relaxed``. The whole table keeps its constraints.
        table: its n ≥ 1 records.
    Returns:
        The classes. A cut is made where both halves keep everything. The widest axis is tried first: its cut
        at the median, then its others by how far the halves are from equal (all near the median, ever fewer
        far from it: see `tries`), relaxed ones last; then the next axis. Which of several equal records goes
        where follows their order; how many go where, with which sensitive values, does not.
    """
    recoder = recoder_of(task.recoder)
    relaxed, entries = recoder.by_order, import_entry(recoder.algorithm)(task, table)
    state, rules, lines = _begun(task, table, axes, entries), rules_of(task.constraints), _axes(axes)
    while advance(state, lines, rules, relaxed, CELLS_AT_ONCE):  # between two portions Ctrl-C is heard
        done = int(state.weights[: state.progress[1]].sum())
        task.told(Progress("dividing", done, table.records - done))
    begins = state.begins[: state.progress[2]]
    owners = np.empty(len(state.entries), np.int64)
    owners[state.entries] = np.repeat(
        np.arange(len(begins)), np.diff(begins, append=np.int64(len(state.entries)))
    )
    ranges = state.cells[: len(axes)]
    return Partition(
        labels=owners[entries.labels],
        sizes=np.add.reduceat(state.weights, begins),
        low=np.minimum.reduceat(ranges, begins, axis=1).astype(np.int64),
        high=np.maximum.reduceat(ranges, begins, axis=1).astype(np.int64),
    )


def _measure(task: Task, axes: Sequence[Axis], found: Partition, labels: NDArray[np.int64]) -> float:
    """Measure the loss that was asked for, in [0, 1], records gone before counted as suppressed.

    Args:
        labels: (n,) class of each record by released value, for the measures of whole classes.
    """
    if task.loss not in WEIGHED:
        return measured_loss(task, labels)
    costs = [
        column_costs(task, column, axis, found.low[column], found.high[column])
        for column, axis in enumerate(axes)
    ]
    return measured_loss(task, found.labels, costs)


def mondrian(task: Task, table: DistinctTuples) -> Recoding:
    """Recode by Mondrian; nothing is suppressed, whatever the limit.

    Two classes may release the same values and be one class to whoever reads them: it keeps what both keep,
    for distances are convex, entropies concave, and of a recursive ratio's two counts the first grows at most
    as fast as the rest. It is measured all the same.

    Args:
        task: with ``mondrian`` or ``mondrian_relaxed``; the cuts do not depend on its loss.
    Raises:
        InfeasibleError: the table as one class does not keep the constraints.
    Source:
        LeFevre et al. (2006); [UT Alg. 3]; [methods 4, 9.1].
    """
    limits, whole = task.constraints, np.zeros(table.records, np.int64)
    if broken_classes(limits, whole).any():
        raise infeasible_error(limits, whole, advice=_ADVICE)
    axes = [
        make_axis(hierarchy, table.tuples[:, column]) for column, hierarchy in enumerate(task.hierarchies)
    ]
    found = mondrian_classes(task, table, axes)
    codes, values = np.empty((table.records, len(axes)), np.int64, order="F"), []
    for column, axis in enumerate(axes):
        released = release_ranges(axis, found.low[column], found.high[column])
        codes[:, column] = released.codes[found.labels]
        values.append(released.values)
    if limits.sensitive:
        labels = equivalence_classes(codes).labels
        if broken_classes(limits, labels).any():  # by rounding alone
            raise infeasible_error(limits, labels, advice="Raise t by 1e-9.")
    return Recoding(
        codes=codes,
        values=tuple(values),
        levels=None,
        loss=_measure(task, axes, found, equivalence_classes(codes).labels),
        suppressed=0,
        checked=0,
    )
