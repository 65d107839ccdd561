"""Mondrian: recode each class by its own ranges instead of a whole column by one level.

Belongs here: from distinct tuples to classes to a recoding. Does not belong here: where to cut
(`mondrian_kernels`), what a range releases (`recode.ranges`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.model import Recoding, Task
from anon_pipeline.recode.mondrian.kernels import Axes, Entries, partition
from anon_pipeline.recode.ranges import Axis, make_axis, range_costs, release_ranges
from anon_pipeline.recode.table import DistinctTuples

__all__ = ["mondrian", "mondrian_classes"]


def _axes(axes: Sequence[Axis]) -> Axes:
    """Lay the axes end to end for the kernel."""
    lengths = [len(axis.leaves) for axis in axes]
    return Axes(
        coordinates=np.concatenate([np.zeros(0), *(axis.coordinates for axis in axes)]),
        starts=np.cumsum([0, *lengths])[:-1].astype(np.int64),
        spans=np.array([axis.span for axis in axes], np.float64),
    )


def mondrian_classes(
    table: DistinctTuples, axes: Sequence[Axis], *, k: int, relaxed: bool
) -> NDArray[np.int64]:
    """Divide the records into classes of at least k.

    Args:
        table: n ≥ k records.
        axes: of its q columns.
        k: records in the smallest class, ≥ 1.
        relaxed: whether equal values, and even equal records, may be divided: then every class that still
            differs in something has fewer than 2·k records. Which of several equal records goes where
            follows their order; how many go where does not.
    Returns:
        (n,) class of each record, 0 … m−1.
    """
    positions = np.empty_like(table.tuples)
    for column, axis in enumerate(axes):
        positions[:, column] = axis.positions[table.tuples[:, column]]
    if not relaxed:
        return partition(Entries(positions, table.counts), _axes(axes), k, False)[table.labels]
    order = np.argsort(table.labels, kind="stable")
    entries = Entries(positions[table.labels[order]], np.ones(len(order), np.int64))
    labels = np.empty(len(order), np.int64)
    labels[order] = partition(entries, _axes(axes), k, True)
    return labels


def _ranges(
    table: DistinctTuples, axis: Axis, column: int, order: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Least and greatest position of each class on one axis, (m,) each."""
    positions = axis.positions[table.tuples[:, column]][table.labels][order]
    return np.minimum.reduceat(positions, starts), np.maximum.reduceat(positions, starts)


def mondrian(task: Task, table: DistinctTuples) -> Recoding:
    """Recode by Mondrian; nothing is suppressed.

    Args:
        task: with ``mondrian`` or ``mondrian_relaxed``; the cuts do not depend on its loss.
        table: its n ≥ k records.
    Source:
        LeFevre et al. (2006); [UT Alg. 3]; METHODS 4, 9.
    """
    axes = [
        make_axis(hierarchy, table.tuples[:, column]) for column, hierarchy in enumerate(task.hierarchies)
    ]
    labels = mondrian_classes(table, axes, k=task.constraints.k, relaxed=task.recoder == "mondrian_relaxed")
    sizes = np.bincount(labels)
    order, starts = np.argsort(labels, kind="stable"), np.cumsum(sizes) - sizes
    codes, values, losses = np.empty((table.records, len(axes)), np.int64), [], []
    for column, axis in enumerate(axes):
        low, high = _ranges(table, axis, column, order, starts)
        released = release_ranges(axis, low, high)
        codes[:, column] = released.codes[labels]
        values.append(released.values)
        costs, full = range_costs(axis, low, high, task.loss)
        losses.append(math.fsum(costs * sizes) / (full * table.records) if full else 0.0)
    return Recoding(
        codes=codes,
        values=tuple(values),
        levels=None,
        loss=(math.fsum(losses) / max(1, len(losses)) * table.records + task.gone)
        / (table.records + task.gone),
        suppressed=0,
        checked=0,
    )
