"""How each recoder of this family forms its clusters, as the table of recoders names them.

Each function takes the task and its n ≥ k records, and returns the cluster of each record, (n,), 0 … m−1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.microaggregation.clusters import assign, make_clusters
from anon_pipeline.recode.microaggregation.forest import divide_forest, grow, new_forest
from anon_pipeline.recode.microaggregation.geometry import center, measure
from anon_pipeline.recode.microaggregation.k_member import Extents, k_member_rest, k_member_rounds
from anon_pipeline.recode.microaggregation.kanon_first import kanon_first
from anon_pipeline.recode.microaggregation.mdav import Growth, mdav_rounds, vmdav_rounds
from anon_pipeline.recode.microaggregation.merge import merge
from anon_pipeline.recode.microaggregation.one_pass import Middles, even_out, join_nearest
from anon_pipeline.recode.microaggregation.space import Space, make_work
from anon_pipeline.recode.microaggregation.tclose_first import tclose_first
from anon_pipeline.recode.microaggregation.univariate import univariate
from anon_pipeline.recode.task import Task

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


def _assign_rest(space: Space, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put each record without a cluster into the (first) one whose centroid is nearest, (n,)."""
    tree, work, left = space.taxonomies, make_work(space, 1), np.flatnonzero(labels < 0)
    if not len(left):
        return labels
    clusters, m = make_clusters(space, labels), int(labels.max()) + 1
    near = work._replace(
        numbers=np.ascontiguousarray(space.numbers[:, left]),
        categories=np.ascontiguousarray(space.categories[:, left]),
    )
    least, best = np.full(len(left), np.inf), np.zeros(len(left), np.int64)
    some = _rounds(space, len(left), 1)
    for begin in range(0, m, some):
        assign(tree, near, clusters, (begin, min(m, begin + some)), (least, best))
    found = labels.copy()
    found[left] = best
    return found


def mdav_clusters(task: Task, space: Space) -> NDArray[np.int64]:
    """Form clusters by MDAV."""
    return _mdav(space, task.constraints.k)


def vmdav_clusters(task: Task, space: Space) -> NDArray[np.int64]:
    """Form clusters by V-MDAV: they grow by ``gamma``, and records left over join the nearest centroid."""
    k = task.constraints.k
    tree, work, n = space.taxonomies, make_work(space, k), space.records
    center(tree, work, n)
    measure(tree, work, 0, n)
    queue = np.lexsort((-work.ids, -work.distances))
    labels, state = np.full(n, -1, np.int64), np.array([n, 0, 0], np.int64)
    growth = Growth(labels, state, queue, np.empty(n), np.arange(n))
    while state[0] >= k:
        vmdav_rounds(tree, work, growth, k, task.gamma, _rounds(space, int(state[0]), 3 * k))
        space.told(n - int(state[0]))
    return _assign_rest(space, labels)


def _no_extents(space: Space, clusters: int) -> Extents:
    """Make room for what so many clusters cover."""
    numbers, categories = len(space.numbers), len(space.categories)
    return Extents(
        low=np.full((clusters, numbers), np.nan),
        high=np.full((clusters, numbers), np.nan),
        missing=np.zeros((clusters, numbers), np.bool_),
        concepts=np.zeros((clusters, categories), np.int64),
        sizes=np.zeros(clusters, np.int64),
        row=np.zeros(int(space.taxonomies.leaves[-1])),
    )


def k_member_clusters(task: Task, space: Space) -> NDArray[np.int64]:
    """Form clusters by k-member: they grow by what makes their ranges wider by least."""
    k, n, tree = task.constraints.k, space.records, space.taxonomies
    work, extents = make_work(space, k), _no_extents(space, n // k)
    labels, state = np.full(n, -1, np.int64), np.array([n, 0], np.int64)
    while state[0] >= k:
        k_member_rounds(tree, work, extents, (labels, state), k, _rounds(space, int(state[0]), k))
        space.told(n - int(state[0]))
    k_member_rest(tree, work, extents, (labels, state))
    return labels


def local_clusters(task: Task, space: Space) -> NDArray[np.int64]:
    """Form clusters by k-member, and merge them until each keeps every limit."""
    labels = k_member_clusters(task, space)
    if not task.constraints.sensitive:
        return labels
    return merge(space, rules_of(task.constraints), labels)


def forest_clusters(task: Task, space: Space) -> NDArray[np.int64]:
    """Form clusters of a forest of nearest records, and merge them until each keeps every limit."""
    k, n, tree = task.constraints.k, space.records, space.taxonomies
    starts = _equal_blocks(space, k)
    first, weights = starts[:-1], np.diff(starts)
    work = make_work(space, 1)._replace(
        numbers=np.ascontiguousarray(space.numbers[:, first]),
        categories=np.ascontiguousarray(space.categories[:, first]),
        distances=np.empty(len(first)),
    )
    extents, forest = _no_extents(space, 1), new_forest(weights)
    while forest.state[0] < len(first):
        grow(tree, work, extents, forest, k, _rounds(space, len(first), 1))
        space.told(min(n, int(starts[forest.state[0]])))
    labels = divide_forest(forest.above, starts, k=k)
    if not task.constraints.sensitive:
        return labels
    return merge(space, rules_of(task.constraints), labels)


def _equal_blocks(space: Space, k: int) -> NDArray[np.int64]:
    """Return where blocks of equal records begin, (B + 1,): of 2k or more, blocks of k are apart."""
    n = space.records
    starts = np.flatnonzero(np.r_[True, (space.codes[1:] != space.codes[:-1]).any(axis=1)])
    sizes = np.diff([*starts, n])
    inner = [np.arange(1, size // k) * k + start for start, size in zip(starts, sizes, strict=True)]
    return np.sort(np.concatenate([starts, *inner, [n]])).astype(np.int64)


def one_pass_clusters(task: Task, space: Space) -> NDArray[np.int64]:
    """Form n/k clusters by one-pass k-means, which begin with records at equal steps of the table's order.

    Source:
        Lin and Wei (2008), "An efficient clustering method for k-anonymization".
    """
    k, n, tree = task.constraints.k, space.records, space.taxonomies
    m = n // k
    labels = np.full(n, -1, np.int64)
    labels[np.arange(m) * n // m] = np.arange(m)
    clusters = make_clusters(space, labels)
    nodes = space.categories + tree.nodes[:-1].reshape(-1, 1)
    middles = Middles(
        numbers=np.ascontiguousarray(clusters.numbers.T),
        concepts=np.ascontiguousarray(clusters.concepts.T),
        distances=np.empty(m),
        points=np.ascontiguousarray(space.numbers.T),
        nodes=np.ascontiguousarray(nodes.T),
    )
    some = _rounds(space, m, 1)
    for begin in range(0, n, some):
        end = min(n, begin + some)
        join_nearest(tree, middles, space.categories, clusters, labels, (begin, end))
        space.told(end)
    even_out(tree, middles, clusters, labels, k)
    return labels


def univariate_clusters(task: Task, space: Space) -> NDArray[np.int64]:
    """Divide one numeric column optimally.

    Raises:
        ValueError: other columns than one numeric one.
    """
    if len(space.numbers) != 1 or len(space.categories):
        raise ValueError(
            f"univariate must have one numeric column alone, got {len(space.numbers)} numeric and "
            f"{len(space.categories)} others."
        )
    return univariate(space.numbers[0], k=task.constraints.k)


def merge_clusters(task: Task, space: Space) -> NDArray[np.int64]:
    """Form clusters by MDAV, and merge them until each keeps every limit."""
    return merge(space, rules_of(task.constraints), _mdav(space, task.constraints.k))


def kanon_first_clusters(task: Task, space: Space) -> NDArray[np.int64]:
    """Form clusters of k, exchange records between them for t, and merge what is left."""
    rules = rules_of(task.constraints)
    return merge(space, rules, kanon_first(space, rules, k=task.constraints.k))


def tclose_first_clusters(task: Task, space: Space) -> NDArray[np.int64]:
    """Form clusters that are t-close from the start, by slices of the one ordered column with a limit.

    Raises:
        ValueError: not exactly one ordered column has a t.
    """
    limits = task.constraints.sensitive
    fitting = [j for j, x in enumerate(limits) if x.distance == "ordered" and x.t is not None]
    if len(fitting) != 1:
        raise ValueError(f"tclose_first must have one ordered sensitive column with t, got {len(fitting)}.")
    row = fitting[0]
    return tclose_first(space, rules_of(task.constraints), limit=row, t=limits[row].t or 0.0)
