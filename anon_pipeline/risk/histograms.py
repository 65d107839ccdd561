"""How often each value occurs in each class: what closeness, diversity and expectations start from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.order import count_values, different_values


@dataclass(frozen=True, slots=True, eq=False)
class ClassHistograms:
    """The d pairs of class and value that occur, in order of class, then value.

    starts: (m + 1,) where each class begins among the pairs.
    codes: (d,) value of each pair.
    counts: (d,) records of that class with that value, each ≥ 1.
    sizes: (m,) records of each class, each ≥ 1.
    """

    starts: NDArray[np.int64] = field(repr=False)
    codes: NDArray[np.int64] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)

    @property
    def classes(self) -> NDArray[np.int64]:
        """Class of each pair, (d,)."""
        return np.repeat(np.arange(len(self.sizes)), np.diff(self.starts))

    def total(self, weights: NDArray[np.number]) -> NDArray[np.float64]:
        """Add up a number per pair, (d,), within each class, (m,)."""
        sums = np.bincount(self.classes, weights=weights, minlength=len(self.sizes))
        return sums.astype(np.float64)


def class_sizes(labels: NDArray[np.integer], *, m: int) -> NDArray[np.int64]:
    """Count the records of each class, and insist on compact labels.

    Args:
        labels: (r,) class of each record, 0 … m−1.
        m: number of classes, each with at least one record.
    Returns:
        Records in each class, (m,).
    Raises:
        ValueError: no class, a label outside 0 … m−1, or a class without a record.
    """
    if m < 1 or len(labels) == 0:
        raise ValueError(
            "classes must be at least one, got none. Nothing is released, so no risk is defined."
        )
    if int(labels.min()) < 0 or int(labels.max()) >= m:
        raise ValueError(f"labels must lie in 0 … {m - 1}. Leave suppressed records (−1) out.")
    sizes = np.bincount(labels, minlength=m).astype(np.int64)
    if empty := int((sizes == 0).sum()):
        raise ValueError(
            f"classes must hold a record each, got {empty} of {m} empty. Number them without gaps."
        )
    return sizes


def starts_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each class begins when records are sorted by class, (m + 1,)."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))


def class_histograms(codes: NDArray[np.integer], labels: NDArray[np.integer], *, m: int) -> ClassHistograms:
    """Count each value of each class.

    Args:
        codes: (r,) value of each record, an integer ≥ 0.
        labels: (r,) class of each record, 0 … m−1.
        m: number of classes, each with at least one record.
    Returns:
        The pairs that occur; the order of the records does not matter.
    Raises:
        ValueError: labels that are not compact, or a negative code.

    >>> class_histograms(np.array([2, 2, 0, 1]), np.array([0, 0, 0, 1]), m=2).counts.tolist()
    [1, 2, 1]
    """
    sizes = class_sizes(labels, m=m)
    if int(codes.min()) < 0:
        raise ValueError(
            "codes must be ≥ 0, got negative ones. Encode missing values as a value of their own."
        )
    values, ranks = None, codes.astype(np.int64)
    if int(ranks.max()) >= 2**62 // m:  # the packed key would not fit: count ranks instead
        values, ranks = different_values(ranks)
    width = int(ranks.max()) + 1
    keys, counts = count_values(labels.astype(np.int64) * width + ranks, m * width)
    classes, found = np.divmod(keys, width)
    starts = starts_of(np.bincount(classes, minlength=m).astype(np.int64))
    return ClassHistograms(starts, found if values is None else values[found], counts.astype(np.int64), sizes)
