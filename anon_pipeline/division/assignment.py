"""Which class goes into which partition: whole classes, about as many records everywhere. Pure."""

from __future__ import annotations

import heapq
import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

_FINE: Final = 1_000  # a class with a larger share of a partition than one in so many is placed by itself
_SEED: Final = 0x616E6F6E


def assign_classes(
    sizes: NDArray[np.int64], kept: NDArray[np.bool_], parts: int, *, gone: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Assign classes to partitions of about as many records, and about the same share of suppressed ones.

    Large classes come first, each to the partition with the fewest records by then. The others are put into
    an order that does not follow their values, and fill up the partitions one after the other; so partitions
    differ by about one class. Which partition a class is in says nothing about its records.

    Args:
        sizes: (m,) records of each class.
        kept: (m,) whether a class is released; the records of the others are suppressed.
        parts: partitions, ≥ 1.
        gone: records that are in no class and are suppressed.
    Returns:
        Partition of each class, (m,), and how many of the records that are gone each gets, (parts,).
    """
    found = np.zeros(len(sizes), np.int64)
    target = np.full(parts, sizes[kept].sum() / parts)
    found[kept], filled = _fill(sizes[kept], target)
    share = filled / max(int(filled.sum()), 1) if filled.sum() else np.full(parts, 1 / parts)
    found[~kept], _ = _fill(sizes[~kept], share * int(sizes[~kept].sum()))
    ends = np.round(np.cumsum(share) * gone).astype(np.int64)
    return found, np.diff(ends, prepend=0)


def shuffle(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put numbers into an order that does not follow them, always the same one."""
    return np.random.default_rng(_SEED).permutation(numbers)


def _fill(
    sizes: NDArray[np.int64], target: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Fill partitions with classes up to a target; the partition of each, (m,), and its records, (parts,)."""
    found, filled = _fill_large_first(sizes, target, fine=_FINE)
    if not filled.all():
        return _fill_large_first(sizes, target, fine=math.inf)  # one after the other, none stays empty
    return found, filled


def _fill_large_first(
    sizes: NDArray[np.int64], target: NDArray[np.float64], *, fine: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Do as `_fill`; a class is placed by itself if it is more than one in ``fine`` of a partition."""
    parts, found = len(target), np.zeros(len(sizes), np.int64)
    large = np.flatnonzero(sizes * fine > max(float(target.max()), 1.0))
    order = large[np.argsort(-sizes[large], kind="stable")]
    room = [(-float(target[part]), part) for part in range(parts)]
    heapq.heapify(room)
    for one in order:
        left, part = heapq.heappop(room)
        found[one] = part
        heapq.heappush(room, (left + float(sizes[one]), part))
    filled = np.zeros(parts, np.int64)
    np.add.at(filled, found[large], sizes[large])
    small = np.setdiff1d(np.arange(len(sizes)), large, assume_unique=True)
    small = shuffle(small)
    if len(small):
        open_room = np.maximum(target - filled, 0)
        if not open_room.sum():
            open_room = np.ones(parts)
        ends = np.cumsum(open_room) / open_room.sum()
        middles = (np.cumsum(sizes[small]) - sizes[small] / 2) / sizes[small].sum()
        found[small] = np.minimum(np.searchsorted(ends, middles), parts - 1)
        np.add.at(filled, found[small], sizes[small])
    return found, filled
