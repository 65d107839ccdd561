"""Sorting whole numbers digit by digit, in compiled loops that move them a few times.

Belongs here: the loops. `order` decides which numbers are sorted so. On some processors that numpy has vector
instructions for, these take five times as long.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel

_DIGIT = 11  # bits, at most: so many places to write to are in the processor's cache


def sort_with_places(
    keys: NDArray[np.int64], wide: int, bits: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return numbers in ascending order, (n,), and their places, (n,), equal ones as they stand.

    Args:
        keys: (n,) in [0, 2^wide).
        wide: bits of a number, ≥ 1.
        bits: of a place; both together at most 63.

    >>> [found.tolist() for found in sort_with_places(np.array([7, 2, 7]), 3, 2)]
    [[2, 7, 7], [1, 0, 2]]
    """
    ordered, room = _sort(keys, wide, bits)
    np.bitwise_and(ordered, (1 << bits) - 1, out=room)
    ordered >>= bits
    return ordered, room


def sort_numbers(keys: NDArray[np.int64], wide: int) -> NDArray[np.int64]:
    """Return numbers in [0, 2^wide) in ascending order, (n,)."""
    return _sort(keys, wide, 0)[0]


def _sort(keys: NDArray[np.int64], wide: int, bits: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort numbers with their places in so many last bits; return them, and room of their size."""
    rounds = -(-wide // _DIGIT)
    digit = -(-wide // rounds)
    ordered, room = np.empty((2, len(keys)), np.int64)
    counts = np.zeros((rounds, 1 << digit), np.int64)
    _pack(keys, bits, digit, ordered, counts)
    starts = np.cumsum(counts, axis=1) - counts
    for number in range(rounds):
        _deal(ordered, bits + number * digit, starts[number], room)
        ordered, room = room, ordered
    return ordered, room


@kernel
def _pack(keys, bits, digit, packed, counts):  # type: ignore[no-untyped-def]
    """Write each number with its place in the last bits, (n,), and count its digits, (rounds, 2^digit)."""
    mask = (1 << digit) - 1
    for at in range(len(keys)):
        left = keys[at]
        packed[at] = left << bits | at if bits else left
        for number in range(len(counts)):
            counts[number, left & mask] += 1
            left >>= digit


@kernel
def _deal(numbers, shift, starts, out):  # type: ignore[no-untyped-def]
    """Write numbers in the order of one of their digits, (n,), equal ones as they stand.

    ``starts`` (2^digit,) says where those of each digit begin, and is moved to where they end.
    """
    mask = len(starts) - 1
    for at in range(len(numbers)):
        digit = numbers[at] >> shift & mask
        out[starts[digit]] = numbers[at]
        starts[digit] += 1
