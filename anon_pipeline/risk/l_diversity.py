"""l-diversity: how many well-represented sensitive values a class has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.risk.histograms import ClassHistograms, class_histograms

ENTROPY_TOLERANCE = 1e-9
"""Entropy l-diversity holds where ``entropy_l ≥ l − ENTROPY_TOLERANCE``: exp(H) of two equal halves is
2 only up to rounding. The value itself is never truncated."""


def distinct_l(codes: NDArray[np.integer], labels: NDArray[np.integer], *, m: int) -> NDArray[np.int64]:
    """Count the distinct sensitive values of every class.

    Args:
        codes: (r,) sensitive value of each record, an integer ≥ 0.
        labels: (r,) class of each record, 0 … m−1.
        m: number of classes, each with at least one record.
    Returns:
        Distinct values of each class, (m,), each ≥ 1.
    Raises:
        ValueError: labels that are not compact.
    Source:
        Machanavajjhala et al. (2007), section 4; [methods 8.3].

    >>> distinct_l(np.array([3, 3, 5]), np.array([0, 0, 0]), m=1).tolist()
    [2]
    """
    return distinct_l_of(class_histograms(codes, labels, m=m))


def distinct_l_of(found: ClassHistograms) -> NDArray[np.int64]:
    """Count the distinct values of every class, as `distinct_l` does, (m,)."""
    return np.diff(found.starts)


def entropy_l(codes: NDArray[np.integer], labels: NDArray[np.integer], *, m: int) -> NDArray[np.float64]:
    """Compute exp(H) of every class, H the entropy of its sensitive values in nats.

    Args:
        codes: (r,) sensitive value of each record, an integer ≥ 0.
        labels: (r,) class of each record, 0 … m−1.
        m: number of classes, each with at least one record.
    Returns:
        exp(H) of each class, (m,), in [1, distinct values]; compare with `ENTROPY_TOLERANCE`.
    Raises:
        ValueError: labels that are not compact.
    Source:
        Machanavajjhala et al. (2007), definition 4.1; [methods 8.3].
    """
    return entropy_l_of(class_histograms(codes, labels, m=m))


def entropy_l_of(found: ClassHistograms) -> NDArray[np.float64]:
    """Compute exp(H) of every class, as `entropy_l` does, (m,)."""
    share = found.counts / found.sizes[found.classes]
    return np.exp(found.total(-share * np.log(share)))


def recursive_ratio(
    codes: NDArray[np.integer],
    labels: NDArray[np.integer],
    *,
    l: int,  # noqa: E741 - the field's name
    m: int,
) -> NDArray[np.float64]:
    """Compute r_1 / (r_l + r_(l+1) + …) of every class, r_1 the count of its most frequent value.

    Recursive (c, l)-diversity holds where the ratio is below c.

    Args:
        codes: (r,) sensitive value of each record, an integer ≥ 0.
        labels: (r,) class of each record, 0 … m−1.
        l: rank, counted from 1, at which the denominator begins.
        m: number of classes, each with at least one record.
    Returns:
        The ratio of each class, (m,); infinite where a class has fewer than l distinct values.
    Raises:
        ValueError: labels that are not compact, or l < 1.
    Source:
        Machanavajjhala et al. (2007), definition 4.2; [methods 8.3].
    """
    return recursive_ratio_of(class_histograms(codes, labels, m=m), l=l)


def recursive_ratio_of(found: ClassHistograms, *, l: int) -> NDArray[np.float64]:  # noqa: E741
    """Compute r_1 / (r_l + r_(l+1) + …) of every class, as `recursive_ratio` does, (m,).

    Raises:
        ValueError: l < 1.
    """
    if l < 1:
        raise ValueError(f"l must be at least 1, got {l}.")
    counts = found.counts[np.lexsort((-found.counts, found.classes))]
    rank = np.arange(len(counts)) - found.starts[found.classes]
    rest = found.total(np.where(rank >= l - 1, counts, 0))
    most = counts[found.starts[:-1]].astype(np.float64)
    ratios: NDArray[np.float64] = np.divide(most, rest, out=np.full(len(most), np.inf), where=rest > 0)
    return ratios
