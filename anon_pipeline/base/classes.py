"""Equivalence classes: records that share every generalized quasi-identifier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.order import rank_values, ranks_of, sort_keys, sorted_places

_LARGEST_KEY = 2**62
_SPARSE = 4  # numbers of more values than so many times the records are sorted, not counted in place


@dataclass(frozen=True, slots=True, eq=False)
class EquivalenceClasses:
    """A partition of n records into m classes.

    labels: (n,) class of each record, 0 … m−1; −1 for a suppressed record.
    sizes: (m,) records in each class, every one ≥ 1.
    """

    labels: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def k(self) -> int:
        """Records in the smallest class; 0 if there is no class."""
        return int(self.sizes.min()) if len(self.sizes) else 0

    def members(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the records sorted by class, (n − s,), and where each class begins, (m + 1,)."""
        order = sorted_places(self.labels + 1, len(self.sizes) + 1)[int((self.labels < 0).sum()) :]
        return order, np.concatenate(([0], np.cumsum(self.sizes)))


def pack_columns(columns: Iterable[NDArray[np.integer]]) -> tuple[NDArray[np.int64], int]:
    """Pack each row into one integer that sorts as the row does, (n,), and say what all are below.

    Where the product of the widths would not fit, what is packed already is replaced by its ranks.

    Args:
        columns: arrays (n,) of integers ≥ 0, n ≥ 1; at least one.
    """
    key, space = np.zeros(1, np.int64), 1
    for column in columns:
        digit, width = column, int(column.max()) + 1
        if space * width > _LARGEST_KEY:
            key, space = rank_values(key, space)
            digit, width = rank_values(digit.astype(np.int64, copy=False), width)
        if len(key) < len(digit):  # of the first column
            key = np.repeat(key, len(digit))
        key *= width
        key += digit if digit.itemsize < key.itemsize else digit.astype(np.int64, copy=False)
        space *= width
    return key, space


def first_rows(columns: Iterable[NDArray[np.integer]]) -> NDArray[np.int64]:
    """Return the first record of each different row, (m,), in lexicographic order of their values.

    Args:
        columns: arrays (n,) of integers ≥ 0, n ≥ 1; at least one.
    """
    key, space = pack_columns(columns)
    ordered, order = sort_keys(key, space)
    return order[np.flatnonzero(np.diff(ordered, prepend=-1))]


def group_rows(codes: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Group equal rows of non-negative codes.

    Args:
        codes: (n, q) integers ≥ 0.
    Returns:
        First row of each group (m,), group of each row (n,), rows in each group (m,); groups in
        lexicographic order of their codes. With q = 0 all rows are one group.
    """
    return group_columns(list(codes.T), len(codes))


def group_columns(
    columns: Sequence[NDArray[np.integer]], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Group equal rows of q columns of n records, as `group_rows` does."""
    if not columns or n == 0:
        some = min(n, 1)
        return np.zeros(some, np.int64), np.zeros(n, np.int64), np.full(some, n, np.int64)
    key, space = pack_columns(columns)
    if space <= _SPARSE * n:
        return _counted_groups(key)
    key, order = sort_keys(key, space)
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    del key
    sizes = np.diff(starts, append=n)
    inverse = np.empty(n, np.int64)
    inverse[order] = np.repeat(np.arange(len(starts)), sizes)
    return order[starts], inverse, sizes


def _counted_groups(
    key: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Group equal numbers as `group_rows` does, by counting them in place."""
    counts = np.bincount(key)
    present = counts > 0
    sizes = counts[present]
    del counts
    inverse = ranks_of(present)[key].astype(np.int64)
    first = np.empty(len(sizes), np.int64)
    first[inverse[::-1]] = np.arange(len(key))[::-1]  # of places that are written twice the last one stays
    return first, inverse, sizes


def row_order(codes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Sort rows of non-negative codes lexicographically.

    Args:
        codes: (n, q) integers ≥ 0.
    Returns:
        (n,) the rows in order; equal ones in any.

    >>> row_order(np.array([[1, 0], [0, 2], [0, 1]])).tolist()
    [2, 1, 0]
    """
    if 0 in codes.shape:
        return np.arange(len(codes), dtype=np.int64)
    return sorted_places(*pack_columns(codes.T))


def equivalence_classes(codes: NDArray[np.integer]) -> EquivalenceClasses:
    """Group records by their generalized quasi-identifiers.

    Args:
        codes: (n, q); column j holds quasi-identifier j, generalized; a row with −1 is suppressed.
    Returns:
        Classes in lexicographic order of their codes; sizes are record counts. With q = 0 all records
        are one class.
    Source:
        Samarati and Sweeney (1998); [methods 3].

    >>> equivalence_classes(np.array([[1, 0], [1, 0], [-1, -1], [0, 5]])).labels.tolist()
    [1, 1, -1, 0]
    """
    kept = codes.min(axis=1, initial=0) >= 0
    if kept.all():
        _, labels, sizes = group_rows(codes)
        return EquivalenceClasses(labels, sizes)
    labels = np.full(len(codes), -1, np.int64)
    _, inverse, sizes = group_rows(codes[kept])
    labels[kept] = inverse
    return EquivalenceClasses(labels, sizes)


def same_partition(a: NDArray[np.integer], b: NDArray[np.integer]) -> bool:
    """Tell whether two numberings of the same records differ in the names of their classes alone.

    Args:
        a: (n,) classes 0 … m−1, without gaps; ``b`` likewise.

    >>> same_partition(np.array([0, 0, 1]), np.array([1, 1, 0]))
    True
    """
    to_b = np.zeros(int(a.max(initial=-1)) + 1, np.int64)
    to_a = np.zeros(int(b.max(initial=-1)) + 1, np.int64)
    to_b[a], to_a[b] = b, a
    return bool((to_b[a] == b).all() and (to_a[b] == a).all())
