"""Sorting inside compiled loops.

numba compiles ``np.sort`` and ``np.argsort`` anew for each kernel that calls them, which takes seconds in a
fresh container. What is here takes a fifth of that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel

_SHORT = 32  # rows up to which insertion is faster than merging


@kernel
def sort_pairs(keys: NDArray[np.int64], partners: NDArray[np.int64]) -> None:
    """Sort numbers in place, and let others move with them: a heap sort, in no memory of its own.

    Args:
        keys: (n,) ascending afterwards; the order of equal ones is not kept.
        partners: (n,) moved as their keys are; another array than ``keys``.
    """
    start, end = len(keys) // 2, len(keys)
    while end > 1:
        if start > 0:  # the heap is being built
            start -= 1
        else:  # its largest key goes after it
            end -= 1
            keys[0], keys[end] = keys[end], keys[0]
            partners[0], partners[end] = partners[end], partners[0]
        at, key, partner = start, keys[start], partners[start]
        child = 2 * at + 1
        while child < end:
            if child + 1 < end and keys[child + 1] > keys[child]:
                child += 1
            if keys[child] <= key:
                break
            keys[at], partners[at] = keys[child], partners[child]
            at = child
            child = 2 * at + 1
        keys[at], partners[at] = key, partner


@kernel
def lexicographically_below(a, b, first):  # type: ignore[no-untyped-def]
    """Tell whether row a comes before row b, by the columns from ``first`` on."""
    for column in range(first, len(a)):
        if a[column] != b[column]:
            return a[column] < b[column]
    return False


@kernel
def _move(source, row, target, place):  # type: ignore[no-untyped-def]
    """Copy a row; an assignment of slices would compile the words of its errors as well, for seconds."""
    for column in range(source.shape[1]):
        target[place, column] = source[row, column]


@kernel
def _insert(rows, begin, end, room):  # type: ignore[no-untyped-def]
    """Sort a few rows in place, lexicographically, by insertion; the first row of ``room`` is scratch."""
    for i in range(begin + 1, end):
        _move(rows, i, room, 0)
        j = i
        while j > begin and lexicographically_below(room[0], rows[j - 1], 0):
            _move(rows, j - 1, rows, j)
            j -= 1
        _move(room, 0, rows, j)


@kernel
def sort_rows(rows: NDArray[np.float64], begin: int, end: int, room: NDArray[np.float64]) -> None:
    """Sort rows in place, lexicographically: insertion for runs of 32, which are then merged two by two.

    Args:
        rows: (n, p).
        begin: first row; ``end``: the row after the last one. Other rows stay.
        room: (≥ rows to sort, p) scratch; at least one row.
    """
    for first in range(begin, end, _SHORT):
        _insert(rows, first, min(first + _SHORT, end), room)
    width = _SHORT
    while width < end - begin:
        for first in range(begin, end - width, 2 * width):
            # Move the left half aside, and merge it with the right one into the rows.
            middle, last = first + width, min(first + 2 * width, end)
            for row in range(first, middle):
                _move(rows, row, room, row - first)
            left, right, place = 0, middle, first
            while left < width:
                if right < last and lexicographically_below(rows[right], room[left], 0):
                    _move(rows, right, rows, place)
                    right += 1
                else:
                    _move(room, left, rows, place)
                    left += 1
                place += 1
        width *= 2
