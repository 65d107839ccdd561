"""One-pass k-means: each record joins the nearest of n/k growing clusters, then sizes are evened out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.microaggregation.clusters import Clusters, centroid, members_of
from anon_pipeline.recode.microaggregation.geometry import Taxonomies, meeting_level


class Middles(NamedTuple):
    """The centroids of m clusters, column by column, and the records as points.

    numbers: (a, m) and concepts: (b, m) of the centroids. distances: (m,) squared, out.
    points: (n, a) numbers and nodes: (n, b) of each record.
    """

    numbers: NDArray[np.float64]
    concepts: NDArray[np.int64]
    distances: NDArray[np.float64]
    points: NDArray[np.float64]
    nodes: NDArray[np.int64]


@kernel
def _measure(tree: Taxonomies, middles: Middles, record: int) -> None:
    """Write the squared distance (9.7) of a record from every centroid."""
    out = middles.distances
    out[:] = 0.0
    for column in range(len(middles.numbers)):
        own, value = middles.numbers[column], middles.points[record, column]
        if np.isnan(value):
            for cluster in range(len(out)):
                out[cluster] += 0.0 if np.isnan(own[cluster]) else 1.0
        else:
            for cluster in range(len(out)):
                square = (own[cluster] - value) * (own[cluster] - value)
                out[cluster] += square if square == square else 1.0  # noqa: PLR0124 - vectorizes, isnan does not
    for column in range(len(middles.concepts)):
        concepts, node = middles.concepts[column], middles.nodes[record, column]
        for cluster in range(len(out)):
            level = tree.levels[concepts[cluster]]
            meeting = meeting_level(tree, concepts[cluster], node)
            out[cluster] += tree.squares[column, level, 0, meeting]


@kernel
def _nearest(distances: NDArray[np.float64], sizes: NDArray[np.int64], below: int) -> int:
    """First of the nearest clusters that have fewer records than ``below``."""
    best, least = -1, np.inf
    for cluster in range(len(distances)):
        if distances[cluster] < least and sizes[cluster] < below:
            best, least = cluster, distances[cluster]
    return best


@kernel
def join_nearest(
    tree: Taxonomies,
    middles: Middles,
    categories: NDArray[np.int64],
    clusters: Clusters,
    labels: NDArray[np.int64],
    span: tuple[int, int],
) -> None:
    """Let some records join the cluster with the nearest centroid, which moves with each of them.

    Args:
        middles: the centroids of the clusters; move with them. categories: (b, n) leaves of each record.
        labels: (n,) in and out: cluster of each record, −1 without.
        span: the records, from the first one to before the last one; those in a cluster are passed over.
    """
    numbers = middles.points
    for record in range(span[0], span[1]):
        if labels[record] >= 0:
            continue
        _measure(tree, middles, record)
        best = _nearest(middles.distances, clusters.sizes, len(labels) + 1)
        labels[record] = best
        clusters.following[record] = clusters.heads[best]
        clusters.heads[best] = record
        clusters.sizes[best] += 1
        for column in range(numbers.shape[1]):
            if not np.isnan(numbers[record, column]):
                clusters.sums[best, column] += numbers[record, column]
                clusters.known[best, column] += 1
        centroid(tree, categories, clusters, best, members_of(clusters, best))
        middles.numbers[:, best] = clusters.numbers[best]
        middles.concepts[:, best] = clusters.concepts[best]


@kernel
def _expel(
    tree: Taxonomies,
    middles: Middles,
    clusters: Clusters,
    labels: NDArray[np.int64],
    k: int,
) -> None:
    """Take the records that are farthest from their centroid out of clusters of more than k."""
    for cluster in range(len(clusters.alive)):
        members = members_of(clusters, cluster)
        distances = np.empty(len(members))
        for place in range(len(members)):
            _measure(tree, middles, members[place])
            distances[place] = middles.distances[cluster]
        for place in np.argsort(distances, kind="mergesort")[k:]:
            labels[members[place]] = -1
        clusters.sizes[cluster] = min(k, len(members))


@kernel
def even_out(
    tree: Taxonomies,
    middles: Middles,
    clusters: Clusters,
    labels: NDArray[np.int64],
    k: int,
) -> None:
    """Let every cluster have at least k records: what large ones have too many of fills up the small ones.

    Centroids stay where they are.

    Args:
        middles, labels: of `join_nearest`, all records being in a cluster.
    """
    _expel(tree, middles, clusters, labels, k)
    wanting = 0
    for size in clusters.sizes:
        wanting += max(0, k - size)
    for record in range(len(labels)):
        if labels[record] >= 0:
            continue
        _measure(tree, middles, record)
        best = _nearest(middles.distances, clusters.sizes, k if wanting > 0 else len(labels) + 1)
        labels[record] = best
        wanting -= int(clusters.sizes[best] < k)
        clusters.sizes[best] += 1
