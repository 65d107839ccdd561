"""The table that every search works on: distinct tuples of leaf codes, and how often each occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.classes import group_columns, group_rows
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.value_counts import Counted, count_columns
from anon_pipeline.risk.histograms import class_histograms


@dataclass(frozen=True, slots=True, eq=False)
class DistinctTuples:
    """n records as t distinct tuples, in lexicographic order, so that the row order is forgotten.

    tuples: (t, q) leaf codes; 32-bit integers if this module made them.
    counts: (t,) records of each tuple, every one ≥ 1.
    counted: values of the limited columns, and of the target, in each tuple; None: nothing is asked of them.
    """

    tuples: NDArray[np.signedinteger] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    counted: Counted | None = field(default=None, repr=False)

    @property
    def records(self) -> int:
        """Records (n)."""
        return int(self.counts.sum())

    @property
    def entries(self) -> int:
        """Tuples, or the values that they hold if these are more: what a table takes room by."""
        return max(len(self.counts), 0 if self.counted is None else len(self.counted.values))

    @property
    def labeled(self) -> bool:
        """Whether the class labels of a target are among the values."""
        return self.counted is not None and self.counted.labeled

    @property
    def distinct(self) -> list[int]:
        """Distinct values of each limited column."""
        counted = self.counted
        columns = range(0 if counted is None else counted.limited)
        return [len(np.unique(counted.column(j, self.counts).codes)) for j in columns] if counted else []


def distinct_tuples(
    codes: NDArray[np.integer],
    hierarchies: Sequence[Hierarchy],
    *,
    weights: NDArray[np.int64] | None = None,
) -> tuple[DistinctTuples, NDArray[np.int64]]:
    """Reduce records, or tuples that were counted elsewhere, to distinct tuples.

    Args:
        codes: (r, q) leaf codes, repeated or not, in any order.
        weights: (r,) records of each row, every one ≥ 1; None: one each.
    Returns:
        The tuples, without values of other columns; tuple of each row, (r,).
    Raises:
        ValueError: a column without a hierarchy, or a code that is no leaf of its hierarchy (the kernels
            look codes up without asking again); a weight below 1.
    """
    if codes.ndim != 2 or codes.shape[1] != len(hierarchies):
        raise ValueError(f"codes must have a column per hierarchy ({len(hierarchies)}), got {codes.shape}.")
    wrong = [
        hierarchy.column
        for column, hierarchy in zip(codes.T, hierarchies, strict=True)
        if len(column) and (column.min() < 0 or column.max() >= hierarchy.leaves)
    ]
    if wrong:
        raise ValueError(
            f"codes must be leaves of their hierarchy; these columns have others: {', '.join(sorted(wrong))}."
        )
    first, labels, counts = group_rows(codes)
    if weights is not None:
        if len(weights) != len(codes) or (len(weights) and int(weights.min()) < 1):
            raise ValueError("weights must be one for each row of codes, each at least 1, got others.")
        counts = np.zeros(len(first), np.int64)
        np.add.at(counts, labels, weights)
    return DistinctTuples(np.ascontiguousarray(codes.take(first, axis=0), np.int32), counts), labels


class ValueCounts(NamedTuple):
    """How often tuples hold each value of one column, as a table grouped by both shows it.

    codes: (r, q) leaf codes, in any order; values: (r,) of the column; counts: (r,) records of each row.
    """

    codes: NDArray[np.integer]
    values: NDArray[np.integer]
    counts: NDArray[np.int64]


def with_values(
    table: DistinctTuples,
    hierarchies: Sequence[Hierarchy],
    columns: Sequence[ValueCounts],
    *,
    labeled: bool = False,
) -> DistinctTuples:
    """Add the values that tuples hold, counted elsewhere; the same as `by_record.count_records` on records.

    Args:
        columns: those with limits, in the order of the limits, then the target.
        labeled: whether the last one is the target.
    Raises:
        ValueError: a column that does not count the records of each tuple.
    """
    found = []
    for codes, values, counts in columns:
        own, labels = distinct_tuples(codes, hierarchies, weights=counts)
        if not np.array_equal(own.tuples, table.tuples) or not np.array_equal(own.counts, table.counts):
            raise ValueError("columns must count the records of each tuple, got other tuples or counts.")
        found.append(class_histograms(values, labels, m=len(own.counts), weights=counts))
    return DistinctTuples(table.tuples, table.counts, count_columns(found, labeled=labeled))


def leaf_counts(table: DistinctTuples, hierarchies: Sequence[Hierarchy]) -> tuple[NDArray[np.int64], ...]:
    """Count the records of each leaf, q times (D,)."""
    return tuple(
        np.bincount(table.tuples[:, column], table.counts, hierarchy.leaves).astype(np.int64)
        for column, hierarchy in enumerate(hierarchies)
    )


def node_classes(
    table: DistinctTuples, hierarchies: Sequence[Hierarchy], levels: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group distinct tuples by their values on a node's levels.

    Args:
        levels: (q,) level of each.
    Returns:
        Codes of each class on those levels, (m, q), in lexicographic order; class of each tuple, (t,).
        Nothing is suppressed.
    """
    lookups = [hierarchy.lookups[level] for hierarchy, level in zip(hierarchies, levels, strict=True)]
    columns = [narrow_integers(own)[table.tuples[:, column]] for column, own in enumerate(lookups)]
    first, labels, _ = group_columns(columns, len(table.tuples))
    codes = np.empty((len(first), len(columns)), np.int64)
    for column, own in enumerate(columns):
        codes[:, column] = own[first]
    return codes, labels


def generalize(
    table: DistinctTuples, hierarchies: Sequence[Hierarchy], levels: Sequence[int]
) -> DistinctTuples:
    """Write the classes of a node as a table whose every tuple stands for one class.

    A code is written as the first leaf below it. So the classes of this node, and of those above it, are the
    same in both tables; below it they are not.

    Args:
        levels: (q,) level of each column.
    """
    codes, labels = node_classes(table, hierarchies, levels)
    tuples = np.empty(codes.shape, np.int32)
    for column, (hierarchy, level) in enumerate(zip(hierarchies, levels, strict=True)):
        tuples[:, column] = np.searchsorted(hierarchy.lookups[level], codes[:, column])
    counts = np.zeros(len(codes), np.int64)
    np.add.at(counts, labels, table.counts)
    counted = None if table.counted is None else table.counted.merge(table.counts, labels, m=len(codes))
    return DistinctTuples(tuples, counts, counted)


def some_tuples(table: DistinctTuples, which: NDArray[np.bool_]) -> DistinctTuples:
    """Return some of the tuples, with what they hold.

    Args:
        which: (t,) whether a tuple is among them; one is, at least.
    """
    counted = table.counted
    if counted is not None:
        into = np.where(which, np.cumsum(which) - 1, -1)
        counted = counted.merge(table.counts, into, m=int(which.sum()))
    return DistinctTuples(table.tuples[which], table.counts[which], counted)
