"""Clusters in the kernels' terms: their members, their centroids, what is near to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.microaggregation.excess import KEPT
from anon_pipeline.recode.microaggregation.geometry import Taxonomies, Work, aim, best_concept, measure
from anon_pipeline.recode.microaggregation.space import Space


class Clusters(NamedTuple):
    """m clusters; those that live are the first of ``alive``.

    alive: (m,) clusters. heads: (m,) first record; following: (n,) next record of the cluster, −1 at the end.
    sizes: (m,) records. sums, known: (m, a) of the numbers. numbers: (m, a) and concepts: (m, b): centroid.
    excess: (m,) by how much a cluster misses its limits, KEPT where it does not.
    counts: (N,) scratch, all zero. left: (1,) clusters that live.
    """

    alive: NDArray[np.int64]
    heads: NDArray[np.int64]
    following: NDArray[np.int64]
    sizes: NDArray[np.int64]
    sums: NDArray[np.float64]
    known: NDArray[np.int64]
    numbers: NDArray[np.float64]
    concepts: NDArray[np.int64]
    excess: NDArray[np.float64]
    counts: NDArray[np.int64]
    left: NDArray[np.int64]


@kernel
def members_of(clusters: Clusters, cluster: int) -> NDArray[np.int64]:
    """Records of a cluster, ascending."""
    members = np.empty(clusters.sizes[cluster], np.int64)
    record, found = clusters.heads[cluster], 0
    while record >= 0:
        members[found] = record
        record = clusters.following[record]
        found += 1
    return np.sort(members)


@kernel
def _concept(tree: Taxonomies, column: int, leaves: NDArray[np.int64], counts: NDArray[np.int64]) -> int:
    """Centroid by marginality of some records' leaves; ``counts`` is zero before and after."""
    for leaf in leaves:
        node = tree.nodes[column] + leaf
        while node >= 0:
            counts[node] += 1
            node = tree.parents[node]
    best = best_concept(tree, counts, column, np.unique(leaves), len(leaves))
    for leaf in leaves:
        node = tree.nodes[column] + leaf
        while node >= 0:
            counts[node] = 0
            node = tree.parents[node]
    return best


@kernel
def centroid(
    tree: Taxonomies,
    categories: NDArray[np.int64],
    clusters: Clusters,
    cluster: int,
    members: NDArray[np.int64],
) -> None:
    """Write the centroid of a cluster: mean, or missing if most are; concept by marginality."""
    for column in range(clusters.sums.shape[1]):
        known = clusters.known[cluster, column]
        clusters.numbers[cluster, column] = (
            clusters.sums[cluster, column] / known if 2 * known >= len(members) else np.nan
        )
    for column in range(len(categories)):
        own = categories[column][members]
        clusters.concepts[cluster, column] = _concept(tree, column, own, clusters.counts)


@kernel
def centroids(
    tree: Taxonomies, categories: NDArray[np.int64], clusters: Clusters, begin: int, end: int
) -> None:
    """Write the centroids of some clusters."""
    for cluster in range(begin, end):
        centroid(tree, categories, clusters, cluster, members_of(clusters, cluster))


@kernel
def assign(
    tree: Taxonomies,
    work: Work,
    clusters: Clusters,
    span: tuple[int, int],
    found: tuple[NDArray[np.float64], NDArray[np.int64]],
) -> None:
    """Lower each record's distance to the nearest of some clusters' centroids, and note which one that is."""
    least, best = found
    for cluster in range(span[0], span[1]):
        work.target[:] = clusters.numbers[cluster]
        work.concepts[:] = clusters.concepts[cluster]
        aim(tree, work.concepts, work.row)
        measure(tree, work, 0, len(best))
        for place in range(len(best)):
            if work.distances[place] < least[place]:
                least[place], best[place] = work.distances[place], cluster


def make_clusters(space: Space, labels: NDArray[np.int64]) -> Clusters:
    """Describe the clusters 0 … m−1 of n records; their limits are not asked yet.

    Args:
        labels: (n,) cluster of each; −1 for a record that is in none.
    """
    sizes = np.bincount(labels[labels >= 0])
    m, order = len(sizes), np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    starts = np.cumsum(sizes) - sizes
    following = np.full(space.records, -1, np.int64)
    following[order[:-1]] = np.where(labels[order[:-1]] == labels[order[1:]], order[1:], -1)
    known = ~np.isnan(space.numbers[:, order])
    sums = np.add.reduceat(np.where(known, space.numbers[:, order], 0.0), starts, axis=1)
    clusters = Clusters(
        alive=np.arange(m),
        heads=order[starts],
        following=following,
        sizes=sizes.astype(np.int64),
        sums=np.ascontiguousarray(sums.T),
        known=np.ascontiguousarray(np.add.reduceat(known, starts, axis=1, dtype=np.int64).T),
        numbers=np.zeros((m, len(space.numbers))),
        concepts=np.zeros((m, len(space.categories)), np.int64),
        excess=np.full(m, KEPT),
        counts=np.zeros(len(space.taxonomies.levels), np.int64),
        left=np.array([m], np.int64),
    )
    for begin in range(0, m, 2_000):
        centroids(space.taxonomies, space.categories, clusters, begin, min(m, begin + 2_000))
    return clusters
