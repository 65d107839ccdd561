"""Numba kernels of Mondrian: cut a multidimensional table until no allowable cut is left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.class_rules import Rules
from anon_pipeline.recode.mondrian.state import Axes, State
from anon_pipeline.recode.mondrian.tries import NO_BOUND, allowable_cut, tally_class

_NO_CUT, _PAUSE = 0, -1  # in place of the entries of the left half


@kernel
def width(axes: Axes, axis: int, low: int, high: int) -> float:
    """Normalized width of a range; −1 if there is nothing to cut, 1 if it mixes missing and numbers."""
    if low == high:
        return -1.0
    least, greatest = axes.coordinates[axes.starts[axis] + low], axes.coordinates[axes.starts[axis] + high]
    if np.isnan(greatest):
        return 1.0
    return (greatest - least) / axes.spans[axis] if axes.spans[axis] > 0 else 0.0


@kernel
def _extent(values: NDArray[np.int32]) -> tuple[int, int]:
    """Least and greatest of some values."""
    low, high = values[0], values[0]
    for value in values:
        low, high = min(low, value), max(high, value)
    return low, high


@kernel
def _records_upto(values: NDArray[np.int32], weights: NDArray[np.int64], bound: int) -> int:
    """Records whose value is at most a bound."""
    records = 0
    for entry in range(len(values)):
        if values[entry] <= bound:
            records += weights[entry]
    return records


@kernel
def _median(
    values: NDArray[np.int32],
    weights: NDArray[np.int64],
    extent: tuple[int, int],
    records: int,
    seen: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Find the least value that at least half of the records do not exceed.

    Returns:
        It, the records below it, and the records below or on it.
    """
    low, high = extent
    if high - low < 4 * len(values):
        for entry in range(len(values)):
            seen[values[entry] - low] += weights[entry]
        below, median = 0, low
        while 2 * (below + seen[median - low]) < records:
            below += seen[median - low]
            median += 1
        upto = below + seen[median - low]
        seen[: high - low + 1] = 0
        return median, below, upto
    while low < high:
        middle = (low + high) // 2
        if 2 * _records_upto(values, weights, middle) >= records:
            high = middle
        else:
            low = middle + 1
    return low, _records_upto(values, weights, low - 1), _records_upto(values, weights, low)


@kernel
def _quota(below: int, upto: int, records: int, k: int, relaxed: bool) -> int:
    """How many records with the median value go left, where k is all that a class must keep.

    Relaxed division waits until no cut between two values of the axis is allowable. Halving always, as
    LeFevre et al. do, lost more than strict Mondrian on Adult (set b, k = 10, precision 0.298; strict 0.185;
    this 0.177).

    Args:
        below: records under the median.
        upto: records under or on the median; at least half.
        records: all, at least 2·k.
        k: records that each half needs.
        relaxed: whether records with the same value may be divided.
    Returns:
        All of them (the median cut), 0 (the nearest cut below; none above can be allowable where the median
        cut is not), enough for two halves (relaxed), or −1: no cut of this axis is allowable.
    """
    if records - upto >= k:
        return upto - below
    if below >= k:
        return 0
    return (records + 1) // 2 - below if relaxed else -1


@kernel
def cut_by_size(
    state: State, axis: int, place: tuple[int, int, int], extent: tuple[int, int], rule: tuple[int, bool]
) -> int:
    """Mark the left half of the cut of one axis that keeps k; return its greatest position, or NO_BOUND."""
    begin, end, records = place
    values, weights = state.cells[axis, begin:end], state.weights[begin:end]
    median, below, upto = _median(values, weights, extent, records, state.seen)
    quota = _quota(below, upto, records, rule[0], rule[1])
    if quota < 0:
        return NO_BOUND
    goes_left = state.goes_left[begin:end]
    if quota in (0, upto - below):
        bound = median if quota else median - 1
        for entry in range(len(values)):
            goes_left[entry] = values[entry] <= bound
        return bound
    for entry in range(len(values)):
        goes_left[entry] = values[entry] < median or (values[entry] == median and quota > 0)
        if values[entry] == median:
            quota -= weights[entry]
    return median


@kernel
def _part(values, goes_left, spare):  # type: ignore[no-untyped-def]
    """Move those that go left to the front, both halves in their old order; no branch to mispredict."""
    left, right = 0, 0
    for place in range(len(values)):
        value = values[place]
        values[left] = value
        spare[right] = value
        left += goes_left[place]
        right += not goes_left[place]
    for place in range(right):
        values[left + place] = spare[place]
    return left


@kernel
def _divide(state: State, begin: int, end: int) -> int:
    """Move the marked entries of a class to its front; return how many they are."""
    goes_left, spare = state.goes_left[begin:end], state.spare
    for row in range(len(state.cells)):
        _part(state.cells[row, begin:end], goes_left, spare)
    _part(state.weights[begin:end], goes_left, spare)
    return int(_part(state.entries[begin:end], goes_left, spare))


@kernel
def _note_cut(state: State, right: int, axis: int, bound: int) -> None:
    """Note the cut left of an entry, with its number."""
    state.cuts[0, right], state.cuts[1, right] = axis, bound
    state.cuts[2, right] = state.progress[3]
    state.progress[3] += 1


@kernel
def _cut_class(
    state: State, axes: Axes, rules: Rules, place: tuple[int, int, int], relaxed: bool
) -> tuple[int, int]:
    """Cut a class at the first allowable cut, the widest axis first.

    Args:
        rules: what each half must keep.
        place: begin and end of the class, and the work after which to pause before another axis.
        relaxed: whether entries with the same value may be divided.
    Returns:
        Entries of the left half, _NO_CUT or _PAUSE; and the work, in cells.
    """
    begin, end, budget = place
    q, a = len(axes.starts), rules.bounds.shape[1]
    records, work = state.weights[begin:end].sum(), end - begin
    if records < 2 * rules.k:
        return _NO_CUT, work
    # Measure every axis; those that were tried before a pause are out.
    extents, widths = np.empty((q, 2), np.int64), np.empty(q, np.float64)
    for axis in range(q):
        extents[axis] = _extent(state.cells[axis, begin:end])
        if state.tried[axis]:
            widths[axis] = -1.0
        else:
            widths[axis] = width(axes, axis, extents[axis, 0], extents[axis, 1])
    work += 2 * q * (end - begin)
    tallies = tally_class(state.cells[q:, begin:end], state.weights[begin:end], state.seen)
    # Try the axes, the widest first, the first one of equal ones.
    for attempt in range(q):
        axis = int(np.argmax(widths))
        if widths[axis] < 0:
            break
        if attempt > 0 and work > budget:
            return _PAUSE, work
        widths[axis] = -1.0
        extent = (extents[axis, 0], extents[axis, 1])
        # Without limits on sensitive values, sizes alone decide.
        if a == 0:
            bound = cut_by_size(state, axis, (begin, end, records), extent, (rules.k, relaxed))
        else:
            values, goes_left = state.cells[axis, begin:end], state.goes_left[begin:end]
            bound, more = allowable_cut(rules, tallies, (values, extent, q), relaxed, goes_left)
            work += more
        if bound != NO_BOUND:
            left = _divide(state, begin, end)
            _note_cut(state, begin + left, axis, bound)
            return left, work
        state.tried[axis] = True
    return _NO_CUT, work


@kernel
def advance(state: State, axes: Axes, rules: Rules, relaxed: bool, budget: int) -> bool:
    """Go on dividing entries into classes, for a while.

    Args:
        state: where it stands; changed. All entries together keep the rules.
        relaxed: whether entries with the same value may be divided between the halves; weights are 1.
        budget: cells to be looked at before returning; the axis in progress is finished.
    Returns:
        Whether something is left to do. If not, ``progress[2]`` classes begin at ``begins``.
    Source:
        LeFevre et al. (2006), strict and relaxed; [UT Alg. 3]; [methods 4].
    """
    pending, begin, found = state.progress[:3]
    while pending > 0 and budget > 0:
        end = state.ends[pending - 1]
        left, work = _cut_class(state, axes, rules, (begin, end, budget), relaxed)
        budget -= work
        if left == _PAUSE:
            break
        state.tried[:] = False
        if left != _NO_CUT:
            state.ends[pending] = begin + left
            pending += 1
            continue
        state.begins[found] = begin
        found += 1
        begin = end
        pending -= 1
    state.progress[0], state.progress[1], state.progress[2] = pending, begin, found
    return bool(pending > 0)


@kernel
def cut_axis(state: State, rules: Rules, extent: tuple[int, int], axes: int) -> int:
    """Find the cut of one axis of a class whose entries lack the other axes: the cut that `advance` makes.

    Args:
        state: before its first cut, of the axis alone; at least 2·k records, which keep the rules together.
        extent: least and greatest position.
        axes: of the table.
    Returns:
        The greatest position on the left; NO_BOUND where the axis has no allowable cut.
    """
    everything = (0, len(state.weights), state.weights.sum())
    if rules.bounds.shape[1] == 0:
        return cut_by_size(state, 0, everything, extent, (rules.k, False))
    tallies = tally_class(state.cells[1:], state.weights, state.seen)
    axis = (state.cells[0], extent, axes)
    return allowable_cut(rules, tallies, axis, False, state.goes_left)[0]
