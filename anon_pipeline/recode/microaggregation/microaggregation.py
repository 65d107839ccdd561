"""Microaggregation: clusters of similar records release what they have in common on average.

Belongs here: from a task to clusters to a recoding that keeps every limit. Does not belong here: how one
algorithm forms its clusters (`mdav`, `univariate`, `narrowing`, `swapping`, `merging`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.recode.constraints import broken, infeasible, rules_of
from anon_pipeline.recode.loss import CELL_LOSSES, measured_loss
from anon_pipeline.recode.microaggregation.centroids import Centroids, release_centroids
from anon_pipeline.recode.microaggregation.clusters import assign, make_clusters
from anon_pipeline.recode.microaggregation.geometry import center, measure
from anon_pipeline.recode.microaggregation.mdav import Growth, mdav_rounds, vmdav_rounds
from anon_pipeline.recode.microaggregation.merging import merged
from anon_pipeline.recode.microaggregation.narrowing import narrowed
from anon_pipeline.recode.microaggregation.space import Space, make_space, make_work
from anon_pipeline.recode.microaggregation.swapping import kanon_first
from anon_pipeline.recode.microaggregation.univariate import univariate
from anon_pipeline.recode.ranges import column_costs, make_axis
from anon_pipeline.recode.task import Recoding, SensitiveLimit, Task
from anon_pipeline.recode.tuples import DistinctTuples

__all__ = ["clusters_of", "microaggregation"]

_MERGING = ("merge", "kanon_first", "tclose_first")
_STEP = 50_000_000
"""Cells that one kernel call looks at: a tenth of a second or so."""


def _rounds(space: Space, left: int, passes: int) -> int:
    """Return how many clusters one kernel call may form."""
    return max(1, _STEP // (max(1, left) * passes * max(1, len(space.numbers) + len(space.categories))))


def _mdav(space: Space, k: int) -> NDArray[np.int64]:
    """Form clusters by MDAV, (n,)."""
    work, n = make_work(space, k), space.records
    labels, state = np.empty(n, np.int64), np.array([n, 0], np.int64)
    while state[0]:
        mdav_rounds(space.taxonomies, work, labels, state, k, _rounds(space, int(state[0]), 4))
        space.told(n - int(state[0]))
    return labels


def _vmdav(space: Space, k: int, gamma: float) -> NDArray[np.int64]:
    """Form clusters by V-MDAV, (n,); records left over join the cluster with the nearest centroid."""
    tree, work, n = space.taxonomies, make_work(space, k), space.records
    center(tree, work, n)
    measure(tree, work, 0, n)
    queue = np.lexsort((-work.ids, -work.distances))
    labels, state = np.full(n, -1, np.int64), np.array([n, 0, 0], np.int64)
    growth = Growth(labels, state, queue, np.empty(n), np.arange(n))
    while state[0] >= k:
        vmdav_rounds(tree, work, growth, k, gamma, _rounds(space, int(state[0]), 3 * k))
        space.told(n - int(state[0]))
    return _assigned(space, labels)


def _assigned(space: Space, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put each record without a cluster into the (first) one whose centroid is nearest, (n,)."""
    tree, work, left = space.taxonomies, make_work(space, 1), np.flatnonzero(labels < 0)
    if not len(left):
        return labels
    clusters, m = make_clusters(space, labels), int(labels.max()) + 1
    near = work._replace(
        numbers=np.ascontiguousarray(space.numbers[:, left]),
        categories=np.ascontiguousarray(space.categories[:, left]),
    )
    least, best, some = (
        np.full(len(left), np.inf),
        np.zeros(len(left), np.int64),
        _rounds(space, len(left), 1),
    )
    for begin in range(0, m, some):
        assign(tree, near, clusters, (begin, min(m, begin + some)), (least, best))
    found = labels.copy()
    found[left] = best
    return found


def _ordered_limit(limits: tuple[SensitiveLimit, ...]) -> int:
    """Return which sensitive column is sliced.

    Raises:
        ValueError: not exactly one ordered column has a t.
    """
    fitting = [j for j, x in enumerate(limits) if x.distance == "ordered" and x.t is not None]
    if len(fitting) != 1:
        raise ValueError(f"tclose_first must have one ordered sensitive column with t, got {len(fitting)}.")
    return fitting[0]


def _univariate(space: Space, k: int) -> NDArray[np.int64]:
    """Divide the one numeric column, (n,).

    Raises:
        ValueError: other columns than one numeric one.
    """
    if len(space.numbers) != 1 or len(space.categories):
        raise ValueError(
            f"univariate must have one numeric column alone, got {len(space.numbers)} numeric and "
            f"{len(space.categories)} others."
        )
    return univariate(space.numbers[0], k=k)


def clusters_of(task: Task, space: Space) -> NDArray[np.int64]:
    """Form clusters by the recoder that the task names.

    Args:
        task: recoder and limits.
        space: its n ≥ k records.
    Returns:
        (n,) cluster of each record, 0 … m−1, each of at least k. Those of ``merge``, ``kanon_first`` and
        ``tclose_first`` keep every limit, or are one cluster.
    Raises:
        ValueError: columns that do not fit the recoder.
    """
    k, limits = task.constraints.k, task.constraints.sensitive
    rules = rules_of(task.constraints)
    if task.recoder == "univariate":
        return _univariate(space, k)
    if task.recoder == "vmdav":
        return _vmdav(space, k, task.gamma)
    if task.recoder == "kanon_first":
        return merged(space, rules, kanon_first(space, rules, k=k))
    if task.recoder == "tclose_first":
        row = _ordered_limit(limits)
        return narrowed(space, rules, limit=row, t=limits[row].t or 0.0)
    labels = _mdav(space, k)
    return labels if task.recoder == "mdav" else merged(space, rules, labels)


def _kept(task: Task, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which records are released, (n,): those of classes that keep every limit.

    Args:
        task: its constraints; the limit on suppression.
        labels: (n,) class of each row, by released value.
    Raises:
        InfeasibleError: more than may be suppressed would be, or all.
    """
    kept = ~broken(task.constraints, labels)[labels]
    gone = int((~kept).sum())
    if gone > task.constraints.max_suppressed or not kept.any():
        advice = (
            "Raise t, lower l, or allow more suppression."
            if task.recoder in _MERGING
            else "Raise t, lower l, allow more suppression, or take the recoder merge, which makes clusters "
            "larger until all limits hold."
        )
        raise infeasible(task.constraints, labels, advice=advice)
    return kept


def _loss(task: Task, labels: NDArray[np.int64], kept: NDArray[np.bool_]) -> float:
    """Measure what the classes lose by their ranges, as Mondrian's do; what is suppressed loses all.

    Args:
        task: its loss and hierarchies.
        labels: (n,) class of each row.
        kept: (n,) whether it is released.
    """
    classes = np.full(len(labels), -1, np.int64)
    classes[kept] = np.unique(labels[kept], return_inverse=True)[1]
    if task.loss not in CELL_LOSSES:
        return measured_loss(task, classes)
    rows = np.flatnonzero(kept)
    rows = rows[np.argsort(classes[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(classes[rows], prepend=-1))
    costs = []
    for column, hierarchy in enumerate(task.hierarchies):
        axis = make_axis(hierarchy, task.codes[:, column])
        positions = axis.positions[task.codes[rows, column]]
        low, high = np.minimum.reduceat(positions, starts), np.maximum.reduceat(positions, starts)
        costs.append(column_costs(task, column, axis, low, high))
    return measured_loss(task, classes, costs)


def microaggregation(task: Task, table: DistinctTuples) -> Recoding:
    """Recode by microaggregation.

    Deterministic and independent of the row order. Classes are by released value: clusters that release the
    same are one class, which keeps what they keep (`merging.merged`).

    Args:
        task: ``mdav``, ``vmdav``, ``univariate``, which suppress the classes that break t or l; ``merge``,
            ``kanon_first``, ``tclose_first``, which avoid them. The clusters do not depend on its loss.
        table: its n ≥ k records.
    Returns:
        The recoding; its loss is that of the classes' ranges, its ``sse`` that of the released values.
    Raises:
        InfeasibleError: more would have to be suppressed than may be.
        ValueError: columns that do not fit the recoder.
    Source:
        [DB 3.2, chapter 7]; METHODS 4, 9.
    """
    space = make_space(task, table)
    found = release_centroids(space, task.hierarchies, clusters_of(task, space), k=task.constraints.k)
    codes = np.empty(space.codes.shape, np.int64)
    codes[space.order] = found.codes
    labels = equivalence_classes(codes).labels
    kept = _kept(task, labels)
    codes[~kept] = -1
    return Recoding(
        codes=codes,
        values=found.values,
        levels=None,
        loss=_loss(task, labels, kept),
        suppressed=int((~kept).sum()),
        checked=0,
        sse=_sse(found, kept[space.order]),
    )


def _sse(found: Centroids, kept: NDArray[np.bool_]) -> float:
    """Mean squared distance of a released cell from its original, in [0, 1]; in the order of the space."""
    return math.fsum(found.errors[kept]) / (int(kept.sum()) * max(1, found.codes.shape[1]))
