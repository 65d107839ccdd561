"""Equivalence classes: records that share every generalized quasi-identifier."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
        order = np.argsort(self.labels, kind="stable")[int((self.labels < 0).sum()) :]
        return order, np.concatenate(([0], np.cumsum(self.sizes)))


def rank_values(keys: NDArray[np.int64], space: int) -> tuple[NDArray[np.int64], int]:
    """Replace each number by its rank among the different ones, (n,), and say how many there are.

    Args:
        keys: (n,) integers ≥ 0.
        space: they are below it.

    >>> rank_values(np.array([7, 2, 7]), 9)[0].tolist()
    [1, 0, 1]
    """
    if space <= _SPARSE * len(keys):
        present = np.bincount(keys) > 0
        return (np.cumsum(present) - 1)[keys], int(np.count_nonzero(present))
    distinct, inverse = np.unique(keys, return_inverse=True)
    return inverse.astype(np.int64), len(distinct)


def pack_columns(columns: Iterable[NDArray[np.integer]]) -> tuple[NDArray[np.int64], int]:
    """Pack each row into one integer that sorts as the row does, (n,), and say what all are below.

    Where the product of the widths would not fit, what is packed already is replaced by its ranks.

    Args:
        columns: arrays (n,) of integers ≥ 0, n ≥ 1; at least one.
    """
    key, space = np.zeros(1, np.int64), 1
    for column in columns:
        digit = column.astype(np.int64)
        width = int(digit.max()) + 1
        if space * width > _LARGEST_KEY:
            key, space = rank_values(key, space)
            digit, width = rank_values(digit, width)
        key = key * width + digit
        space *= width
    return key, space


def count_values(keys: NDArray[np.int64], space: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different numbers, (m,) ascending, and how many records have each, (m,).

    Args:
        keys: (n,) integers ≥ 0.
        space: they are below it.

    >>> [found.tolist() for found in count_values(np.array([7, 2, 7]), 9)]
    [[2, 7], [1, 2]]
    """
    if space <= _SPARSE * len(keys):
        counts = np.bincount(keys)
        values = np.flatnonzero(counts)
        return values, counts[values]
    ordered = np.sort(keys)
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[starts], np.diff(starts, append=len(keys))


def add_values(
    keys: NDArray[np.int64], weights: NDArray[np.int64], space: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different numbers, (m,) ascending, and the sum of the weights of each, (m,).

    Args:
        keys: (r,) integers ≥ 0.
        weights: (r,) records that each stands for, every one ≥ 1; they are added as whole numbers.
        space: the keys are below it.

    >>> [found.tolist() for found in add_values(np.array([7, 2, 7]), np.array([1, 5, 2]), 9)]
    [[2, 7], [5, 3]]
    """
    if space <= _SPARSE * len(keys):
        sums = np.zeros(space, np.int64)
        np.add.at(sums, keys, weights)
        values = np.flatnonzero(sums)
        return values, sums[values]
    order = np.argsort(keys)
    ordered = keys[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    if not len(starts):
        return ordered, weights[:0]
    return ordered[starts], np.add.reduceat(weights[order], starts)


def repeated_rows(keys: NDArray[np.int64], space: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of numbers that others have, too, (r,) in any order, and how many have each, (m,).

    Args:
        keys: (n,) integers ≥ 0.
        space: they are below it.
    """
    if space <= _SPARSE * len(keys):
        counts = np.bincount(keys)
        return np.flatnonzero(counts[keys] > 1), counts[counts > 0]
    order = np.argsort(keys)
    counts = np.diff(np.flatnonzero(np.diff(keys[order], prepend=-1)), append=len(keys))
    return order[np.repeat(counts > 1, counts)], counts


def group_rows(codes: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Group equal rows of non-negative codes.

    Args:
        codes: (n, q) integers ≥ 0.
    Returns:
        First row of each group (m,), group of each row (n,), rows in each group (m,); groups in
        lexicographic order of their codes. With q = 0 all rows are one group.
    """
    n, q = codes.shape
    if q == 0 or n == 0:
        some = min(n, 1)
        return np.zeros(some, np.int64), np.zeros(n, np.int64), np.full(some, n, np.int64)
    key, space = pack_columns(codes.T)
    if space <= _SPARSE * n:
        return _counted_groups(key)
    order = np.argsort(key)  # unstable and therefore fast: `first` asks for the least row of each run
    key = key[order]
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    sizes = np.diff(starts, append=n)
    inverse = np.empty(n, np.int64)
    inverse[order] = np.repeat(np.arange(len(starts)), sizes)
    return np.minimum.reduceat(order, starts), inverse, sizes


def _counted_groups(
    key: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Group equal numbers as `group_rows` does, by counting them in place."""
    counts = np.bincount(key)
    present = counts > 0
    inverse = (np.cumsum(present) - 1)[key]
    first = np.empty(np.count_nonzero(present), np.int64)
    first[inverse[::-1]] = np.arange(len(key))[::-1]  # of places that are written twice the last one stays
    return first, inverse, counts[present]


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
    return np.argsort(pack_columns(codes.T)[0]).astype(np.int64)


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
    labels = np.full(len(codes), -1, np.int64)
    kept = (codes >= 0).all(axis=1)
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
