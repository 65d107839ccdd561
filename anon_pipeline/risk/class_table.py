"""The originals of every class, sorted, so that neighbors are found without looking at the whole class."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import slices_of
from anon_pipeline.base.compilation import kernel
from anon_pipeline.base.order import count_different, count_values
from anon_pipeline.base.sorting import sort_rows
from anon_pipeline.risk.histograms import class_sizes, starts_of

_REMEMBERED = 3  # tables
_EXACT = 2**53  # to here, each whole number is a float of its own
_LARGEST = 2**62  # of numbers that stand for a class and a row


@dataclass(frozen=True, slots=True, eq=False)
class ClassTable:
    """The distinct rows of m classes, in order of class, then lexicographic.

    rows: (d, p) distinct rows of each class.
    starts: (m + 1,) where each class begins in ``rows``.
    before: (d + 1,) records before each row; row j stands for ``before[j + 1] − before[j]`` of them.
    """

    rows: NDArray[np.float64] = field(repr=False)
    starts: NDArray[np.int64] = field(repr=False)
    before: NDArray[np.int64] = field(repr=False)

    @property
    def diameters(self) -> NDArray[np.float64]:
        """Largest minus smallest value of each class and column, (m, p)."""
        first = self.starts[:-1]
        return np.maximum.reduceat(self.rows, first) - np.minimum.reduceat(self.rows, first)

    @property
    def leads(self) -> NDArray[np.int64]:
        """First column that varies within each class, (m,): its rows are sorted by it. 0 if none does."""
        columns: NDArray[np.int64] = np.argmax(self.diameters > 0, axis=1)
        return columns


def finest_first(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Order columns by their number of distinct values, most first, so that scans by the first are short.

    Returns:
        The columns in that order, (p,); ties in the order given.
    """
    distinct = [count_different(column) for column in values.T] if values.shape[1] > 1 else [1]
    return np.argsort(-np.asarray(distinct), kind="stable")


@dataclass(frozen=True, slots=True, eq=False)
class SortedClasses:
    """The originals of every class, sorted by their finest column first.

    order: (p,) of the columns in ``table``.
    """

    order: NDArray[np.int64] = field(repr=False)
    table: ClassTable


def sort_classes(values: NDArray[np.float64], labels: NDArray[np.integer]) -> SortedClasses:
    """Sort the records of every class by the finest column; the arguments are those of `class_table`."""
    order = finest_first(values)
    if not np.array_equal(order, np.arange(len(order))):
        values = values.take(order, axis=1)
    return SortedClasses(order, class_table(values, labels))


@dataclass(frozen=True, slots=True, eq=False)
class ClassTables:
    """What `sort_classes` made of some records: measures that ask for the same are given the same.

    It remembers a few, by a digest of what was sorted: the records as they are and as bounds have moved them,
    with their classes numbered in one way or another.
    """

    _made: list[tuple[bytes, SortedClasses]] = field(default_factory=list, repr=False)

    def sorted_classes(self, values: NDArray[np.float64], labels: NDArray[np.integer]) -> SortedClasses:
        """Return what `sort_classes` returns."""
        asked = digest_of(values, labels)
        for known, made in self._made:
            if known == asked:
                return made
        found = sort_classes(values, labels)
        del self._made[: max(0, len(self._made) - _REMEMBERED + 1)]
        self._made.append((asked, found))
        return found


def digest_of(values: NDArray[np.float64], labels: NDArray[np.integer]) -> bytes:
    """Digest (n, p) values and (n,) labels: 32 bytes stand for the arrays, which need not be kept."""
    sha = hashlib.sha256(repr(values.shape).encode())
    sha.update(np.ascontiguousarray(values, np.float64).data)
    sha.update(np.ascontiguousarray(labels, np.int64).data)
    return sha.digest()


@kernel
def _group(values, labels, starts):  # type: ignore[no-untyped-def]
    """Copy the rows of classes one after another; rows without a class (−1) are left out."""
    rows = np.empty((starts[-1], values.shape[1]))
    free = starts[:-1].copy()
    for i in range(len(labels)):
        label = labels[i]
        if label >= 0:
            for column in range(values.shape[1]):
                rows[free[label], column] = values[i, column]
            free[label] += 1
    return rows


@kernel
def _sort_within(rows, starts):  # type: ignore[no-untyped-def]
    """Sort the rows of each class in place, lexicographically."""
    longest = 1
    for label in range(len(starts) - 1):
        longest = max(longest, starts[label + 1] - starts[label])
    room = np.empty((longest, rows.shape[1]))
    for label in range(len(starts) - 1):
        sort_rows(rows, starts[label], starts[label + 1], room)


def class_table(values: NDArray[np.float64], labels: NDArray[np.integer]) -> ClassTable:
    """Sort the records of every class and count equal ones together.

    Args:
        values: (n, p), p ≥ 1; finite, in grid units.
        labels: (n,) class of each record, 0 … m−1; −1 for a record of no class.
    Returns:
        The table; the order of the records does not matter.
    Raises:
        ValueError: no class, or a class number that no record has.
    """
    if labels.dtype != np.int64 or not (labels.flags.writeable and labels.flags.c_contiguous):
        labels = np.array(labels, np.int64)  # what may not be written is another type, compiled again
    sizes = class_sizes(labels[labels >= 0], m=int(labels.max(initial=-1)) + 1)
    found = _table_of_whole_numbers(values, labels, m=len(sizes))
    if found is not None:
        return found
    starts = starts_of(sizes)
    rows = _group(np.ascontiguousarray(values, np.float64), labels, starts)
    _sort_within(rows, starts)
    before = np.flatnonzero(_begin_another(rows, starts)).astype(np.int64)
    return ClassTable(
        _take_forward(rows, before[:-1]), np.searchsorted(before[:-1], starts).astype(np.int64), before
    )


def _table_of_whole_numbers(
    values: NDArray[np.float64], labels: NDArray[np.integer], *, m: int
) -> ClassTable | None:
    """Make the table of whole numbers; None of others, and where class and row together are too large.

    A record is then one number, with its class in front, and numbers sort several times as fast as rows.
    """
    in_class = labels >= 0
    if not in_class.all():
        values, labels = values[in_class], labels[in_class]
    least, most = values.min(axis=0), values.max(axis=0)
    if max(-least.min(), most.max()) > _EXACT:
        return None
    spans = [int(high) - int(low) + 1 for low, high in zip(least, most, strict=True)]
    space = m * math.prod(spans)
    if space > _LARGEST:
        return None
    keys = labels.astype(np.int64)  # a copy
    for low, span, column in zip(least, spans, values.T, strict=True):
        whole = column.astype(np.int64)
        if not (whole == column).all():
            return None
        whole -= int(low)
        keys *= span
        keys += whole
    left, counts = count_values(keys, space)
    rows = np.empty((len(left), len(spans)))
    for at in reversed(range(len(spans))):
        left, digit = np.divmod(left, spans[at])
        rows[:, at] = digit + least[at]
    return ClassTable(
        rows, np.searchsorted(left, np.arange(m + 1)).astype(np.int64), np.append(0, np.cumsum(counts))
    )


def _begin_another(rows: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which sorted rows differ from the one before, in value or class; so does the end, (n + 1,)."""
    fresh = np.ones(len(rows) + 1, np.bool_)
    for part in slices_of(len(rows) - 1):
        after = slice(part.start + 1, part.stop + 1)
        fresh[after] = (rows[after] != rows[part]).any(axis=1)
    fresh[starts] = True
    return fresh


def _take_forward(rows: NDArray[np.float64], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the rows at ascending places, written over the first rows: no other array as large is made."""
    for part in slices_of(len(places)):
        rows[part] = rows.take(places[part], axis=0)
    taken = rows[: len(places)]
    return taken if 2 * len(places) > len(rows) else taken.copy()
