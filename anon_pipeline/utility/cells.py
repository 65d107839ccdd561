"""What generalization loses, cell by cell: by level, width, leaves, information, squared distance.

Each loss is a mean over the columns of a mean over all n records; a record that is not released loses 1 in
every column that has something to lose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.utility.records import Generalized


def _mean(column: Generalized, losses: NDArray[np.float64]) -> float:
    """Mean over the n records of what their cells lose, given (v,) by released value."""
    counts = column.counts
    suppressed = len(column.own) - int(counts.sum())
    return (math.fsum((losses * counts).tolist()) + suppressed) / len(column.own)


def _over(columns: Sequence[float]) -> float | None:
    return math.fsum(columns) / len(columns) if columns else None


def _widths(column: Generalized) -> NDArray[np.float64]:
    """Range of each value over the range of the table, (v,), in [0, 1]; 1 where numbers and missing mix."""
    places = column.hierarchy.places
    assert places is not None  # noqa: S101 - callers ask for lines alone
    full = column.span or float(column.hierarchy.leaves > 1)
    lengths = places[column.high] - places[column.low]
    shares = np.where(np.isnan(lengths), full, lengths) / (full or 1.0)
    return np.where(column.low == column.high, 0.0, np.minimum(shares, 1.0))


def _by_level(column: Generalized) -> NDArray[np.float64]:
    """Loss of each value, (v,): by its level, or by its width where it is on none."""
    top = column.hierarchy.height - 1
    if column.hierarchy.places is None:
        return column.levels / top
    return np.where(column.levels >= 0, column.levels / max(top, 1), _widths(column))


def precision(columns: Sequence[Generalized]) -> float | None:
    """Compute the mean of l/(h − 1); a range or a mean loses its width over the table's.

    Args:
        columns: q of them; one with a single level loses nothing.
    Returns:
        The loss in [0, 1]; None without columns.
    Source:
        Sweeney; [UT (2.9)]; [methods 9.1].
    """
    return _over([_mean(c, _by_level(c)) if c.hierarchy.height > 1 else 0.0 for c in columns])


def numerical_precision(columns: Sequence[Generalized]) -> float | None:
    """Compute the mean of released range / range of the table, over columns of numbers and of ranks.

    The range of an interval is that of the numbers in the table that it covers.

    Args:
        columns: q of them; categories are left out, a constant column loses nothing but its suppressed cells.
    Returns:
        The loss in [0, 1]; None if no column has numbers.
    Source:
        [methods 9.1].
    """
    return _over([_mean(c, _widths(c)) for c in columns if c.hierarchy.places is not None])


def granularity(columns: Sequence[Generalized]) -> float | None:
    """Compute the mean of (c − 1)/(D − 1) for a value that covers c of D leaves.

    Args:
        columns: q of them; one with a single leaf loses nothing.
    Returns:
        The loss in [0, 1]; None without columns.
    Source:
        [methods 9.1]: (Σ shares − n/D)/(n − n/D).
    """
    return _over(
        [
            _mean(c, (c.high - c.low) / (c.hierarchy.leaves - 1)) if c.hierarchy.leaves > 1 else 0.0
            for c in columns
        ]
    )


def entropy(columns: Sequence[Generalized]) -> float | None:
    """Compute the bits that are lost over those that suppressing everything would lose.

    A cell of value v, generalized to g, loses log₂(count(g)/count(v)), counted over the whole table; one that
    is not released loses as if g were everything.

    Returns:
        The loss in [0, 1]; 0 if every column is constant; None without columns.
    Source:
        Gionis and Tassa's non-uniform entropy; [UT (2.11)]; [methods 9.1].
    """
    lost, most = [], []
    for column in columns:
        n, counts = len(column.own), np.bincount(column.own, minlength=column.hierarchy.leaves)
        below = np.concatenate(([0], np.cumsum(counts)))
        within = np.append(below[column.high + 1] - below[column.low], n)  # −1 is the last one: everything
        pairs, repeats = np.unique(np.stack([column.own, column.codes]), axis=1, return_counts=True)
        own = counts[pairs[0]]
        lost.append(math.fsum((repeats * np.log2(within[pairs[1]] / own)).tolist()))
        most.append(math.fsum((repeats * np.log2(n / own)).tolist()))
    if not columns:
        return None
    total = math.fsum(most)
    return math.fsum(lost) / total if total > 0 else 0.0


def _column_levels(columns: Sequence[Generalized]) -> list[int] | None:
    """Level of each column, if all of its released values are on one."""
    found = [set(c.levels[c.counts > 0].tolist()) for c in columns]
    if not columns or any(len(levels) != 1 or -1 in levels for levels in found):
        return None
    return [levels.pop() for levels in found]


def absolute_distance(columns: Sequence[Generalized]) -> int | None:
    """Compute Σ l over the columns.

    Returns:
        The height of the node; None where a column has no one level: ranges, means, blanked cells, nothing
        released.
    Source:
        [UT (2.7)].
    """
    levels = _column_levels(columns)
    return None if levels is None else sum(levels)


def relative_distance(columns: Sequence[Generalized]) -> float | None:
    """Compute Σ l/(h − 1) over the columns; 1 for a column that says nothing any more.

    Returns:
        In [0, q]; None as `absolute_distance`.
    Source:
        [UT (2.8)].
    """
    levels = _column_levels(columns)
    if levels is None:
        return None
    tops = [column.hierarchy.height - 1 for column in columns]
    return math.fsum(level / top for level, top in zip(levels, tops, strict=True) if top)


def mean_squared_error(columns: Sequence[Generalized]) -> float | None:
    """Compute SSE over cells: the mean of ((released − own)/range)², a range read as its middle.

    Args:
        columns: q of them; categories are left out, and cells whose number is missing before or after.
    Returns:
        In [0, 1], over released cells of numbers and ranks; 0 for a constant column; None without any.
    Source:
        [DB 7]; [methods 9.1].
    """
    squares: list[float] = []
    for column in columns:
        places = column.hierarchy.places
        if places is None:
            continue
        kept = column.codes >= 0
        off = (column.midpoints()[column.codes[kept]] - places[column.own[kept]]) / (column.span or 1.0)
        squares += np.square(off[~np.isnan(off)]).tolist()
    return math.fsum(squares) / len(squares) if squares else None
