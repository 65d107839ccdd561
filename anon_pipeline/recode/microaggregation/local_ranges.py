"""Local recoding: clusters of similar records release the ranges that they cover, each cell its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.recode.by_record import ByRecord
from anon_pipeline.recode.microaggregation.microaggregation import clusters_of, kept_records, range_loss
from anon_pipeline.recode.microaggregation.space import make_space
from anon_pipeline.recode.ranges import make_axis, release_ranges
from anon_pipeline.recode.task import Recoding, Task


def _release(
    task: Task, records: ByRecord, labels: NDArray[np.int64]
) -> tuple[NDArray[np.int64], tuple[NDArray[np.object_], ...]]:
    """Return what each record releases, (n, q), and the values that this indexes.

    Args:
        labels: (n,) cluster of each row.
    """
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    codes, values = np.empty((len(labels), len(task.hierarchies)), np.int64), []
    for column, hierarchy in enumerate(task.hierarchies):
        own = records.table.tuples[:, column]
        axis = make_axis(hierarchy, own)
        positions = axis.positions[own[records.labels[order]]]
        low, high = np.minimum.reduceat(positions, starts), np.maximum.reduceat(positions, starts)
        released = release_ranges(axis, low, high)
        codes[:, column] = released.codes[labels]
        values.append(released.values)
    return codes, tuple(values)


def local_ranges(task: Task, records: ByRecord) -> Recoding:
    """Recode by clusters: numbers become ``[min, max]`` of their cluster, categories the lowest common value.

    Deterministic and independent of the row order. Clusters that release the same are one class, which keeps
    what they keep (`merge.merge`).

    Args:
        task: with a recoder of this family. The clusters do not depend on its loss.
        records: n ≥ k of them.
    Raises:
        InfeasibleError: more would have to be suppressed than may be.
    Source:
        Byun et al. (2007); [methods 4, 9.1].
    """
    space = make_space(task, records)
    labels = np.empty(records.records, np.int64)
    labels[space.order] = clusters_of(task, space)
    return ranges_of(task, records, labels)


def ranges_of(task: Task, records: ByRecord, labels: NDArray[np.int64]) -> Recoding:
    """Release the ranges of clusters; classes that break a limit are suppressed.

    Args:
        labels: (n,) cluster of each row, 0 … m−1.
    Raises:
        InfeasibleError: more would have to be suppressed than may be.
    """
    codes, values = _release(task, records, labels)
    classes = equivalence_classes(codes).labels
    kept = kept_records(task, records, classes)
    codes[~kept] = -1
    return Recoding(
        codes=codes,
        values=values,
        levels=None,
        loss=range_loss(task, records, classes, kept),
        suppressed=int((~kept).sum()),
        checked=0,
    )
