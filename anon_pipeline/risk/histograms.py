"""How often each value occurs in each class: what closeness, diversity and expectations start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.order import add_values, count_values, different_values


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


def class_sizes(
    labels: NDArray[np.integer], *, m: int, weights: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Count the records of each class, and insist on compact labels.

    Args:
        labels: (r,) class of each record, 0 … m−1.
        m: number of classes, each with at least one record.
        weights: (r,) records that each of them stands for, every one ≥ 1; None: one each.
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
    if weights is None:
        sizes = np.bincount(labels, minlength=m).astype(np.int64)
    else:
        sizes = np.zeros(m, np.int64)
        np.add.at(sizes, labels, weights)
    if empty := int((sizes == 0).sum()):
        raise ValueError(
            f"classes must hold a record each, got {empty} of {m} empty. Number them without gaps."
        )
    return sizes


def starts_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each class begins when records are sorted by class, (m + 1,)."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))


def class_histograms(
    codes: NDArray[np.integer],
    labels: NDArray[np.integer],
    *,
    m: int,
    weights: NDArray[np.int64] | None = None,
) -> ClassHistograms:
    """Count each value of each class.

    Args:
        codes: (r,) value of each record, an integer ≥ 0.
        labels: (r,) class of each record, 0 … m−1.
        m: number of classes, each with at least one record.
        weights: (r,) records that each of them stands for, every one ≥ 1; None: one each.
    Returns:
        The pairs that occur; the order of the records does not matter.
    Raises:
        ValueError: labels that are not compact, or a negative code.

    >>> class_histograms(np.array([2, 2, 0, 1]), np.array([0, 0, 0, 1]), m=2).counts.tolist()
    [1, 2, 1]
    """
    sizes = class_sizes(labels, m=m, weights=weights)
    if int(codes.min()) < 0:
        raise ValueError(
            "codes must be ≥ 0, got negative ones. Encode missing values as a value of their own."
        )
    values, ranks = None, codes
    if int(codes.max()) >= 2**62 // m:  # the packed key would not fit: count ranks instead
        values, ranks = different_values(codes.astype(np.int64))
    width = int(ranks.max()) + 1
    packed, space = labels.astype(np.int64), m * width
    packed *= width
    packed += ranks if ranks.itemsize < packed.itemsize else ranks.astype(np.int64, copy=False)
    keys, counts = count_values(packed, space) if weights is None else add_values(packed, weights, space)
    del packed
    classes, found = np.divmod(keys, width)
    starts = starts_of(np.bincount(classes, minlength=m).astype(np.int64))
    return ClassHistograms(starts, found if values is None else values[found], counts.astype(np.int64), sizes)


def merge_classes(found: ClassHistograms, into: NDArray[np.int64], *, m: int) -> ClassHistograms:
    """Add up the histograms of classes that become one.

    Args:
        found: of the classes as they are.
        into: (number of these,) class that each becomes, 0 … m−1; −1 for one that is left out.
        m: number of classes then, each with at least one of those before.
    Raises:
        ValueError: numbers that are not compact.

    >>> apart = class_histograms(np.array([2, 2, 0, 1]), np.array([0, 0, 1, 2]), m=3)
    >>> merge_classes(apart, np.array([0, 0, -1]), m=1).codes.tolist()
    [0, 2]
    """
    labels = np.repeat(into, np.diff(found.starts))
    inside = labels >= 0
    if inside.all():
        return class_histograms(found.codes, labels, m=m, weights=found.counts)
    return class_histograms(found.codes[inside], labels[inside], m=m, weights=found.counts[inside])


def join_histograms(parts: Sequence[ClassHistograms]) -> ClassHistograms:
    """Put the classes of several histograms of one column side by side.

    Args:
        parts: one at least; the classes of a part follow those of the previous part.
    """
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    return ClassHistograms(
        starts_of(lengths),
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.sizes for part in parts]),
    )
