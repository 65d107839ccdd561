"""What grouping loses: measures that look at classes alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def _suppressed(sizes: NDArray[np.integer], n: int) -> int:
    """Return how many of n records are in no class."""
    if n < 1:
        raise ValueError(f"n must be at least 1 record, got {n}. The loss of nothing is not defined.")
    released = int(np.sum(sizes, dtype=np.int64))
    if released > n:
        raise ValueError(f"n must cover the {released} records in classes, got {n}. Count the whole input.")
    return n - released


def discernibility(sizes: NDArray[np.integer], *, n: int) -> int:
    """Compute Σ m² + n·s: each record costs as many as it cannot be told from.

    Args:
        sizes: (m,) records of each class.
        n: records of the input, suppressed ones included.
    Returns:
        The metric, an exact integer in [n, n²].
    Raises:
        ValueError: n < 1 or below the records in classes.
    Source:
        Bayardo and Agrawal (2005); [UT 2.5.2]; [methods 9.1].

    >>> discernibility(np.array([2, 3]), n=6)
    19
    """
    return sum(m * m for m in sizes.tolist()) + n * _suppressed(sizes, n)


def average_class_size(sizes: NDArray[np.integer], *, n: int) -> float:
    """Compute n/(classes + 1 if any record is suppressed).

    Args:
        sizes: (m,) records of each class.
        n: records of the input, suppressed ones included.
    Returns:
        The mean size in records; all suppressed records together count as one class.
    Raises:
        ValueError: n < 1 or below the records in classes.
    Source:
        [UT 2.5.2]; [methods 9.1].
    """
    return n / (len(sizes) + (_suppressed(sizes, n) > 0))


def classification(target: NDArray[np.integer], labels: NDArray[np.integer]) -> float:
    """Compute the share of records that are suppressed or whose label is not their class's most frequent.

    Args:
        target: (n,) label of each record, 0 … c−1.
        labels: (n,) class of each record; −1 for a suppressed one.
    Returns:
        The metric in [0, 1].
    Raises:
        ValueError: no records.
    Source:
        Iyengar (2002); [UT (2.13)]; [methods 9.1].

    >>> classification(np.array([0, 0, 1, 1]), np.array([0, 0, 0, -1]))
    0.5
    """
    if not len(target):
        raise ValueError("target must hold a record, got none. The loss of nothing is not defined.")
    kept = labels >= 0
    pairs, counts = np.unique(np.stack([labels[kept], target[kept]]), axis=1, return_counts=True)
    most = np.zeros(int(labels.max(initial=-1)) + 1, np.int64)
    np.maximum.at(most, pairs[0], counts)
    return (len(target) - int(most.sum())) / len(target)
