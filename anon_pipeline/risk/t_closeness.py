"""t-closeness: how far the sensitive values of a class are from those of the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.risk.capacity import refuse_areas, share_unit
from anon_pipeline.risk.histograms import ClassHistograms, class_histograms

Distance = Literal["ordered", "equal", "hierarchical"]


def t_closeness(
    codes: NDArray[np.integer],
    labels: NDArray[np.integer],
    *,
    whole: NDArray[np.integer],
    m: int,
    distance: Distance,
    lookups: Sequence[NDArray[np.integer]] | None = None,
) -> NDArray[np.float64]:
    """Measure the earth mover's distance between every class and the whole table.

    Args:
        codes: (r,) sensitive value of each released record, 0 … v−1; in order for ``ordered``.
        labels: (r,) class of each released record, 0 … m−1.
        whole: (v,) records of the whole table (the input, records suppressed later included) with each
            value. Values that do not occur are allowed; ``ordered`` leaves them out.
        m: number of classes, each with at least one record.
        distance: ``ordered`` for numbers and ordinals, ``equal`` for nominal values, ``hierarchical`` for
            values of a generalization hierarchy.
        lookups: for ``hierarchical``, h arrays (v,) with the code of each value on each level; the first
            is ``arange(v)``, the last all zero.
    Returns:
        Distance of each class in [0, 1], (m,). t is the largest one.
    Raises:
        ValueError: labels that are not compact, a value that the whole table lacks, no lookups for
            ``hierarchical`` or some that are not nested.
        InputError: more values than can be added up.
    Source:
        Li, Li, Venkatasubramanian (2007), section 4; [methods 8.2]. Hierarchical: the ground distance is
        level(LCA)/(h−1), so that values that meet at the top are 1 apart.
    """
    found = class_histograms(codes, labels, m=m)
    return t_closeness_of(found, whole=whole, distance=distance, lookups=lookups)


def t_closeness_of(
    found: ClassHistograms,
    *,
    whole: NDArray[np.integer],
    distance: Distance,
    lookups: Sequence[NDArray[np.integer]] | None = None,
) -> NDArray[np.float64]:
    """Measure the earth mover's distance between every class and the whole table, as `t_closeness` does.

    Args:
        found: values of each class.
    Returns:
        (m,) in [0, 1].
    """
    table = np.asarray(whole).astype(np.int64)
    if int(found.codes.max()) >= len(table) or not table[found.codes].all():
        raise ValueError("codes must occur in the whole table, got some that do not. Count the whole input.")
    if distance == "ordered":
        return _ordered_distances(found, table)
    if distance == "equal":
        return _equal(found, table)
    if distance == "hierarchical":
        return _hierarchical(found, table, _check_lookups(lookups, len(table)))
    raise ValueError(f"distance must be ordered, equal or hierarchical, got {distance!r}.")


def _ordered_distances(found: ClassHistograms, whole: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 1/(r−1)·Σ|cumulative difference| over the r values that occur; 0 for r = 1."""
    occurs = whole > 0
    ranks = (np.cumsum(occurs) - 1)[found.codes]
    below = np.cumsum(whole[occurs])
    if len(below) == 1:
        return np.zeros(len(found.sizes))
    refuse_areas(int(below[-1]), len(below))
    areas = np.concatenate((np.zeros(1, np.int64), np.cumsum(below)))
    prefixes = (below, areas, share_unit(int(below[-1])))
    sums = _cumulative_differences(found.starts, ranks, found.counts, found.sizes, prefixes)
    distances: NDArray[np.float64] = np.clip(sums / (len(below) - 1), 0.0, 1.0)
    return distances


@kernel
def flat_part(begin, end, level, size, prefixes):  # type: ignore[no-untyped-def]
    """Return Σ|level/size − Q_j| over begin ≤ j < end, Q_j the whole table's share at or below value j.

    Q grows, so the difference changes its sign once: bisect for it, and take both sides from prefix sums.
    ``prefixes``: Q as counts; their sums in front of each; `capacity.share_unit`.
    """
    below, areas, unit = prefixes
    n = below[-1]
    # level/size < below[j]/n exactly when below[j] > most. Where level·n has no room, a misjudged j is one
    # at which both sides are equal up to rounding.
    most = level * n // size if unit == 0 else np.int64(level / size * n)
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if below[middle] > most:
            high = middle
        else:
            low = middle + 1
    rest = (areas[end] - areas[low]) - (areas[low] - areas[begin])
    return level / size * (2 * low - begin - end) + rest / n


@kernel
def _cumulative_differences(starts, ranks, counts, sizes, prefixes):  # type: ignore[no-untyped-def]
    """Return Σ_j |P_j − Q_j| for each class, O(log v) for each of its distinct values.

    Between two values of a class its own share P is constant.
    """
    sums = np.zeros(len(sizes))
    for label in range(len(sizes)):
        begin, level = 0, 0
        for pair in range(starts[label], starts[label + 1]):
            sums[label] += flat_part(begin, ranks[pair], level, sizes[label], prefixes)
            begin = ranks[pair]
            level += counts[pair]
        sums[label] += flat_part(begin, len(prefixes[0]), level, sizes[label], prefixes)
    return sums


def _equal(found: ClassHistograms, whole: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return ½Σ|p − q|, as the mass above q: p can exceed q only where the class has a record."""
    share = found.counts / found.sizes[found.classes]
    return found.total(np.maximum(share - whole[found.codes] / whole.sum(), 0.0))


def _check_lookups(lookups: Sequence[NDArray[np.integer]] | None, leaves: int) -> list[NDArray[np.int64]]:
    """Return the lookups as int64 if they make a hierarchy over the leaves."""
    if not lookups:
        raise ValueError("lookups must be given for the hierarchical distance, got none.")
    levels = [np.asarray(lookup, np.int64) for lookup in lookups]
    if any(len(level) != leaves for level in levels):
        raise ValueError(f"lookups must have one entry for each of the {leaves} values.")
    if not np.array_equal(levels[0], np.arange(leaves)) or levels[-1].any():
        raise ValueError("lookups must begin with the values themselves and end with a single top.")
    for fine, coarse in pairwise(levels):
        if not np.array_equal(_parents(fine, coarse)[fine], coarse):
            raise ValueError("lookups must be nested, got a value with two parents.")
    return levels


def _parents(fine: NDArray[np.int64], coarse: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the parent on the next level of each code of a level."""
    parents = np.zeros(int(fine.max()) + 1, np.int64)
    parents[fine] = coarse
    return parents


def _hierarchical(
    found: ClassHistograms, whole: NDArray[np.int64], levels: list[NDArray[np.int64]]
) -> NDArray[np.float64]:
    """Return Σ cost(N), cost(N) = height(N)/H · min(pos_extra(N), neg_extra(N)), H = h − 1.

    Only nodes above a value of the class can cost: below all others every extra has one sign. extra is
    kept as an integer, p·n·size − q·n·size, and neg_extra follows from pos_extra − neg_extra = extra.
    """
    n, m = int(whole.sum()), len(found.sizes)
    highest = max(len(levels) - 1, 1)
    unit = share_unit(n, height=highest)
    classes, nodes, counts = found.classes, found.codes, found.counts
    extra = _surplus(counts, found.sizes[classes], whole[nodes], n, unit)
    cost = np.zeros(m)
    for height, (fine, coarse) in enumerate(pairwise(levels), start=1):
        width = int(coarse.max()) + 1
        pairs, place = np.unique(classes * width + _parents(fine, coarse)[nodes], return_inverse=True)
        positive = np.zeros(len(pairs), np.int64)
        np.add.at(positive, place, np.maximum(extra, 0))
        counts = np.bincount(place, weights=counts).astype(np.int64)
        classes, nodes = np.divmod(pairs, width)
        mass = np.bincount(coarse, weights=whole, minlength=width).astype(np.int64)
        extra = _surplus(counts, found.sizes[classes], mass[nodes], n, unit)
        less = np.maximum(np.minimum(positive, positive - extra), 0)
        cost += np.bincount(classes, weights=height * less, minlength=m)
    return cost / (highest * unit if unit else highest * n * found.sizes)


def _surplus(
    counts: NDArray[np.int64], sizes: NDArray[np.int64], mass: NDArray[np.int64], n: int, unit: int
) -> NDArray[np.int64]:
    """Return by how much shares of classes exceed those of the whole table, (d,), in n·size or ``unit``."""
    if unit == 0:
        return counts * n - mass * sizes
    return (counts / sizes * unit).astype(np.int64) - (mass / n * unit).astype(np.int64)
