"""What a cluster releases: the mean of its numbers or days, the concept nearest to its categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.hierarchy.levels_of_values import number_text
from anon_pipeline.recode.microaggregation.clusters import Clusters, make_clusters
from anon_pipeline.recode.microaggregation.geometry import Taxonomies
from anon_pipeline.recode.microaggregation.space import Space


@dataclass(frozen=True, slots=True, eq=False)
class Centroids:
    """What n records release.

    codes: (n, q) index into ``values``; equal values have equal codes.
    values: q arrays of released values.
    errors: (n,) squared distance (9.7) of each record from the centroid of its cluster, by (9.7)'s units.
    """

    codes: NDArray[np.int64] = field(repr=False)
    values: tuple[NDArray[np.object_], ...] = field(repr=False)
    errors: NDArray[np.float64] = field(repr=False)


def decimals(numbers: NDArray[np.float64]) -> int:
    """Return how many decimals the shortest writing of most numbers needs; one long one does not decide.

    Args:
        numbers: (n,) of all records, NaN for missing.

    >>> decimals(np.array([1.5, 20.25, 0.25, 17.123456, np.nan])), decimals(np.array([1.0, 2.0, 2.5]))
    (2, 0)
    """
    distinct, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    exponents = [Decimal(number_text(number)).as_tuple().exponent for number in distinct.tolist()]
    needed = np.array([max(0, -own) if isinstance(own, int) else 0 for own in exponents], np.int64)
    order = np.argsort(needed, kind="stable")
    upto = np.cumsum(counts[order])
    return int(needed[order][np.searchsorted(2 * upto, upto[-1], side="right")]) if len(upto) else 0


def _is_date(value: object, coordinate: float) -> bool:
    """Whether a leaf is written as the day that its coordinate counts from 1970."""
    return abs(coordinate) < 2**31 and str(np.datetime64(int(coordinate), "D")) == str(value)


def _texts(hierarchy: Hierarchy, column: NDArray[np.int64], means: NDArray[np.float64]) -> list[object]:
    """Write means: a day as a date, a number with a decimal more than most of the column's own have.

    Args:
        hierarchy: of a numeric column.
        column: (n,) leaf of each record.
        means: (m,) NaN for missing.
    """
    coordinates = hierarchy.coordinates
    assert coordinates is not None  # noqa: S101 - numeric
    leaves = np.unique(column)
    own = coordinates[leaves]
    known = {str(hierarchy.values[0][leaf]): hierarchy.values[0][leaf] for leaf in leaves.tolist()}
    numbers, digits = leaves[~np.isnan(own)], decimals(coordinates[column]) + 1
    if len(numbers) and _is_date(hierarchy.values[0][numbers[0]], coordinates[numbers[0]]):
        days = np.floor(means + 0.5)
        texts = [None if np.isnan(day) else str(np.datetime64(int(day), "D")) for day in days.tolist()]
    else:
        texts = [None if mean != mean else number_text(round(mean, digits)) for mean in means.tolist()]  # noqa: PLR0124
    return [known.get(text, text) if text is not None else None for text in texts]


def _values_at(hierarchy: Hierarchy, means: NDArray[np.float64]) -> list[object]:
    """Return the value on the rank nearest to each mean rank, (m,); the lower of two."""
    ranks = np.ceil(means - 0.5)
    return [None if np.isnan(rank) else hierarchy.values[0][int(rank)] for rank in ranks.tolist()]


def _means(
    coordinates: NDArray[np.float64], order: NDArray[np.int64], starts: NDArray[np.int64], *, k: int
) -> NDArray[np.float64]:
    """Mean of the numbers of each cluster, (m,); missing where most are, or all but fewer than k.

    A mean of fewer than k numbers would reveal more of each than a class of k; of one, everything.

    Args:
        coordinates: (n,) NaN for missing.
        order: (n,) records by cluster. starts: (m,) where each cluster begins.
        k: records of a class.
    """
    own = coordinates[order]
    absent = np.isnan(own)
    sizes = np.diff(starts, append=len(order))
    known = sizes - np.add.reduceat(absent, starts, dtype=np.int64)
    low = np.fmin.reduceat(own, starts)
    high = np.fmax.reduceat(own, starts)
    share = np.where(absent, 0.0, own / 2 - np.repeat(low / 2, sizes)) / np.repeat(
        np.maximum(known, 1), sizes
    )
    means = np.clip((low / 2 + np.add.reduceat(share, starts)) * 2, low, high)
    return np.where((2 * known >= sizes) & (known >= np.minimum(k, sizes)), means, np.nan)


def _code(found: Sequence[object]) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
    """Number values that are written alike alike: codes (m,), values."""
    ranks: dict[str | None, int] = {}
    firsts: list[object] = []
    codes = np.empty(len(found), np.int64)
    for cluster, value in enumerate(found):
        text = None if value is None else str(value)
        if text not in ranks:
            ranks[text] = len(firsts)
            firsts.append(value)
        codes[cluster] = ranks[text]
    values = np.empty(len(firsts), np.object_)
    values[:] = firsts
    return codes, values


def _concept_values(
    hierarchy: Hierarchy,
    tree: Taxonomies,
    column: int,
    leaves: NDArray[np.int64],
    concepts: NDArray[np.int64],
) -> list[object]:
    """Return the released value of each concept, by way of one leaf below it."""
    start, width = tree.starts[column], tree.leaves[column + 1] - tree.leaves[column]
    ups = tree.ups[start : start + width * tree.heights[column]]
    nodes, where = np.unique(ups, return_index=True)
    levels, below = np.divmod(where, width)
    found: dict[int, object] = {}
    for node, level, leaf in zip(nodes.tolist(), levels.tolist(), below.tolist(), strict=True):
        found[node] = hierarchy.values[level][hierarchy.lookups[level][leaves[leaf]]]
    return [found[concept] for concept in concepts.tolist()]


@kernel
def _errors(
    space: tuple[NDArray[np.float64], NDArray[np.int64]],
    tree: Taxonomies,
    clusters: Clusters,
    labels: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Squared distance of each record from the centroid of its cluster, (n,)."""
    numbers, categories = space
    errors = np.zeros(len(labels))
    for record in range(len(labels)):
        label = labels[record]
        # Numbers; a missing value is 1 from every other, 0 from a missing one.
        for column in range(len(numbers)):
            off = numbers[column, record] - clusters.numbers[label, column]
            if not np.isnan(off):
                errors[record] += off * off
            elif np.isnan(numbers[column, record]) != np.isnan(clusters.numbers[label, column]):
                errors[record] += 1.0
        # Categories: climb from the leaf and from the centroid's concept to where they meet.
        for column in range(len(categories)):
            node, concept, level = (
                tree.nodes[column] + categories[column, record],
                clusters.concepts[label, column],
                0,
            )
            while level < tree.levels[concept]:
                node = tree.parents[node]
                level += 1
            while node != concept:
                node, concept, level = tree.parents[node], tree.parents[concept], level + 1
            own = tree.levels[clusters.concepts[label, column]]
            errors[record] += tree.squares[column, own, 0, level]
    return errors


def error_of(space: Space, labels: NDArray[np.int64]) -> float:
    """Sum the squared distances (9.7) of n records from the centroids of their clusters 0 … m−1, (n,)."""
    cells = space.numbers, space.categories
    return math.fsum(_errors(cells, space.taxonomies, make_clusters(space, labels), labels))


def release_centroids(
    space: Space, hierarchies: Sequence[Hierarchy], labels: NDArray[np.int64], *, k: int
) -> Centroids:
    """Say what the records of each cluster release.

    Args:
        labels: (n,) cluster of each record, 0 … m−1.
        k: records of a cluster, at least; a mean is of so many numbers.
    Returns:
        Numbers: the mean, rounded to one decimal more than most of the column's own values have; dates: the
        mean day; ordered values: the one on the mean rank; missing where more than half of the cluster is, or
        all but fewer than k.
        Categories: the concept with the least marginality (9.4).
    """
    clusters, tree = make_clusters(space, labels), space.taxonomies
    order = np.argsort(labels, kind="stable")
    starts = np.cumsum(clusters.sizes) - clusters.sizes
    codes, values = np.empty(space.codes.shape, np.int64), [np.empty(0, np.object_)] * len(hierarchies)
    for column, hierarchy in enumerate(hierarchies):
        leaves = np.unique(space.codes[:, column])
        if (places := hierarchy.places) is not None:
            means = _means(places[space.codes[:, column]], order, starts, k=k)
            clusters.numbers[np.isnan(means), space.numeric.index(column)] = np.nan
            own = space.codes[:, column]
            found = _values_at(hierarchy, means) if hierarchy.ordered else _texts(hierarchy, own, means)
        else:
            row = space.nominal.index(column)
            found = _concept_values(hierarchy, tree, row, leaves, clusters.concepts[:, row])
        ranks, values[column] = _code(found)
        codes[:, column] = ranks[labels]
    errors = _errors((space.numbers, space.categories), tree, clusters, labels)
    return Centroids(codes, tuple(values), errors)
