"""Numba kernels that look for a cut of one axis whose two halves keep k, t-closeness and l-diversity.

t-closeness is not monotone: where the cut at the median is not allowable, one far from it may be. Records
are moved between the halves' tallies one by one, from the median outwards, so that a try costs no recount.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.class_rules import Rules, keeps_rules

EVERY = 32
"""On each side of the median so many cuts are tried one by one; after the i-th, i // EVERY are left out."""
FEWEST_TRIES = 8
MOST_WORK = 2**21
"""Sensitive values that the tries in one class may look at, over all axes; but on each axis at least
FEWEST_TRIES cuts are tried."""
NO_BOUND = -1
"""In place of the greatest position of a left half: there is no allowable cut."""


class Tallies(NamedTuple):
    """The sensitive values of a class of m entries; D is the sum of its a columns' distinct values.

    places: (a, m) which of the class's distinct values an entry has, into the arrays over D.
    weights: (m,) records of each entry.
    values: (D,) distinct values, column after column, ascending in each.
    counts: (D,) records of each.
    starts: (a + 1,) where a column begins.
    records: of the class.
    """

    places: NDArray[np.int64]
    weights: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    records: int


@kernel
def _distinct(
    codes: NDArray[np.int32], places: NDArray[np.int64], values: NDArray[np.int64], seen: NDArray[np.int64]
) -> int:
    """Write the distinct codes, ascending, and the place of each entry's among them; return how many."""
    found, most = 0, 0
    for code in codes:
        most = max(most, code)
    # Few possible codes: mark those that occur, number them, and clear the marks.
    if most < 8 * len(codes):
        for code in codes:
            seen[code] = 1
        for code in range(most + 1):
            if seen[code]:
                values[found] = code
                seen[code] = found
                found += 1
        for entry in range(len(codes)):
            places[entry] = seen[codes[entry]]
        seen[: most + 1] = 0
        return found
    # Many: sort them.
    for entry in np.argsort(codes):
        if found == 0 or values[found - 1] != codes[entry]:
            values[found] = codes[entry]
            found += 1
        places[entry] = found - 1
    return found


@kernel
def tally_class(cells: NDArray[np.int32], weights: NDArray[np.int64], seen: NDArray[np.int64]) -> Tallies:
    """Count the sensitive values of a class.

    Args:
        cells: (a, m) values of each column.
        weights: (m,) records of each entry.
        seen: (≥ values of a column,) scratch, all zero before and after.
    """
    a, m = cells.shape
    places, values = np.empty((a, m), np.int64), np.empty(a * m, np.int64)
    starts = np.zeros(a + 1, np.int64)
    for column in range(a):
        begin = starts[column]
        starts[column + 1] = begin + _distinct(cells[column], places[column], values[begin:], seen)
        places[column] += begin
    counts = np.zeros(starts[a], np.int64)
    for column in range(a):
        for entry in range(m):
            counts[places[column, entry]] += weights[entry]
    return Tallies(places, weights, values[: starts[a]], counts, starts, weights.sum())


@kernel
def _half_keeps(rules: Rules, tallies: Tallies, counts: NDArray[np.int64], size: int) -> bool:
    """Whether a half with these records of each of the class's values keeps the rules."""
    if size < rules.k:
        return False
    a, found = len(tallies.starts) - 1, 0
    values, own, ends = (
        np.empty(len(counts), np.int64),
        np.empty(len(counts), np.int64),
        np.empty(a, np.int64),
    )
    for column in range(a):
        for place in range(tallies.starts[column], tallies.starts[column + 1]):
            if counts[place] > 0:
                values[found], own[found] = tallies.values[place], counts[place]
                found += 1
        ends[column] = found
    return keeps_rules(rules, values[:found], own[:found], ends, size)


@kernel
def _allowable(rules: Rules, tallies: Tallies, left: NDArray[np.int64], size: int) -> bool:
    """Whether both halves keep the rules, the left one given by its counts."""
    return _half_keeps(rules, tallies, left, size) and _half_keeps(
        rules, tallies, tallies.counts - left, tallies.records - size
    )


@kernel
def _move(tallies: Tallies, entries: NDArray[np.int64], left: NDArray[np.int64], sign: int) -> None:
    """Move entries into the left half (1) or out of it (−1)."""
    for column in range(len(tallies.starts) - 1):
        for entry in entries:
            left[tallies.places[column, entry]] += sign * tallies.weights[entry]


@kernel
def try_nearest(
    rules: Rules,
    tallies: Tallies,
    order: NDArray[np.int64],
    cuts: tuple[NDArray[np.int64], NDArray[np.int64], int],
    most: int,
) -> tuple[int, int]:
    """Find the nearest allowable cut.

    Args:
        order: (m,) entries in the axis's order.
        cuts: ascending entries to the left of each cut (x,); records to the left of each (x,); which one is
            tried first.
        most: cuts to be tried.
    Returns:
        Entries on the left of the first allowable cut, 0 if none of those that were tried is; and the tries.
        The order is by how far the halves are from equal, the smaller left half first among equals.
    """
    at, upto, start = cuts
    # The cut that is tried first.
    below, above = start - 1, start + 1
    lower = np.zeros(len(tallies.counts), np.int64)
    _move(tallies, order[: at[start]], lower, 1)
    if _allowable(rules, tallies, lower, upto[start]):
        return at[start], 1
    upper, lower_at, upper_at, tried = lower.copy(), at[start], at[start], 1
    while tried < most and (below >= 0 or above < len(at)):
        tried += 1
        down = above >= len(at) or (
            below >= 0 and abs(2 * upto[below] - tallies.records) <= abs(2 * upto[above] - tallies.records)
        )
        if down:
            _move(tallies, order[at[below] : lower_at], lower, -1)
            lower_at = at[below]
            if _allowable(rules, tallies, lower, upto[below]):
                return lower_at, tried
            below -= 1 + (start - below) // EVERY
        else:
            _move(tallies, order[upper_at : at[above]], upper, 1)
            upper_at = at[above]
            if _allowable(rules, tallies, upper, upto[above]):
                return upper_at, tried
            above += 1 + (above - start) // EVERY
    return 0, tried


@kernel
def _in_order(values: NDArray[np.int32], extent: tuple[int, int]) -> NDArray[np.int64]:
    """Sort entries by value, equal ones in their old order, (m,)."""
    low, high = extent
    if high - low >= 4 * len(values):
        return np.argsort(values, kind="mergesort")
    ends = np.zeros(high - low + 2, np.int64)
    for value in values:
        ends[value - low + 1] += 1
    ends = np.cumsum(ends)
    order = np.empty(len(values), np.int64)
    for entry in range(len(values)):
        order[ends[values[entry] - low]] = entry
        ends[values[entry] - low] += 1
    return order


@kernel
def _between_values(
    rules: Rules, tallies: Tallies, values: NDArray[np.int32], order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the cuts between two values of an axis whose halves are large enough, for `try_nearest`.

    The first to be tried is the one after the median, or else the last below it.
    """
    at, upto = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    found, start, records = 0, -1, 0
    for place in range(1, len(order)):
        records += tallies.weights[order[place - 1]]
        if tallies.records - records < rules.k:
            break
        if records >= rules.k and values[order[place - 1]] != values[order[place]]:
            at[found], upto[found] = place, records
            found += 1
            if start < 0 and 2 * records >= tallies.records:
                start = found - 1
    return at[:found], upto[:found], start if start >= 0 else found - 1


@kernel
def allowable_cut(
    rules: Rules,
    tallies: Tallies,
    axis: tuple[NDArray[Any], tuple[int, int], int],
    relaxed: bool,
    goes_left: NDArray[np.bool_],
) -> tuple[int, int]:
    """Mark the left half of an allowable cut of one axis.

    Args:
        tallies: of the class, m entries, at least 2·k records.
        axis: position of each entry (m,); the least and the greatest; number of axes.
        relaxed: whether entries with the same value may be divided, once no cut between two values is
            allowable; weights are 1.
        goes_left: (m,) out: whether an entry is on the left.
    Returns:
        The greatest position on the left, NO_BOUND where no cut that is tried is allowable; and the work, in
        pairs.
    """
    values, extent, axes = axis
    order, pairs = _in_order(values, extent), max(1, len(tallies.counts))
    most = max(FEWEST_TRIES, MOST_WORK // (pairs * axes))
    cuts, left, work = _between_values(rules, tallies, values, order), 0, 2 * len(order)
    if len(cuts[0]) > 0:
        left, tried = try_nearest(rules, tallies, order, cuts, most)
        work += tried * pairs
    if left == 0 and relaxed:
        sizes = np.arange(rules.k, tallies.records - rules.k + 1)
        half = (tallies.records + 1) // 2 - rules.k
        left, tried = try_nearest(rules, tallies, order, (sizes, sizes, half), most)
        work += tried * pairs
    goes_left[:] = False
    for place in range(left):
        goes_left[order[place]] = True
    return values[order[left - 1]] if left > 0 else NO_BOUND, work
