"""Losses of generalization other than those that recoders minimize: widths, levels, squared distance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from anon_pipeline.recode.loss import ColumnCosts
from anon_pipeline.recode.partition_loss import lost_in_cells
from anon_pipeline.recode.ranges import lengths
from anon_pipeline.utility.losses import as_shares, cover
from anon_pipeline.utility.records import Generalized


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
    lines = [column for column in columns if column.hierarchy.places is not None]
    if not lines:
        return None
    shares = [as_shares(lengths(*cover(column))).classes for column in lines]
    costs = [(ColumnCosts(own, 1.0), column.counts) for own, column in zip(shares, lines, strict=True)]
    return lost_in_cells(costs, [1] * len(lines), records=len(lines[0].own), alike=True)


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
