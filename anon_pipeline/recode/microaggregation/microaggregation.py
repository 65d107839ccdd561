"""Microaggregation: clusters of similar records release what they have in common on average."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.losses import LOSSES, WEIGHED
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.recode.by_record import ByRecord
from anon_pipeline.recode.constraints import broken_classes, infeasible_error
from anon_pipeline.recode.contents import contents_of_records
from anon_pipeline.recode.microaggregation.centroids import Centroids, release_centroids
from anon_pipeline.recode.microaggregation.space import Space, make_space
from anon_pipeline.recode.partition_loss import measured_loss
from anon_pipeline.recode.ranges import column_costs, make_axis
from anon_pipeline.recode.task import Recoding, Task
from anon_pipeline.recode.tuples import leaf_counts


def clusters_of(task: Task, space: Space) -> NDArray[np.int64]:
    """Form clusters by the recoder that the task names.

    Args:
        space: its n ≥ k records.
    Returns:
        (n,) cluster of each record, 0 … m−1, each of at least k. Those of a recoder that keeps the limits
        keep every one, or are one cluster.
    Raises:
        ValueError: columns that do not fit the recoder.
    """
    labels: NDArray[np.int64] = import_entry(recoder_of(task.recoder).algorithm)(task, space)
    return labels


def kept_records(task: Task, records: ByRecord, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which records are released, (n,): those of classes that keep every limit.

    Args:
        labels: (n,) class of each row, by released value.
    """
    classes = records.contents(labels)
    kept = ~broken_classes(task.constraints, classes)[labels]
    gone = int((~kept).sum())
    if gone > task.constraints.max_suppressed or not kept.any():
        recoder = recoder_of(task.recoder)
        advice = (
            "Make the classes larger, lower k or l, raise t, or allow more suppression."
            if "classes" in recoder.options
            else "Raise t, lower l, or allow more suppression."
            if recoder.keeps_limits
            else "Raise t, lower l, allow more suppression, or take the recoder merge, which makes clusters "
            "larger until all limits hold."
        )
        raise infeasible_error(task.constraints, classes, advice=advice)
    return kept


def range_loss(task: Task, records: ByRecord, labels: NDArray[np.int64], kept: NDArray[np.bool_]) -> float:
    """Measure what the classes lose by their ranges, as Mondrian's do; what is suppressed loses all.

    Args:
        labels: (n,) class of each row.
        kept: (n,) whether it is released.
    """
    classes = np.full(len(labels), -1, np.int64)
    classes[kept] = np.unique(labels[kept], return_inverse=True)[1]
    contents = contents_of_records(classes, (), records.target if LOSSES[task.loss].labels else None)
    if task.loss not in WEIGHED:
        return measured_loss(task, contents)
    rows = np.flatnonzero(kept)
    rows = rows[np.argsort(classes[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(classes[rows], prepend=-1))
    costs, leaves = [], leaf_counts(records.table, task.hierarchies)
    for column, hierarchy in enumerate(task.hierarchies):
        own = records.table.tuples[:, column]
        axis = make_axis(hierarchy, own)
        positions = axis.positions[own[records.labels[rows]]]
        low, high = np.minimum.reduceat(positions, starts), np.maximum.reduceat(positions, starts)
        costs.append(column_costs(task.loss, axis, low, high, leaves[column]))
    return measured_loss(task, contents, costs)


def microaggregation(task: Task, records: ByRecord) -> Recoding:
    """Recode by microaggregation.

    Deterministic and independent of the row order. Classes are by released value: clusters that release the
    same are one class, which keeps what they keep (`merge.merge`).

    Args:
        task: with a recoder that suppresses the classes that break t or l, or one that avoids them. The
            clusters do not depend on its loss.
        records: n ≥ k of them.
    Returns:
        The recoding; its loss is that of the classes' ranges, its ``sse`` that of the released values.
    Raises:
        InfeasibleError: more would have to be suppressed than may be.
        ValueError: columns that do not fit the recoder.
    Source:
        [DB 3.2, chapter 7]; [methods 4, 9.1].
    """
    space = make_space(task, records)
    found = release_centroids(space, task.hierarchies, clusters_of(task, space), k=task.constraints.k)
    codes = np.empty(space.codes.shape, np.int64)
    codes[space.order] = found.codes
    labels = equivalence_classes(codes).labels
    kept = kept_records(task, records, labels)
    codes[~kept] = -1
    return Recoding(
        codes=codes,
        values=found.values,
        levels=None,
        loss=range_loss(task, records, labels, kept),
        suppressed=int((~kept).sum()),
        checked=0,
        sse=_sse(found, kept[space.order]),
    )


def _sse(found: Centroids, kept: NDArray[np.bool_]) -> float:
    """Mean squared distance of a released cell from its original, in [0, 1]; in the order of the space."""
    return math.fsum(found.errors[kept]) / (int(kept.sum()) * max(1, int(found.codes.shape[1])))
