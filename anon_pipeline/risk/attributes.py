"""What an attacker learns of a sensitive attribute without knowing which record is whose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.risk.histograms import ClassHistograms, class_histograms, class_sizes
from anon_pipeline.risk.t_closeness import Distance


@dataclass(frozen=True, slots=True)
class OpenClasses:
    """How much of a release is open to an attack.

    classes: classes that are.
    records: released records in them.
    share: the same as a share of all released records, in [0, 1].
    """

    classes: int
    records: int
    share: float


def count_open_classes(beyond: NDArray[np.bool_], sizes: NDArray[np.integer]) -> OpenClasses:
    """Count the classes that an attack succeeds on, and their records.

    Homogeneity: ``class_homogeneity(…) >= 1`` (or a lower certainty); skewness: ``class_skewness(…) >
    limit``;
    similarity: ``class_similarity(…) <= limit``.

    Args:
        beyond: (m,) whether the attack succeeds on the class.
        sizes: (m,) released records of each class, each ≥ 1.
    Raises:
        ValueError: no class, or an empty one.

    >>> count_open_classes(np.array([True, False]), np.array([2, 6]))
    OpenClasses(classes=1, records=2, share=0.25)
    """
    if len(sizes) == 0 or int(sizes.min()) < 1:
        raise ValueError("sizes must hold at least one class of at least one record. No attack is defined.")
    records = int(sizes[beyond].sum())
    return OpenClasses(int(np.count_nonzero(beyond)), records, records / int(sizes.sum()))


def class_homogeneity(
    codes: NDArray[np.integer], labels: NDArray[np.integer], *, m: int
) -> NDArray[np.float64]:
    """Compute how sure an attacker can be of the most frequent sensitive value of every class.

    Args:
        codes: (r,) sensitive value of each record, an integer ≥ 0.
        labels: (r,) class of each record, 0 … m−1.
        m: number of classes, each with at least one record.
    Returns:
        Its share in each class, (m,), in (0, 1]; exactly 1 where the class is homogeneous.
    Raises:
        ValueError: labels that are not compact.
    Source:
        Homogeneity attack: Machanavajjhala et al. (2007); [DB 6].
    """
    found = class_histograms(codes, labels, m=m)
    return np.maximum.reduceat(found.counts, found.starts[:-1]) / found.sizes


def class_skewness(
    codes: NDArray[np.integer], labels: NDArray[np.integer], *, whole: NDArray[np.integer], m: int
) -> NDArray[np.float64]:
    """Compute how many times as likely a sensitive value becomes by knowing the class.

    Args:
        codes: (r,) sensitive value of each released record, 0 … v−1.
        labels: (r,) class of each released record, 0 … m−1.
        whole: (v,) records of the whole input with each value.
        m: number of classes, each with at least one record.
    Returns:
        The largest share in the class divided by the share in the whole input, (m,), > 0: with 1 % ill in
        the input, a class with 50 % ill has 50.
    Raises:
        ValueError: labels that are not compact, or a value that the whole table lacks.
    Source:
        Skewness attack: Li et al. (2007), section 3; [DB 6.2].
    """
    table, found = np.asarray(whole).astype(np.int64), class_histograms(codes, labels, m=m)
    if int(found.codes.max()) >= len(table) or not table[found.codes].all():
        raise ValueError("codes must occur in the whole table, got some that do not. Count the whole input.")
    gains = found.counts / found.sizes[found.classes] * (int(table.sum()) / table[found.codes])
    return np.maximum.reduceat(gains, found.starts[:-1])


def class_similarity(
    codes: NDArray[np.integer],
    labels: NDArray[np.integer],
    *,
    m: int,
    distance: Distance,
    lookups: Sequence[NDArray[np.integer]] | None = None,
    occurring: NDArray[np.integer] | None = None,
) -> NDArray[np.float64]:
    """Compute how far apart the two most different sensitive values of every class are.

    Args:
        codes: (r,) sensitive value of each record, an integer ≥ 0; in order for ``ordered``.
        labels: (r,) class of each record, 0 … m−1.
        m: number of classes, each with at least one record.
        distance: ``ordered``: difference of ranks, divided by the largest; ``equal``: 0 for one value, else
            1; ``hierarchical``: the lowest level on which all values of the class are one, divided by the
            highest.
        lookups: for ``hierarchical``, h arrays (v,) with the code of each value on each level.
        occurring: (v,) for ``ordered``, records of the whole input with each value: values that do not occur
            have no rank. Default: all codes up to the largest have one.
    Returns:
        The distance in each class, (m,), in [0, 1]; 0 where a class is homogeneous.
    Raises:
        ValueError: labels that are not compact, no lookups for ``hierarchical``, an unknown distance, or
            a value without a rank.
    Source:
        Similarity attack: Li et al. (2007), section 3; [DB 6.2]. Distances as in `closeness`.
    """
    if distance == "ordered":
        return _span(_rank(class_histograms(codes, labels, m=m), occurring))
    if distance == "equal":
        return (np.diff(class_histograms(codes, labels, m=m).starts) > 1).astype(np.float64)
    if distance != "hierarchical":
        raise ValueError(f"distance must be ordered, equal or hierarchical, got {distance!r}.")
    if not lookups:
        raise ValueError("lookups must be given for the hierarchical distance, got none.")
    return _height(codes, labels, class_sizes(labels, m=m), lookups)


def _rank(
    found: ClassHistograms, occurring: NDArray[np.integer] | None
) -> tuple[ClassHistograms, NDArray[np.int64], int]:
    """Return the histograms, the rank of each pair's value, and how many ranks there are."""
    if occurring is None:
        return found, found.codes, int(found.codes.max()) + 1
    occurs = np.asarray(occurring) > 0
    if int(found.codes.max()) >= len(occurs) or not occurs[found.codes].all():
        raise ValueError("codes must occur in the whole table, got some that do not. Count the whole input.")
    return found, (np.cumsum(occurs) - 1)[found.codes], int(occurs.sum())


def _span(ranked: tuple[ClassHistograms, NDArray[np.int64], int]) -> NDArray[np.float64]:
    """Return (largest − smallest rank)/(ranks − 1) of each class, whose pairs are in order of value."""
    found, ranks, count = ranked
    spans = ranks[found.starts[1:] - 1] - ranks[found.starts[:-1]]
    return spans / max(count - 1, 1)


def _height(
    codes: NDArray[np.integer],
    labels: NDArray[np.integer],
    sizes: NDArray[np.int64],
    lookups: Sequence[NDArray[np.integer]],
) -> NDArray[np.float64]:
    """Return the lowest level on which each class has one value, divided by the highest level."""
    height = np.zeros(len(sizes), np.int64)
    for level, lookup in enumerate(lookups):
        above = np.asarray(lookup)[codes]
        seen = np.full(len(sizes), -1, np.int64)
        seen[labels] = above
        mixed = np.bincount(labels, weights=above != seen[labels], minlength=len(sizes)) > 0
        height[mixed] = level + 1
    if int(height.max()) >= len(lookups):
        raise ValueError("lookups must end with a single top, got several values on the last level.")
    return height / max(len(lookups) - 1, 1)
