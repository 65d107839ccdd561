"""Records grouped by their codes on some levels: sorted numbers, of which any run of classes is a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.classes import group_columns, pack_columns
from anon_pipeline.recode.tuples import DistinctTuples
from anon_pipeline.recode.value_counts import count_columns
from anon_pipeline.risk.histograms import ClassHistograms

_LARGEST_KEY: Final = 2**62
_DENSE: Final = 2  # numbers with at most one value for so many records are counted in place, not sorted


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """What m classes hold of one column: where each begins, (m + 1,); value and count of each pair, (d,)."""

    starts: NDArray[np.int64] = field(repr=False)
    codes: NDArray[np.signedinteger] = field(repr=False)
    counts: NDArray[np.signedinteger] = field(repr=False)

    def histograms(self, run: slice, sizes: NDArray[np.int64]) -> ClassHistograms:
        """Return those of a run of classes, which have so many records, (r,)."""
        begin, end = int(self.starts[run.start]), int(self.starts[run.stop])
        starts = self.starts[run.start : run.stop + 1] - begin
        codes, counts = (own[begin:end].astype(np.int64) for own in (self.codes, self.counts))
        return ClassHistograms(starts, codes, counts, sizes)


@dataclass(frozen=True, slots=True, eq=False)
class GroupedRecords:
    """The m classes of records, in lexicographic order of their codes.

    codes: (m, q) of each class, in as few bytes as hold them.
    sizes: (m,) records of each.
    values: of the other columns.
    """

    codes: NDArray[np.signedinteger] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    values: tuple[_Values, ...] = field(repr=False)

    @property
    def entries(self) -> int:
        """Classes, or the values that they hold if these are more."""
        return max(len(self.sizes), sum(len(own.codes) for own in self.values))

    def table(self, run: slice, lookups: Sequence[NDArray[np.int64]], *, labeled: bool) -> DistinctTuples:
        """Return a run of classes as a table, each written as its first leaf on each level.

        Args:
            lookups: q times (D,) code of each leaf on the level of the codes.
            labeled: whether the last of the other columns is a target.
        """
        sizes, codes = self.sizes[run], self.codes[run]
        leaves = [np.searchsorted(lookup, own) for lookup, own in zip(lookups, codes.T, strict=True)]
        found = [own.histograms(run, sizes) for own in self.values]
        tuples = np.stack(leaves, axis=1).astype(np.int32)
        return DistinctTuples(tuples, sizes, count_columns(found, labeled=labeled))


def group_records(
    columns: Sequence[NDArray[np.integer]], others: Sequence[NDArray[np.integer]]
) -> GroupedRecords:
    """Group records by their codes, and count the values of other columns in each group.

    Args:
        columns: q ≥ 1 times (n,) integers ≥ 0, n ≥ 1.
        others: (n,) integers ≥ 0 each.
    """
    widths = [int(own.max()) + 1 for own in columns]
    other = max((int(own.max()) + 1 for own in others), default=1)
    if math.prod(widths) * other > _LARGEST_KEY:
        first, labels, _ = group_columns(columns, len(columns[0]))
        key, distinct = labels, np.stack([own[first] for own in columns], axis=1)
    else:
        key, distinct = pack_columns(columns)[0], None
    if not others:
        keys, sizes = _count(key.copy() if distinct is not None else key, math.prod(widths))
        return GroupedRecords(_rows(keys, widths, distinct), sizes, ())
    values, keys, sizes = list[_Values](), np.zeros(0, np.int64), np.zeros(0, np.int64)
    for own in others:
        width = int(own.max()) + 1
        pairs, counts = _count(key * width + own, (int(key.max()) + 1) * width)
        classes = pairs // width
        begins = np.flatnonzero(np.concatenate(([True], classes[1:] != classes[:-1])))
        keys, sizes = classes[begins], np.add.reduceat(counts, begins)
        starts = np.concatenate((begins, [len(pairs)]))
        values.append(_Values(starts, narrow_integers(pairs % width), narrow_integers(counts)))
    return GroupedRecords(_rows(keys, widths, distinct), sizes, tuple(values))


def _count(key: NDArray[np.int64], space: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different numbers in ascending order, (m,), and how often each occurs, (m,).

    Args:
        key: (n,) integers ≥ 0, which are sorted in their place.
        space: they are below it.
    """
    records = len(key)
    if space * _DENSE <= records:
        counts = np.bincount(key)
        found = np.flatnonzero(counts)
        return found, counts[found]
    key.sort()
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    return key[starts], np.diff(starts, append=records)


def _rows(
    keys: NDArray[np.int64], widths: Sequence[int], distinct: NDArray[np.integer] | None
) -> NDArray[np.signedinteger]:
    """Return the codes that numbers stand for, (m, q): digits, or rows of a table."""
    if distinct is not None:
        return narrow_integers(distinct[keys])
    rows = np.empty((len(keys), len(widths)), narrow_integers(np.array([max(widths)])).dtype)
    left = keys.copy()
    for column in range(len(widths) - 1, -1, -1):
        left, rows[:, column] = np.divmod(left, widths[column])
    return rows
