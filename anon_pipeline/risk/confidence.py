"""Confidence: how many originals of its class a released record could stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.risk.class_table import ClassTable, SortedClasses, sort_classes


def confident_counts(
    released: NDArray[np.float64],
    own_labels: NDArray[np.integer],
    originals: NDArray[np.float64],
    *,
    labels: NDArray[np.integer],
    radius: NDArray[np.float64],
    cap: int,
) -> NDArray[np.int64]:
    """Count the originals of its class that each released record could stand for, ℓ.

    An original counts when |y − x| ≤ radius in every column. The comparison has no tolerance: on the
    grid |y − x| is an exact integer, and a radius is either exactly 0 or irrational. Give the originals on
    the grid on which the noise was drawn, or a class of diameter 0 will not find its own values.

    Args:
        released: (r, p) released values, in grid units.
        own_labels: (r,) class of each released record, 0 … m−1.
        originals: (n, p) original values, in grid units, of records suppressed later too.
        labels: (n,) class of each original, 0 … m−1; −1 for a record of no class.
        radius: (m, p) radius of each class and column, in grid units, ≥ 0.
        cap: where counting stops, in records, ≥ 1; k is enough to decide about suppression.
    Returns:
        ℓ of each released record, or ``cap`` if it is larger, (r,). Without a column the class size.
    Raises:
        ValueError: labels that are not compact, or released records of a class that is not there.
    Source:
        [KE V-C]; [methods 7].
    """
    return confidence_table(originals, labels=labels, radius=radius).counts(released, own_labels, cap=cap)


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceTable:
    """Originals that are sorted once, to count those near the values of several releases.

    order: (p,) of the columns in ``radius`` and ``table``.
    radius: (m, p) of each class, in grid units.
    sizes: (m,) originals of each class.
    table: the originals; None without a column.
    """

    order: NDArray[np.int64] = field(repr=False)
    radius: NDArray[np.float64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    table: ClassTable | None = field(repr=False)

    def counts(
        self, released: NDArray[np.float64], own_labels: NDArray[np.integer], *, cap: int
    ) -> NDArray[np.int64]:
        """Count the originals that each released record could stand for; see `confident_counts`."""
        classes, m = np.ascontiguousarray(own_labels, np.int64), len(self.radius)
        if len(classes) and not 0 <= int(classes.min()) <= int(classes.max()) < m:
            raise ValueError(f"own_labels must lie in 0 … {m - 1}. Leave them out.")
        if self.table is None:
            return np.minimum(self.sizes[classes], cap).astype(np.int64)
        values = np.ascontiguousarray(released.take(self.order, axis=1), np.float64)
        arrays = (self.table.rows, self.table.starts, self.table.before, self.table.leads)
        found: NDArray[np.int64] = _counts(values, self.radius, classes, arrays, cap)
        return found


def confidence_table(
    originals: NDArray[np.float64],
    *,
    labels: NDArray[np.integer],
    radius: NDArray[np.float64],
    sort: Callable[[NDArray[np.float64], NDArray[np.integer]], SortedClasses] = sort_classes,
) -> ConfidenceTable:
    """Sort the originals of each class; the arguments are those of `confident_counts`.

    Args:
        sort: sorts them, or remembers that.
    """
    sizes = np.bincount(labels[labels >= 0], minlength=len(radius))
    if originals.shape[1] == 0:
        return ConfidenceTable(np.empty(0, np.int64), radius, sizes, None)
    found = sort(originals, labels)
    order, table = found.order, found.table
    if len(table.starts) != len(radius) + 1:
        raise ValueError(f"radius must have a row per class, got {len(radius)} for {len(table.starts) - 1}.")
    return ConfidenceTable(order, np.ascontiguousarray(radius[:, order], np.float64), sizes, table)


@kernel
def window(column, begin, end, y, reach):  # type: ignore[no-untyped-def]
    """Bisect begin … end of a sorted column: the first value within reach of y, and the first beyond."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if y - column[middle] > reach:
            low = middle + 1
        else:
            high = middle
    first, high = low, end
    while low < high:
        middle = (low + high) // 2
        if column[middle] - y > reach:
            high = middle
        else:
            low = middle + 1
    return first, low


@kernel
def inside(row, y, reach):  # type: ignore[no-untyped-def]
    """Tell whether a row is within reach in every column."""
    for column in range(len(y)):  # noqa: SIM110 - numba compiles the loop, not the generator
        if abs(row[column] - y[column]) > reach[column]:
            return False
    return True


@kernel
def _counts(released, radius, classes, table, cap):  # type: ignore[no-untyped-def]
    """Count rows within reach: by bisection for one column, by a scan that ends at the cap for several.

    Cells are read one by one: rows handed to `inside` take up to twice as long.
    """
    rows, starts, before, leads = table
    counts = np.zeros(len(released), np.int64)
    for i in range(len(released)):
        label, found = classes[i], 0
        lead = leads[label]
        begin, end = window(
            rows[:, lead], starts[label], starts[label + 1], released[i, lead], radius[label, lead]
        )
        if rows.shape[1] == 1:
            counts[i] = min(before[end] - before[begin], cap)
            continue
        for j in range(begin, end):
            column = 0
            while column < rows.shape[1] and (
                abs(rows[j, column] - released[i, column]) <= radius[label, column]
            ):
                column += 1
            if column == rows.shape[1]:
                found += before[j + 1] - before[j]
                if found >= cap:
                    break
        counts[i] = min(found, cap)
    return counts
