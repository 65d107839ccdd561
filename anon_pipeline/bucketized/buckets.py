"""Buckets of records with different sensitive values.

Anatomize: as long as there are l values with records left, one record of each of the l most frequent ones
makes a bucket; each record that is left then goes to a bucket without its value. That is possible if no value
has more than n/l records. Buckets are joined until each has k records, which keeps the share of each value at
1/l.

Source: Xiao and Tao (2006), Figure 3; [DB 5.5].
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.declared.random_numbers import RandomNumbers

Integers = NDArray[np.int64]


def refuse_ineligible(values: Integers, l: int) -> None:  # noqa: E741 - the name of the measure
    """Refuse records of which too many have the same value.

    Args:
        values: (n,) codes of the sensitive column.
    Raises:
        InputError: there are no buckets in which each value has a share of 1/l at most.
    """
    most = int(np.bincount(values).max(initial=0))
    if most * l > len(values):
        raise InputError(
            f"l: no value of the sensitive column may have more than 1/{l} of the records, and one does. Use "
            "a smaller l, or values that are declared more finely"
        )


def buckets_of(
    values: Integers,
    *,
    l: int,  # noqa: E741 - the name of the measure
    k: int,
    random: RandomNumbers,
) -> Integers:
    """Return the bucket of each record, (n,): numbered in random order.

    Args:
        values: (n,) codes of the sensitive column, n ≥ l.
        l: different values of each bucket, at least.
        k: records of each bucket, at least; with fewer records there is one bucket.
        random: decides which records of a value are together.
    Raises:
        InputError: see `refuse_ineligible`.
    """
    refuse_ineligible(values, l)
    order = random.permutation(len(values))
    left = {value: order[values[order] == value].tolist() for value in np.unique(values).tolist()}
    buckets = np.full(len(values), -1, np.int64)
    many = _full_buckets(left, buckets, l)
    _add_rest(left, values, buckets, many, random)
    return _join_buckets(buckets, many, max(-(-k // l), 1), random)


def _full_buckets(left: dict[int, list[int]], buckets: Integers, l: int) -> int:  # noqa: E741
    """Fill buckets with one record of each of the l most frequent values; return how many there are."""
    heap = [(-len(records), value) for value, records in left.items()]
    heapq.heapify(heap)
    many = 0
    while len(heap) >= l:
        taken = [heapq.heappop(heap) for _ in range(l)]
        for count, value in taken:
            buckets[left[value].pop()] = many
            if count + 1:
                heapq.heappush(heap, (count + 1, value))
        many += 1
    return many


def _add_rest(
    left: dict[int, list[int]], values: Integers, buckets: Integers, many: int, random: RandomNumbers
) -> None:
    """Put each record that is left into a random bucket that does not have its value."""
    for value, records in left.items():
        if not records:
            continue
        has = np.zeros(many, np.bool_)
        has[buckets[(values == value) & (buckets >= 0)]] = True
        free = np.flatnonzero(~has)
        free = free[random.permutation(len(free))]
        for record, bucket in zip(records, free.tolist(), strict=False):
            buckets[record] = bucket


def _join_buckets(buckets: Integers, many: int, together: int, random: RandomNumbers) -> Integers:
    """Return buckets of which so many were joined to one; what is left over is joined to the last one."""
    joined = np.minimum(random.permutation(many) // together, max(many // together - 1, 0))
    return joined[buckets]
