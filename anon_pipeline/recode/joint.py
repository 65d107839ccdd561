"""Tuples with the values of all limited columns together: what recoders need that look at several at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import group_rows
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.by_record import ByRecord, count_records
from anon_pipeline.recode.contents import ClassContents, contents_of_tuples
from anon_pipeline.recode.tuples import DistinctTuples, distinct_tuples
from anon_pipeline.risk.histograms import class_histograms


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """n records as e entries: combinations of a tuple and a value of each of a limited columns.

    table: the distinct tuples; of values, those of the target alone, where the loss asks for labels.
    tuples: (e,) tuple of each entry.
    values: (a, e) values of the limited columns, in the order of the limits.
    weights: (e,) records of each entry, every one ≥ 1.
    """

    table: DistinctTuples = field(repr=False)
    tuples: NDArray[np.int64] = field(repr=False)
    values: NDArray[np.int64] = field(repr=False)
    weights: NDArray[np.int64] = field(repr=False)

    @property
    def records(self) -> int:
        """Records (n)."""
        return self.table.records

    @property
    def labeled(self) -> bool:
        """Whether there are class labels of a target."""
        return self.table.labeled

    @property
    def distinct(self) -> list[int]:
        """Distinct values of each limited column."""
        return [len(np.unique(row)) for row in self.values]

    def contents(self, classes: NDArray[np.int64]) -> ClassContents:
        """Look into classes of tuples.

        Args:
            classes: (t,) class of each tuple, 0 … m−1 without gaps; none is suppressed.
        """
        own, m = classes[self.tuples], int(classes.max(initial=-1)) + 1
        limited = tuple(class_histograms(row, own, m=m, weights=self.weights) for row in self.values)
        return replace(contents_of_tuples(self.table, classes), limited=limited)


def join_records(records: ByRecord, *, labeled: bool) -> Joint:
    """Group records that have the same tuple and sensitive values; the entries are in their order.

    Args:
        labeled: whether the loss asks for the target.
    """
    table = count_records(replace(records, sensitive=()), labeled=labeled)
    if not records.sensitive:
        t = len(table.counts)
        return Joint(table, np.arange(t), np.empty((0, t), np.int64), table.counts)
    first, _, weights = group_rows(np.stack([records.labels, *records.sensitive], axis=1))
    values = np.stack([codes[first] for codes in records.sensitive])
    return Joint(table, records.labels[first], values, weights.astype(np.int64))


def join_counts(
    codes: NDArray[np.integer],
    values: Sequence[NDArray[np.int64]],
    counts: NDArray[np.int64],
    hierarchies: Sequence[Hierarchy],
) -> Joint:
    """Take in entries that were counted elsewhere; the same as `join_records` on the records.

    Args:
        codes: (r, q) leaf codes, repeated or not, in any order.
        values: (r,) values of each limited column, in the order of the limits.
        counts: (r,) records of each row, every one ≥ 1.
    Raises:
        ValueError: codes that do not fit the hierarchies, or counts below 1.
    """
    table, labels = distinct_tuples(codes, hierarchies, weights=counts)
    first, entries, _ = group_rows(np.stack([labels, *values], axis=1))
    weights = np.zeros(len(first), np.int64)
    np.add.at(weights, entries, counts)
    own = np.array([row[first] for row in values], np.int64).reshape(len(values), len(first))
    return Joint(table, labels[first], own, weights)
