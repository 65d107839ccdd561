"""Sorting whole numbers with their places, and the different ones among them.

Each number is sorted with its place in its last bits, where both fit: many of them digit by digit
(`radix_sort`), few by numpy, which sorts numbers of 64 bits several times as fast as their places. Its
`numpy.unique` hashes, which takes longer still.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_DIGIT = 16  # bits that numpy sorts without comparing
_DIGITS = 3  # so many digits are sorted faster one after the other than numbers by comparing them
_FEW = 2**12  # numbers that are sorted at once
_COMPILED_FROM = 2**16  # numbers that a compiled loop sorts; of fewer its compilation takes longer
_SPARSE = 4  # numbers of more values than so many times the records are sorted, not counted in place
_BITS = 63  # of a number ≥ 0
_WIDEST = 2**62  # between the least and the largest number, so that their difference is one

Integers = NDArray[np.int64]


def sorted_places(keys: Integers, space: int) -> Integers:
    """Return the places of numbers in ascending order, equal ones as they stand, (n,).

    What `numpy.argsort` returns with ``kind="stable"``: digit after digit, the last one first.

    Args:
        keys: (n,) integers ≥ 0.
        space: they are below it.

    >>> sorted_places(np.array([7, 2, 7]), 9).tolist()
    [1, 0, 2]
    """
    return sort_keys(keys, space)[1]


def sort_keys(keys: Integers, space: int) -> tuple[Integers, Integers]:
    """Return numbers in ascending order, (n,), and their places, (n,), as `sorted_places` does.

    Args:
        keys: (n,) integers ≥ 0.
        space: they are below it.
    """
    wide, bits = max(int(space) - 1, 1).bit_length(), max(len(keys) - 1, 1).bit_length()
    digits = -(-wide // _DIGIT)
    if len(keys) >= _COMPILED_FROM and wide + bits <= _BITS:
        from anon_pipeline.base.radix_sort import sort_with_places  # noqa: PLC0415 - slow to import

        return sort_with_places(keys.astype(np.int64, copy=False), wide, bits)
    if digits > 1 and wide + bits <= _BITS:
        packed = keys.astype(np.int64)  # a copy
        packed <<= bits
        packed |= np.arange(len(keys))
        packed.sort()
        places = packed & (1 << bits) - 1
        packed >>= bits
        return packed, places
    if digits > _DIGITS or len(keys) < _FEW:
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    for digit in range(1, digits):
        own = (keys >> digit * _DIGIT).astype(np.uint16)[order]
        order = order[np.argsort(own, kind="stable")]
    return keys[order], order


def rank_values(keys: Integers, space: int) -> tuple[Integers, int]:
    """Replace each number by its rank among the different ones, (n,), and say how many there are.

    Args:
        keys: (n,) integers ≥ 0.
        space: they are below it.

    >>> rank_values(np.array([7, 2, 7]), 9)[0].tolist()
    [1, 0, 1]
    """
    if space <= _SPARSE * len(keys):
        present = np.zeros(space, np.bool_)
        present[keys] = True
        many = int(np.count_nonzero(present))
        return ranks_of(present)[keys].astype(np.int64), many
    ordered, order = sort_keys(keys, space)
    fresh = _begin_another(ordered)
    del ordered
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = ranks_of(fresh)
    return ranks, int(np.count_nonzero(fresh))


def ranks_of(present: NDArray[np.bool_]) -> NDArray[np.signedinteger]:
    """Return how many are true before each place that is true, (n,); in four bytes where that is enough.

    >>> ranks_of(np.array([True, False, True])).tolist()
    [0, 0, 1]
    """
    kind: type[np.signedinteger] = np.int32 if len(present) < 2**31 else np.int64
    ranks: NDArray[np.signedinteger] = np.cumsum(present, dtype=kind)
    np.subtract(ranks, 1, out=ranks)
    return ranks


def _sort_numbers(keys: Integers, space: int) -> Integers:
    """Return numbers in [0, space) in ascending order, (n,)."""
    if len(keys) < _COMPILED_FROM:
        return np.sort(keys)
    from anon_pipeline.base.radix_sort import sort_numbers  # noqa: PLC0415 - slow to import

    return sort_numbers(keys.astype(np.int64, copy=False), max(int(space) - 1, 1).bit_length())


def _begin_another(ordered: Integers) -> NDArray[np.bool_]:
    """Tell which of some sorted numbers differ from the one before, (n,)."""
    fresh = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return fresh


def count_values(keys: Integers, space: int) -> tuple[Integers, Integers]:
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
    ordered = _sort_numbers(keys, space)
    starts = np.flatnonzero(_begin_another(ordered))
    values = ordered[starts]
    del ordered
    return values, np.diff(starts, append=len(keys))


def add_values(keys: Integers, weights: Integers, space: int) -> tuple[Integers, Integers]:
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
    ordered, order = sort_keys(keys, space)
    starts = np.flatnonzero(_begin_another(ordered))
    if not len(starts):
        return ordered, weights[:0]
    return ordered[starts], np.add.reduceat(weights[order], starts)


def repeated_rows(keys: Integers, space: int) -> tuple[Integers, Integers]:
    """Return the places of numbers that others have, too, (r,) in any order, and how many have each, (m,).

    Args:
        keys: (n,) integers ≥ 0.
        space: they are below it.
    """
    if space <= _SPARSE * len(keys):
        counts = np.bincount(keys)
        return np.flatnonzero(counts[keys] > 1), counts[counts > 0]
    ordered, order = sort_keys(keys, space)
    counts = np.diff(np.flatnonzero(_begin_another(ordered)), append=len(keys))
    return order[np.repeat(counts > 1, counts)], counts


def different_values(numbers: Integers) -> tuple[Integers, Integers]:
    """Return the different ones of any whole numbers, (m,) ascending, and the rank of each number, (n,).

    What `numpy.unique` returns with ``return_inverse=True``.

    >>> [found.tolist() for found in different_values(np.array([7, -2, 7]))]
    [[-2, 7], [1, 0, 1]]
    """
    least, most = _ends(numbers)
    if most - least >= _WIDEST:
        values, ranks = np.unique(numbers, return_inverse=True)
        return values, ranks.astype(np.int64)
    ranks, many = rank_values(numbers - least, most - least + 1)
    values = np.empty(many, np.int64)
    values[ranks] = numbers
    return values, ranks


def count_different(numbers: NDArray[np.number]) -> int:
    """Return how many different numbers there are.

    >>> count_different(np.array([7.0, -2.0, 7.0]))
    2
    """
    if numbers.dtype.kind == "f":
        if len(numbers) and not (np.abs(numbers) < _WIDEST / 2).all():
            return len(np.unique(numbers))
        whole = numbers.astype(np.int64)
        if not (whole == numbers).all():
            return len(np.unique(numbers, return_inverse=True)[0])  # which sorts
        numbers = whole
    least, most = _ends(numbers)
    if most - least >= _WIDEST:
        return len(np.unique(numbers))
    return len(count_values(numbers.astype(np.int64) - least, most - least + 1)[0])


def _ends(numbers: NDArray[np.number]) -> tuple[int, int]:
    """Return the least and the largest number; 0 and 0 of none."""
    return (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
