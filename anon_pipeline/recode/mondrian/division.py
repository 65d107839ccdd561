"""Entries divided by cuts until no allowable cut is left: what strict and relaxed Mondrian share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import group_rows
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.recode.by_record import ByRecord
from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.joint import Joint
from anon_pipeline.recode.mondrian.cuts import Cuts
from anon_pipeline.recode.mondrian.kernels import advance
from anon_pipeline.recode.mondrian.state import Axes, State, initial_state
from anon_pipeline.recode.ranges import Axis, make_axis
from anon_pipeline.recode.task import Progress, Task
from anon_pipeline.recode.tuples import DistinctTuples

CELLS_AT_ONCE = 2**24
"""Cells that the kernel looks at between two chances to interrupt it; some hundredths of a second."""


class Entries(NamedTuple):
    """What cuts divide, e entries in an order that does not depend on the row order.

    tuples: (e,) tuple of each.
    values: (a, e) values of the limited columns.
    weights: (e,) records of each.
    records: (e,) the record that each is, where every record is an entry; empty otherwise.
    """

    tuples: NDArray[np.int64]
    values: NDArray[np.int64]
    weights: NDArray[np.int64]
    records: NDArray[np.int64]


class Ranges(NamedTuple):
    """p parts, each a range on each of q axes.

    sizes: (p,) records of each part.
    low: (q, p) least position of each part; ``high``: greatest position.
    cuts: between the parts.
    """

    sizes: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    cuts: Cuts


def mondrian_entries(task: Task, joint: Joint) -> Entries:
    """Treat records that no cut can separate as one entry."""
    return Entries(joint.tuples, joint.values, joint.weights, np.zeros(0, np.int64))


def mondrian_relaxed_entries(task: Task, records: ByRecord) -> Entries:
    """Make every record an entry, by tuple; within one, the sensitive values dealt out evenly.

    Any beginning of a tuple's records then has nearly the sensitive values of all of them. Of equal ones, the
    task's target decides.
    """
    n, groups = records.records, records.labels
    if records.sensitive:
        groups = group_rows(np.stack([records.labels, *records.sensitive], axis=1))[1]
    weights = np.bincount(groups)
    order = np.lexsort((*([] if records.target is None else [records.target]), groups))
    ranks = np.empty(n, np.int64)
    ranks[order] = np.arange(n) - np.repeat(np.cumsum(weights) - weights, weights)
    if records.sensitive:
        shares = (2 * ranks + 1) / (2 * weights)[groups]
        order = np.lexsort((groups, shares, records.labels))
    values = np.array([row[order] for row in records.sensitive], np.int64)
    return Entries(
        records.labels[order],
        values.reshape(len(records.sensitive), n),
        np.ones(n, np.int64),
        order,
    )


def axes_of(task: Task, table: DistinctTuples) -> list[Axis]:
    """Return the number line of each quasi-identifier."""
    return [
        make_axis(hierarchy, table.tuples[:, column]) for column, hierarchy in enumerate(task.hierarchies)
    ]


def lines_of(axes: Sequence[Axis]) -> Axes:
    """Lay the axes end to end for the kernel."""
    lengths = [len(axis.leaves) for axis in axes]
    return Axes(
        coordinates=np.concatenate([np.zeros(0), *(axis.coordinates for axis in axes)]),
        starts=np.cumsum([0, *lengths])[:-1].astype(np.int64),
        spans=np.array([axis.span for axis in axes], np.float64),
    )


def _begun(task: Task, table: DistinctTuples, axes: Sequence[Axis], entries: Entries) -> State:
    """Lay the entries out for the kernel."""
    sensitive = task.constraints.sensitive
    cells = np.empty((len(axes) + len(sensitive), len(entries.weights)), np.int32)
    for column, axis in enumerate(axes):
        cells[column] = axis.positions[table.tuples[:, column]][entries.tuples]
    cells[len(axes) :] = entries.values
    lengths = [1, *(len(axis.leaves) for axis in axes), *(len(limit.whole) for limit in sensitive)]
    return initial_state(cells, entries.weights.copy(), max(lengths))


def divide(
    task: Task, table: DistinctTuples, axes: Sequence[Axis], entries: Entries
) -> tuple[Ranges, NDArray[np.int64]]:
    """Divide entries into parts that keep k, t and l.

    Args:
        task: with ``mondrian`` or, where equal values and even equal records may be divided,
            ``mondrian_relaxed``. The whole table keeps its constraints.
        table: the distinct tuples that the entries have.
    Returns:
        The parts; part of each entry, (e,).

    A cut is made where both halves keep everything. The widest axis is tried first: its cut at the median,
    then its others by how far the halves are from equal (all near the median, ever fewer far from it: see
    `tries`), relaxed ones last; then the next axis. Which of several equal records goes where follows their
    order; how many go where, with which sensitive values, does not.
    """
    relaxed = recoder_of(task.recoder).by_order
    state, rules, lines = _begun(task, table, axes, entries), rules_of(task.constraints), lines_of(axes)
    records = table.records
    while advance(state, lines, rules, relaxed, CELLS_AT_ONCE):  # between two portions Ctrl-C is heard
        done = int(state.weights[: state.progress[1]].sum())
        task.told(Progress("dividing", done, records - done))
    begins = state.begins[: state.progress[2]]
    owners = np.empty(len(state.entries), np.int64)
    owners[state.entries] = np.repeat(
        np.arange(len(begins)), np.diff(begins, append=np.int64(len(state.entries)))
    )
    ranges = state.cells[: len(axes)]
    found = Ranges(
        sizes=np.add.reduceat(state.weights, begins),
        low=np.minimum.reduceat(ranges, begins, axis=1).astype(np.int64),
        high=np.maximum.reduceat(ranges, begins, axis=1).astype(np.int64),
        cuts=Cuts(*state.cuts[:, begins[1:]].astype(np.int64)),
    )
    return found, owners
