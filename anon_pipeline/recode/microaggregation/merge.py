"""Merging clusters until every limit is kept: Algorithm 4."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.class_rules import START, Rules
from anon_pipeline.recode.microaggregation.clusters import Clusters, centroid, make_clusters, members_of
from anon_pipeline.recode.microaggregation.excess import KEPT, Limits, Tallies, judge
from anon_pipeline.recode.microaggregation.geometry import Taxonomies, centroid_distance
from anon_pipeline.recode.microaggregation.space import Space

_STEP = 20_000_000
"""Work of one kernel call, in cells: some tenths of a second at most."""


@kernel
def _judge_some(limits: Limits, clusters: Clusters, begin: int, end: int) -> None:
    """Write by how much some clusters miss their limits."""
    for cluster in range(begin, end):
        kept, found = judge(limits, members_of(clusters, cluster))
        clusters.excess[cluster] = KEPT if kept else found


@kernel
def join_nearest(tree: Taxonomies, clusters: Clusters, place: int) -> int:
    """Merge the cluster at a place of ``alive`` with its nearest; the lesser number stays and is returned."""
    # Find the nearest, of equally near ones that of the least number.
    worst, best, least = clusters.alive[place], -1, np.inf
    for other_place in range(clusters.left[0]):
        other = clusters.alive[other_place]
        if other == worst:
            continue
        found = centroid_distance(
            tree,
            (clusters.numbers[worst], clusters.numbers[other]),
            (clusters.concepts[worst], clusters.concepts[other]),
        )
        if found < least or (found == least and other < clusters.alive[best]):
            best, least = other_place, found
    kept: int = min(worst, clusters.alive[best])
    gone = max(worst, clusters.alive[best])
    # Put the chain of the members of the one that goes before that of the other.
    record = clusters.heads[gone]
    while clusters.following[record] >= 0:
        record = clusters.following[record]
    clusters.following[record] = clusters.heads[kept]
    clusters.heads[kept] = clusters.heads[gone]
    # Add up what centroids are made of.
    clusters.sizes[kept] += clusters.sizes[gone]
    clusters.sums[kept] += clusters.sums[gone]
    clusters.known[kept] += clusters.known[gone]
    # The last one alive takes the place of the one that goes.
    out = best if clusters.alive[best] == gone else place
    clusters.left[0] -= 1
    clusters.alive[out] = clusters.alive[clusters.left[0]]
    return kept


@kernel
def _worst(clusters: Clusters) -> int:
    """Place of the cluster with the greatest excess, of equal ones the least number; −1 if all keep."""
    found = -1
    for place in range(clusters.left[0]):
        cluster = clusters.alive[place]
        if clusters.excess[cluster] == KEPT:
            continue
        best = clusters.alive[found] if found >= 0 else -1
        if (
            found < 0
            or clusters.excess[cluster] > clusters.excess[best]
            or (clusters.excess[cluster] == clusters.excess[best] and cluster < best)
        ):
            found = place
    return found


@kernel
def _merge_some(
    tree: Taxonomies, categories: NDArray[np.int64], limits: Limits, clusters: Clusters, step: int
) -> bool:
    """Merge the worst cluster with its nearest repeatedly; return whether there is more to do."""
    cells = len(categories) + clusters.sums.shape[1] + len(limits.sensitive)
    while step > 0:
        place = _worst(clusters)
        if place < 0 or clusters.left[0] == 1:
            return False
        step -= clusters.left[0] * cells
        cluster = join_nearest(tree, clusters, place)
        members = members_of(clusters, cluster)
        step -= len(members) * cells
        centroid(tree, categories, clusters, cluster, members)
        kept, found = judge(limits, members)
        clusters.excess[cluster] = KEPT if kept else found
    return True


def make_limits(space: Space, rules: Rules) -> Limits:
    """Put limits and sensitive values together, with room to count those of a class of any size."""
    columns, n = space.sensitive.shape
    widest = int(np.diff(rules.columns[START]).max(initial=0))
    values, counts = np.zeros((2, max(1, columns) * n), np.int64)
    ends, seen, own = np.zeros(columns, np.int64), np.zeros(widest, np.int64), np.zeros(n, np.int64)
    room = Tallies(values, counts, ends, seen, own, np.ones(n, np.int64))
    return Limits(rules, space.sensitive, room)


def _labels(clusters: Clusters, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the clusters that are left 0 … in the order of their first numbers, (n,)."""
    names = np.empty(len(labels), np.int64)
    for label, cluster in enumerate(np.sort(clusters.alive[: clusters.left[0]])):
        names[members_of(clusters, cluster)] = label
    return names


def merge(space: Space, rules: Rules, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Merge the cluster that misses its limits most with the nearest one, until all keep them.

    Limits that a class keeps are kept by the union of two such classes: the distances of t-closeness are
    convex, and of l-diversity the distinct values grow, entropy is concave, and r₁ − c·(r_l + …) is at most
    the sum of the two. So this ends with all limits kept, or with one cluster.

    Args:
        labels: (n,) cluster of each record, 0 … m−1.
    Returns:
        (n,) new labels.
    Source:
        [DB Alg. 4]; of several limits the one that is missed most says which cluster is worst (`excess`).
    """
    if not len(space.sensitive):
        return labels
    clusters, limits = make_clusters(space, labels), make_limits(space, rules)
    m = len(clusters.sizes)
    for begin in range(0, m, 2_000):
        _judge_some(limits, clusters, begin, min(m, begin + 2_000))
    while _merge_some(space.taxonomies, space.categories, limits, clusters, _STEP):
        pass
    return _labels(clusters, labels)
