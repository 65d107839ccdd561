"""Rank swapping: each value is exchanged with another one whose rank is near.

Source: [DB 3.2], Algorithm 1, after Greenberg (1987).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from anon_pipeline.base.compilation import kernel
from anon_pipeline.perturb.whole_column.columns_to_change import Columns, Integers

_ORDER = 1  # part of the words that puts equal values into an order


def rank_swap(columns: Columns) -> Integers:
    """Exchange each value with one of a rank at most the amount away; each column by itself.

    Args:
        columns: their amounts are the largest difference of two exchanged ranks, as a share of the records;
            at least one rank.
    Returns:
        (n, q) released values: those of the column, in other places.
    """
    found = np.empty_like(columns.values)
    for column, amount in enumerate(columns.amounts):
        order, _ = columns.ranks(column, part=_ORDER)
        reach = max(math.floor(Fraction(repr(amount)) * len(order)), 1)
        partner = partners(columns.uniform(column)[order], reach)
        found[order, column] = columns.values[order[partner], column]
    return found


def partners(uniform: np.ndarray, reach: int) -> Integers:
    """Return the rank that each rank is exchanged with; its own where nobody is left in reach.

    From the lowest rank that is not exchanged, one of those not exchanged within reach is drawn.

    Args:
        uniform: (n,) random numbers in (0, 1).
        reach: largest difference of two ranks, ≥ 1.
    """
    found = np.arange(len(uniform), dtype=np.int64)
    count = np.int32 if len(uniform) < 2**31 else np.int64  # half the bytes stay in the processor's cache
    _pair(np.ascontiguousarray(uniform, np.float64), reach, found, np.zeros(len(uniform) + 1, count))
    return found


@kernel
def _pair(uniform, reach, partner, tree):  # type: ignore[no-untyped-def]
    """Draw the partners; the tree (Fenwick's) counts the ranks that are not exchanged yet."""
    n = len(uniform)
    top = 1
    while 2 * top <= n:
        top *= 2
    for i in range(1, n + 1):
        tree[i] = i & -i
    for i in range(n):
        if partner[i] != i:
            continue
        last = min(n - 1, i + reach)
        # Ranks that are free: all before and including i (0 of those before), and those in reach.
        upto = 0
        at = last + 1
        while at > 0:
            upto += tree[at]
            at -= at & -at
        free = upto - 1  # without rank i, the lowest that is free
        if free > 0:
            wanted = 1 + min(int(uniform[i] * free), free - 1)  # of the free ranks after i
            left, at, step = wanted + 1, 0, top  # i itself is the first free rank
            while step > 0:
                if at + step <= n and tree[at + step] < left:
                    at += step
                    left -= tree[at]
                step //= 2
            partner[i], partner[at] = at, i
            other = at + 1
            while other <= n:
                tree[other] -= 1
                other += other & -other
        own = i + 1
        while own <= n:
            tree[own] -= 1
            own += own & -own
