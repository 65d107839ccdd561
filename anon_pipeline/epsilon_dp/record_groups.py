"""Groups of k records whose formation one record changes little.

Insensitive microaggregation: groups are the k first records of those that are left, by a total order of the
domain, one order or several in turns, which the data does not decide. So where one record is replaced, each
group changes by one record at most, and its sum by the range of a column at most.

Source: [DB 9.1, 9.3], Algorithm 7, Propositions 9.3 and 9.4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy

Integers = NDArray[np.int64]
_UNIT = 2**20
"""The range of each column, in the units in which distances are computed: exact integers."""


def group_sizes(records: int, k: int) -> Integers:
    """Return the sizes of groups: k each, and the last one the rest, at most 2k − 1."""
    many = max(records // k, 1)
    sizes = np.full(many, k, np.int64)
    sizes[-1] = records - k * (many - 1)
    return sizes


def record_groups(policy: EpsilonDpPolicy, codes: Integers, *, k: int, corners: bool) -> Integers:
    """Return the group of each record, (n,).

    Args:
        codes: (n, columns) see `domain_codes`.
        k: of each group; the last one has up to 2k − 1 records.
        corners: whether the orders begin at opposite corners of the domain in turns; otherwise at the lowest
            one.
    """
    places = domain_corners(policy) if corners else domain_corners(policy)[:1]
    sizes = group_sizes(len(codes), k)
    orders = [_order_from(policy, codes, corner) for corner in places]
    groups, firsts = np.full(len(codes), -1, np.int64), [0] * len(orders)
    for number, size in enumerate(sizes):
        turn = number % len(orders)
        order, taken = orders[turn], 0
        while taken < size:
            block = order[firsts[turn] : firsts[turn] + int(size - taken)]
            free = block[groups[block] < 0]
            groups[free] = number
            taken, firsts[turn] = taken + len(free), firsts[turn] + len(block)
    return groups


def domain_corners(policy: EpsilonDpPolicy) -> list[Integers]:
    """Return the corners that orders begin at, each followed by the opposite one; (columns,) codes each.

    With one or two columns these are all corners; with more, those where one column or none is at its other
    end, and their opposites.
    """
    sizes = np.array([column.size for column in policy.columns.values()], np.int64)
    lowest = np.zeros(len(sizes), np.int64)
    found: list[Integers] = []
    for turned in range(-1, len(sizes)):
        corner = lowest.copy()
        if turned >= 0:
            corner[turned] = sizes[turned] - 1
        for one in (corner, sizes - 1 - corner):
            if not any((one == other).all() for other in found):
                found.append(one)
    return found


def _order_from(policy: EpsilonDpPolicy, codes: Integers, corner: Integers) -> Integers:
    """Return the records by their distance to a corner; equally distant ones by their codes, (n,)."""
    distance = np.zeros(len(codes), np.int64)
    for place, column in enumerate(policy.columns.values()):
        apart = np.abs(codes[:, place] - corner[place])
        apart = _in_units(apart, column.steps) if column.values is None else (apart > 0) * _UNIT
        distance += apart * apart
    return np.lexsort((*codes.T[::-1], distance)).astype(np.int64)


def _in_units(apart: Integers, steps: int) -> Integers:
    """Return distances in units of 2⁻²⁰ of the range, rounded down, exactly: steps have at most 40 bits."""
    high, low = apart >> 20, apart & (_UNIT - 1)
    whole, rest = np.divmod(high * _UNIT, steps)
    scaled: Integers = whole * _UNIT + (rest * _UNIT + low * _UNIT) // steps
    return scaled
