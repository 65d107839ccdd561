"""How many points lie in each of many boxes: the people who fit each class of a release."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel

Integers = NDArray[np.int64]


def points_in_boxes(points: Integers, low: Integers, high: Integers) -> Integers:
    """Count the points in each box, both ends included; a point may lie in several boxes, or in none.

    Columns in which no two boxes overlap (full-domain recodings) are looked up, N log N. Among the others the
    points are sorted by the one that leaves the fewest, and looked through.

    Args:
        points: (N, q) whole numbers ≥ 0.
        low: (m, q) least number of each box.
        high: (m, q) greatest; below ``low`` in any column: the box is empty.
    Returns:
        (m,) counts.
    Raises:
        ValueError: no column, or another number of columns.

    >>> box = np.array([[0, 3]])
    >>> points_in_boxes(np.array([[1, 3], [2, 9]]), box, box + 2)
    array([1])
    """
    q = points.shape[1]
    if q == 0 or low.shape[1:] != (q,) or low.shape != high.shape:
        raise ValueError("points and boxes must have the same columns, at least one.")
    counts, full = np.zeros(len(low), np.int64), np.flatnonzero((low <= high).all(axis=1))
    if not len(full) or not len(points):
        return counts
    least, most = np.asarray(low[full], np.int64), np.asarray(high[full], np.int64)
    inside, keys, rest = _buckets(np.asarray(points, np.int64), least, most)
    counts[full] = _count(points[inside], (least, most), keys, rest)
    return counts


def _apart(low: Integers, high: Integers) -> tuple[Integers, Integers] | None:
    """Return the distinct intervals of a column in order, (v,) each; None where any two overlap."""
    found = np.unique(np.stack((low, high), axis=1), axis=0)
    first, last = found[:, 0], found[:, 1]
    return (first, last) if bool((first[1:] > last[:-1]).all()) else None


def _buckets(
    points: Integers, low: Integers, high: Integers
) -> tuple[Integers, tuple[Integers, Integers], list[int]]:
    """Number the boxes by the columns in which none overlap.

    Returns:
        The points that have a number; their numbers and those of the boxes; the other columns.
    """
    inside, rest = np.arange(len(points)), []
    own, theirs = np.zeros(len(points), np.int64), np.zeros(len(low), np.int64)
    for j in range(points.shape[1]):
        apart = _apart(low[:, j], high[:, j])
        if apart is None:
            rest.append(j)
            continue
        at = np.searchsorted(apart[0], points[inside, j], side="right") - 1
        met = (at >= 0) & (points[inside, j] <= apart[1][at])
        inside, own, width = inside[met], own[met] * len(apart[0]) + at[met], len(apart[0])
        known, theirs = np.unique(
            theirs * width + np.searchsorted(apart[0], low[:, j]), return_inverse=True
        )  # fewer numbers than boxes: no product overflows
        place = np.minimum(np.searchsorted(known, own), len(known) - 1)
        met = known[place] == own
        inside, own = inside[met], place[met]
    return inside, (own, theirs.reshape(-1)), rest


def _count(
    points: Integers, boxes: tuple[Integers, Integers], keys: tuple[Integers, Integers], rest: list[int]
) -> Integers:
    """Count the points of each box's number that lie in it by the other columns."""
    own, theirs = keys
    if not rest or not len(points):
        order = np.sort(own)
        return np.searchsorted(order, theirs, side="right") - np.searchsorted(order, theirs)
    ranks = [np.unique(points[:, j], return_inverse=True) for j in rest]
    ends = [
        (np.searchsorted(known, low), np.searchsorted(known, high, "right"))
        for (known, _), low, high in zip(ranks, boxes[0][:, rest].T, boxes[1][:, rest].T, strict=True)
    ]
    narrow = min(range(len(rest)), key=lambda i: float((ends[i][1] - ends[i][0]).mean() / len(ranks[i][0])))
    width = len(ranks[narrow][0]) + 1
    line = own * width + ranks[narrow][1].reshape(-1)
    order = np.argsort(line, kind="stable")
    starts, stops = (np.searchsorted(line[order], theirs * width + end) for end in ends[narrow])
    others = [i for i in range(len(rest)) if i != narrow]
    if not others:
        counts: NDArray[np.int64] = stops - starts
        return counts
    left = np.stack([ranks[i][1].reshape(-1)[order] for i in others], axis=1).astype(np.int64)
    low = np.stack([ends[i][0] for i in others], axis=1).astype(np.int64)
    high = np.stack([ends[i][1] for i in others], axis=1).astype(np.int64)
    found: Integers = _within(left, low, high, starts.astype(np.int64), stops.astype(np.int64))
    return found


@kernel
def _within(points, low, high, starts, stops):  # type: ignore[no-untyped-def]
    """Count the points from start to stop that are ≥ low and < high in every column."""
    counts = np.zeros(len(low), np.int64)
    for i in range(len(low)):
        for r in range(starts[i], stops[i]):
            j = 0
            while j < points.shape[1] and low[i, j] <= points[r, j] < high[i, j]:
                j += 1
            if j == points.shape[1]:
                counts[i] += 1
    return counts
