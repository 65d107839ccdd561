"""Numba kernels that pick records by distance: the farthest, the k nearest.

Ties are broken by the record's number, never by its place: the farthest is the last of equals, the nearest
the first, so that with more than k records the two never overlap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.microaggregation.geometry import Taxonomies, Work, forget


@kernel
def farthest(distances: NDArray[np.float64], ids: NDArray[np.int64]) -> int:
    """Position of the greatest distance, of equal ones that of the greatest id; −1 if there is none."""
    best, found = -1.0, -1
    for place in range(len(distances)):
        if distances[place] >= best and (distances[place] > best or found < 0 or ids[place] > ids[found]):
            best, found = distances[place], place
    return found


@kernel
def beyond(one: float, first: int, other: float, second: int) -> bool:
    """Whether (distance, id) comes after (distance, id)."""
    return one > other or (one == other and first > second)


@kernel
def sift(
    heap: NDArray[np.float64], places: NDArray[np.int64], ids: NDArray[np.int64], at: int, size: int
) -> None:
    """Let an entry sink in a heap whose greatest (distance, id) is on top."""
    distance, place = heap[at], places[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and beyond(
            heap[child + 1], ids[places[child + 1]], heap[child], ids[places[child]]
        ):
            child += 1
        if not beyond(heap[child], ids[places[child]], distance, ids[place]):
            break
        heap[at], places[at] = heap[child], places[child]
        at = child
    heap[at], places[at] = distance, place


@kernel
def nearest(work: Work, begin: int, alive: int, k: int) -> None:
    """Write the k nearest of the records from ``begin`` to ``alive`` into ``heap`` and ``places``.

    Of equal distances the least id; the farthest of the k comes first. There are at least k.
    """
    heap, places, ids, distances = work.heap, work.places, work.ids, work.distances
    for slot in range(k):
        heap[slot], places[slot] = distances[begin + slot], begin + slot
    for slot in range(k // 2 - 1, -1, -1):
        sift(heap, places, ids, slot, k)
    most = heap[0]
    for place in range(begin + k, alive):
        if distances[place] <= most and beyond(most, ids[places[0]], distances[place], ids[place]):
            heap[0], places[0] = distances[place], place
            sift(heap, places, ids, 0, k)
            most = heap[0]


@kernel
def take(
    tree: Taxonomies, work: Work, labels: NDArray[np.int64], chosen: NDArray[np.int64], alive: int, label: int
) -> int:
    """Put the records at some positions into a cluster; return how many are left."""
    for place in np.sort(chosen)[::-1]:
        labels[work.ids[place]] = label
        alive = forget(tree, work, place, alive)
    return alive
