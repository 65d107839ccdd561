"""Large arrays block by block: what is computed of a block at a time needs memory for a block alone.

What is measured class by class is computed of runs of consecutive classes. Blocks do not change results: who
uses them keeps counts and narrow numbers of each, and adds floats up in the order of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

BLOCK = 2**18
"""Records of a block, about: so few that its arrays are small, and so many that Python's steps are cheap."""

_SIGNED = (np.int8, np.int16, np.int32, np.int64)


def slices_of(records: int, *, most: int | None = None) -> Iterator[slice]:
    """Yield slices that cover 0 … records−1, in order, none with more than so many; by default `BLOCK`.

    >>> [(part.start, part.stop) for part in slices_of(5, most=2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    many = BLOCK if most is None else most
    for begin in range(0, records, many):
        yield slice(begin, min(begin + many, records))


def class_blocks(starts: NDArray[np.integer], *, most: int | None = None) -> Iterator[slice]:
    """Yield runs of consecutive classes, in order, with at most so many records; a larger class is alone.

    Args:
        starts: (m + 1,) where each class begins in records that are sorted by class, see
            `EquivalenceClasses.members`.
        most: records of a block, ≥ 1; by default `BLOCK`.
    Yields:
        Slices of the classes 0 … m−1; the records of one are ``starts[run.start] … starts[run.stop]``.

    >>> [(run.start, run.stop) for run in class_blocks(np.array([0, 2, 3, 9, 10]), most=4)]
    [(0, 2), (2, 3), (3, 4)]
    """
    first, classes, many = 0, len(starts) - 1, BLOCK if most is None else most
    while first < classes:
        end = int(np.searchsorted(starts, int(starts[first]) + many, side="right")) - 1
        last = min(max(end, first + 1), classes)
        yield slice(first, last)
        first = last


def count_codes(parts: Iterable[NDArray[np.integer]], many: int = 0) -> NDArray[np.int64]:
    """Count how often each code occurs, (m,), m at least ``many``, of codes ≥ 0 that come some at a time.

    >>> count_codes([np.array([0, 2]), np.array([0])], 4).tolist()
    [2, 0, 1, 0]
    """
    found = np.zeros(many, np.int64)
    for part in parts:
        counts = np.bincount(part, minlength=len(found))
        counts[: len(found)] += found
        found = counts
    return found


def narrow_integers(numbers: NDArray[np.integer]) -> NDArray[np.signedinteger]:
    """Return whole numbers in as few bytes as all of them fit into, signed; negative ones stay as they are.

    >>> narrow_integers(np.array([3, -200])).dtype
    dtype('int16')
    """
    least, most = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
    kind = next(kind for kind in _SIGNED if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max)
    return numbers.astype(kind, copy=False)


def narrow_numbers(numbers: NDArray[np.number]) -> NDArray[np.number]:
    """Return numbers as `narrow_integers` does if all are whole, of at most 4 bytes; else as they are.

    >>> narrow_numbers(np.array([3.0, -200.0])).dtype, narrow_numbers(np.array([0.5, np.nan])).dtype
    (dtype('int16'), dtype('float64'))
    """
    if numbers.dtype.kind != "f":
        return narrow_integers(numbers.astype(np.int64, copy=False))
    whole = np.empty(numbers.shape, np.int32)
    for part in slices_of(len(numbers)):
        if not (np.abs(numbers[part]) < np.iinfo(np.int32).max).all():
            return numbers
        whole[part] = numbers[part]
        if not (whole[part] == numbers[part]).all():
            return numbers
    return narrow_integers(whole)
