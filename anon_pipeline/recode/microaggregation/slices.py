"""Algorithm 6, t-closeness first: every cluster takes a record from each slice of the sensitive column."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.microaggregation.geometry import Taxonomies, Work, center, forget, measure, record
from anon_pipeline.recode.microaggregation.space import Space, make_work

_STEP = 50_000_000


def tclose_size(n: int, *, k: int, t: float) -> int:
    """Return the records that a cluster needs to be t-close.

    Args:
        n: records, ≥ 1.
        k: records that a class needs anyway.
        t: distance, ≥ 0.
    Source:
        [DB (7.3)].

    >>> tclose_size(1000, k=2, t=0.1), tclose_size(1000, k=2, t=0.02), tclose_size(1080, k=30, t=0.05)
    (5, 25, 30)
    """
    return max(k, math.ceil(n / (2 * (n - 1) * Fraction(str(t)) + 1)))


def cluster_size(n: int, *, k: int, t: float) -> int:
    """Return the size of the smaller clusters: `tclose_size`, raised until the clusters take in all records.

    Source:
        [DB (7.4)], with the text's floor; the algorithm's listing has a ceiling, which makes clusters larger
        than the text asks for.
    """
    size = min(n, tclose_size(n, k=k, t=t))
    return size + (n % size) // (n // size)


def slice_sizes(n: int, size: int) -> NDArray[np.int64]:
    """Return the records of each slice: n // size, and what is left in the middle one or two.

    >>> slice_sizes(17, 5).tolist(), slice_sizes(15, 4).tolist()
    ([3, 3, 5, 3, 3], [3, 5, 4, 3])
    """
    sizes, extra = np.full(size, n // size), n % size
    if size % 2:
        sizes[size // 2] += extra
    else:
        sizes[size // 2 - 1] += extra - extra // 2
        sizes[size // 2] += extra // 2
    return sizes


@kernel
def _outermost(tree: Taxonomies, work: Work, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
    """Position of the record farthest from the target, of equal ones that of the greatest id."""
    best, found = -1.0, -1
    for part in range(len(begins)):
        measure(tree, work, begins[part], ends[part])
        for place in range(begins[part], ends[part]):
            distance = work.distances[place]
            if distance > best or (distance == best and work.ids[place] > work.ids[found]):
                best, found = distance, place
    return found


@kernel
def _closest(tree: Taxonomies, work: Work, begin: int, end: int) -> int:
    """Position of the record nearest to the target, of equal ones that of the least id."""
    measure(tree, work, begin, end)
    found = begin
    for place in range(begin + 1, end):
        off, least = work.distances[place], work.distances[found]
        if off < least or (off == least and work.ids[place] < work.ids[found]):
            found = place
    return found


@kernel
def _draw(
    tree: Taxonomies, work: Work, labels: NDArray[np.int64], parts: tuple[NDArray[np.int64], ...], label: int
) -> int:
    """Make a cluster around the target; return its size."""
    begins, ends, extras = parts
    size, second = 0, False
    for part in range(len(begins)):
        again = True
        while again:
            place = _closest(tree, work, begins[part], ends[part])
            labels[work.ids[place]] = label
            ends[part] = forget(tree, work, place, ends[part])
            size += 1
            again = extras[part] > 0 and not second
            if again:
                extras[part] -= 1
                second = True
    return size


@kernel
def _tclose_rounds(
    tree: Taxonomies,
    work: Work,
    labels: NDArray[np.int64],
    parts: tuple[NDArray[np.int64], ...],
    state: NDArray[np.int64],
    rounds: int,
) -> None:
    """Form clusters until none is left: around the record farthest from the average, then from that one."""
    for _ in range(rounds):
        if state[0] == 0:
            return
        if state[1] % 2 == 0:
            center(tree, work, state[0])
        record(tree, work, _outermost(tree, work, parts[0], parts[1]))
        state[0] -= _draw(tree, work, labels, parts, state[1])
        state[1] += 1


def _in_slices(space: Space, codes: NDArray[np.int64]) -> Work:
    """Put the records in the order of their sensitive values, so that slices are neighbors."""
    work = make_work(space, 1)
    ids = np.argsort(codes, kind="stable")
    return work._replace(
        numbers=np.ascontiguousarray(space.numbers[:, ids]),
        categories=np.ascontiguousarray(space.categories[:, ids]),
        ids=ids,
    )


def form_from_slices(space: Space, *, limit: int, clusters: int) -> NDArray[np.int64]:
    """Form so many clusters with one record, some with two, from each slice of an ordered sensitive column.

    Args:
        limit: row of ``space.sensitive``.
        clusters: m, 1 … n; there are ⌊n/m⌋ slices.
    Returns:
        (n,) cluster of each record, 0 … m−1.
    Source:
        [DB Alg. 6], after its cluster size.
    """
    n = space.records
    sizes = slice_sizes(n, n // clusters)
    work = _in_slices(space, space.sensitive[limit])
    ends = np.cumsum(sizes)
    parts = (ends - sizes, ends, sizes - clusters)
    labels, state = np.empty(n, np.int64), np.array([n, 0], np.int64)
    while state[0]:
        cost = int(state[0]) * 3 * max(1, len(space.numbers) + len(space.categories))
        _tclose_rounds(space.taxonomies, work, labels, parts, state, max(1, _STEP // cost))
        space.told(n - int(state[0]))
    return labels


def form_by_algorithm_6(space: Space, *, limit: int, k: int, t: float) -> NDArray[np.int64]:
    """Form the clusters of the book's algorithm.

    Args:
        space: n ≥ k records.
        limit: row of ``space.sensitive``.
        k: records that a class needs anyway.
    Returns:
        (n,) cluster of each record, 0 … m−1. Within t where all sensitive values differ and the clusters'
        size divides n; else nearly always.
    Source:
        [DB Alg. 6].
    """
    n = space.records
    return form_from_slices(space, limit=limit, clusters=n // cluster_size(n, k=k, t=t))
