"""The recoder `tclose_first`: more clusters than Algorithm 6 makes, with less error.

(7.3) gives the size at which any record of each slice will do. Between (7.1) and (7.3) only some will, and
exchanges find them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.class_rules import Rules
from anon_pipeline.recode.microaggregation.centroids import error_of
from anon_pipeline.recode.microaggregation.crowds import Crowds, make_crowds
from anon_pipeline.recode.microaggregation.exchanges import exchange_some, mend_some
from anon_pipeline.recode.microaggregation.merge import make_limits, merge
from anon_pipeline.recode.microaggregation.slices import cluster_size, form_from_slices
from anon_pipeline.recode.microaggregation.slots import make_scale
from anon_pipeline.recode.microaggregation.space import Space

REACH = 128
"""Records nearest to a cluster that it may exchange members for."""
_PASSES = 8
"""Times that every record is offered an exchange, at most; later passes gain little."""
_MENDS = 3
"""Times that every cluster beyond t is offered exchanges, at most."""
_PROBES = 5
"""Numbers of clusters that are tried after the greatest."""
_EFFORT = 1_500_000_000
"""Cells that all passes look at, about: two passes over 30,000 records in fives, one over more."""
_STEP = 50_000_000


def _step(space: Space, clusters: int) -> tuple[int, int]:
    """Return how many clusters one kernel call looks after, and the cells that a pass over all looks at."""
    n, columns = space.records, max(1, len(space.numbers) + len(space.categories))
    cost = columns * (n + 8 * REACH * max(1, n // clusters))
    return max(1, _STEP // cost), cost * clusters


def _labels(crowds: Crowds) -> NDArray[np.int64]:
    """Cluster of each record, (n,)."""
    labels = np.empty(len(crowds.labels), np.int64)
    labels[crowds.work.ids] = crowds.labels
    return labels


def mend_clusters(
    space: Space, rules: Rules, labels: NDArray[np.int64], *, limit: int
) -> tuple[NDArray[np.int64], int]:
    """Exchange members of clusters beyond t in an ordered column, as long as that lowers the distances.

    Args:
        labels: (n,) cluster of each record, 0 … m−1.
        limit: row of ``space.sensitive``.
    Returns:
        (n,) new labels; how many clusters are still beyond t.
    """
    scale = make_scale(rules, limit, np.bincount(labels))
    reach = min(REACH, space.records)
    crowds = make_crowds(space, labels, limit=limit, scale=scale, reach=reach)
    m = len(crowds.excess)
    some = _step(space, m)[0]
    for _ in range(_MENDS):
        changed = 0
        for begin in range(0, m, some):
            changed += mend_some(space.taxonomies, crowds, scale, (begin, min(m, begin + some), reach))
        if not changed:
            break
    return _labels(crowds), int((crowds.excess > 0).sum())


def exchange_members(
    space: Space, rules: Rules, labels: NDArray[np.int64], *, limit: int
) -> NDArray[np.int64]:
    """Exchange members between clusters that keep all limits, as long as the error falls and they keep them.

    Args:
        labels: (n,) cluster of each record, 0 … m−1.
        limit: row of ``space.sensitive``: an ordered column with a t.
    Returns:
        (n,) new labels; the clusters' sizes are the same.
    """
    scale, limits = make_scale(rules, limit, np.bincount(labels)), make_limits(space, rules)
    reach = min(REACH, space.records)
    crowds = make_crowds(space, labels, limit=limit, scale=scale, reach=reach)
    m = len(crowds.excess)
    some, cost = _step(space, m)
    for _ in range(min(_PASSES, max(1, _EFFORT // cost)) if m > 1 else 0):
        changed = 0
        for begin in range(0, m, some):
            span = (begin, min(m, begin + some), reach)
            changed += exchange_some(space.taxonomies, limits, crowds, scale, span)
        if not changed:
            break
    return _labels(crowds)


def _clusters(labels: NDArray[np.int64]) -> int:
    return int(labels.max()) + 1


def _most(space: Space, rules: Rules, book: NDArray[np.int64], *, limit: int, t: float) -> NDArray[np.int64]:
    """Bisect for a number of clusters between the book's and (7.1)'s; return what left most of them."""
    n, best, low = space.records, book, _clusters(book)
    high = n // min(n, max(rules.k, math.ceil(1 / (4 * t)) if t > 0 else n))
    wanted = high
    for _ in range(1 + _PROBES):
        if wanted <= low:
            break
        found, beyond = mend_clusters(
            space, rules, form_from_slices(space, limit=limit, clusters=wanted), limit=limit
        )
        found = merge(space, rules, found)
        if _clusters(found) > _clusters(best):
            best = found
        low, high = (max(low, _clusters(best)), wanted) if beyond else (wanted, high)
        wanted = (low + high) // 2
    return best


def tclose_first(space: Space, rules: Rules, *, limit: int, t: float) -> NDArray[np.int64]:
    """Form many t-close clusters with little error: no fewer than Algorithm 6, no more error.

    Args:
        space: n ≥ k records.
        limit: row of ``space.sensitive``: the ordered column.
    Returns:
        (n,) cluster of each record, 0 … m−1. They keep every limit, or are one cluster.
    Source:
        [DB Alg. 6, Alg. 4]; the numbers of clusters between (7.1) and (7.3), and the exchanges, are ours.
    """
    n = space.records
    book = merge(
        space, rules, form_from_slices(space, limit=limit, clusters=n // cluster_size(n, k=rules.k, t=t))
    )
    most, error = _most(space, rules, book, limit=limit, t=t), error_of(space, book)
    for start in (most, book):
        found = exchange_members(space, rules, start, limit=limit)
        if error_of(space, found) <= error:
            return found
    return book
