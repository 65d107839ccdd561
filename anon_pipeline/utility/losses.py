"""What a release loses by the losses that recoders minimize, computed by the entries that they minimize."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.catalog.entries import Loss
from anon_pipeline.recode.contents import contents_of_records
from anon_pipeline.recode.loss import (
    CellLoss,
    ColumnCosts,
    cell_loss,
)
from anon_pipeline.recode.partition_loss import count_mistaken, lost_in_cells, lost_in_classes
from anon_pipeline.recode.ranges import Axis, make_axis
from anon_pipeline.utility.comparison import Comparison
from anon_pipeline.utility.records import Generalized

Cover = tuple[Axis, NDArray[np.int64], NDArray[np.int64]]


def information_loss(loss: Loss, compared: Comparison) -> float | int | None:
    """Compute an information loss in its unit.

    Returns:
        A share in [0, 1] times ``loss.largest``; None without columns, or without a target that it needs.
    Source:
        [methods 9.1].
    """
    kind = cell_loss(loss.name)
    if kind is not None:
        return lost_by_cells(kind, list(compared.table.generalized.values()))
    if loss.labels and compared.target is None:
        return None
    mistakes = _mistakes(compared) if loss.labels else 0
    share = lost_in_classes(loss.name, compared.sizes, records=compared.records, mistakes=mistakes)
    lost = share * loss.largest(compared.records)
    return int(lost) if loss.whole else float(lost)


def _mistakes(compared: Comparison) -> int:
    """Count the released records whose label is not their class's most frequent one."""
    kept = compared.labels >= 0
    labels = np.unique(compared.labels[kept], return_inverse=True)[1]
    return count_mistaken(contents_of_records(labels, (), compared.answers[kept]))


def lost_by_cells(kind: CellLoss, columns: Sequence[Generalized]) -> float | None:
    """Compute a loss that adds up cells, whatever a policy's weights.

    A record that is not released loses everything in every column that has something to lose.

    Returns:
        In [0, 1]; None without columns.
    """
    if not columns:
        return None
    costs = [(_costs(kind, column), column.counts) for column in columns]
    weights, alike = [1] * len(columns), kind.offset is None
    return lost_in_cells(costs, weights, records=len(columns[0].own), alike=alike)


def _costs(kind: CellLoss, column: Generalized) -> ColumnCosts:
    """Return what each value costs, (v,): by its level; by its range where it is on none.

    Levels and widths have units of their own, so that they are shares of what a suppressed cell costs; but
    for losses with an offset, in which all cells have one.
    """
    hierarchy, on = column.hierarchy, column.levels
    counts = np.bincount(column.own, minlength=hierarchy.leaves)
    costs, own = kind.levels(hierarchy, counts), np.zeros(len(on))
    for level in np.unique(on[on >= 0]).tolist():
        here = on == level
        own[here] = costs[level][hierarchy.lookups[level][column.low[here]]]
    by_level = ColumnCosts(own, kind.suppressed(hierarchy, len(column.own)))
    by_range = kind.ranges(*cover(column), counts)
    if kind.offset is None:
        by_level, by_range = as_shares(by_level), as_shares(by_range)
    offset = 0.0 if kind.offset is None else float(kind.offset(counts))
    return ColumnCosts(np.where(on >= 0, by_level.classes, by_range.classes), by_level.suppressed, offset)


def cover(column: Generalized) -> Cover:
    """Return each value of a column as a range: the axis, its least and greatest position, (v,)."""
    axis = make_axis(column.hierarchy, column.own)
    return axis, axis.positions[column.low], axis.positions[column.high]


def as_shares(costs: ColumnCosts) -> ColumnCosts:
    """Divide by what a suppressed cell costs; nothing costs more."""
    full = costs.suppressed or 1.0
    return ColumnCosts(np.minimum(costs.classes / full, 1.0), float(costs.suppressed > 0))
