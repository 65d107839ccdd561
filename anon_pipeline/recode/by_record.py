"""Records in memory, and what a search needs of them: counts of tuples and of the values that they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.contents import ClassContents, contents_of_records
from anon_pipeline.recode.tuples import DistinctTuples, distinct_tuples
from anon_pipeline.recode.value_counts import count_columns
from anon_pipeline.risk.histograms import class_histograms


@dataclass(frozen=True, slots=True, eq=False)
class ByRecord:
    """n records in memory; recoders that may part records with equal quasi-identifiers need them.

    table: their distinct tuples.
    labels: (n,) tuple of each record.
    sensitive: (n,) values 0 … v−1 of each limited column, in the order of the limits.
    target: (n,) class label of each record, for a loss that needs labels; None without.
    given: (n,) class of each record, 0 … m−1, for a recoder that gets the classes; None without.
    """

    table: DistinctTuples = field(repr=False)
    labels: NDArray[np.int64] = field(repr=False)
    sensitive: tuple[NDArray[np.int64], ...] = field(default=(), repr=False)
    target: NDArray[np.int64] | None = field(default=None, repr=False)
    given: NDArray[np.int64] | None = field(default=None, repr=False)

    @property
    def records(self) -> int:
        """Records (n)."""
        return len(self.labels)

    @property
    def codes(self) -> NDArray[np.int64]:
        """Leaf codes of each record, (n, q), made anew; a missing value is a leaf as any other."""
        return self.table.tuples[self.labels].astype(np.int64, copy=False)

    def contents(self, classes: NDArray[np.int64], *, labeled: bool = False) -> ClassContents:
        """Look into classes of these records.

        Args:
            classes: (n,) class of each, 0 … m−1 without gaps; −1 for a suppressed one.
            labeled: whether the target is asked for.
        """
        return contents_of_records(classes, self.sensitive, self.target if labeled else None)


def by_record(
    codes: NDArray[np.integer],
    hierarchies: Sequence[Hierarchy],
    *,
    sensitive: Sequence[NDArray[np.int64]] = (),
    target: NDArray[np.int64] | None = None,
    given: NDArray[np.int64] | None = None,
) -> ByRecord:
    """Take records in.

    Args:
        codes: (n, q) leaf codes.
        sensitive: (n,) values of each limited column, in the order of the limits; ``target``: (n,) labels.
        given: (n,) class of each, 0 … m−1.
    Raises:
        ValueError: codes that do not fit the hierarchies.
    """
    table, labels = distinct_tuples(codes, hierarchies)
    return ByRecord(table, labels, tuple(sensitive), target, given)


def count_records(records: ByRecord, *, labeled: bool) -> DistinctTuples:
    """Count the values of the limited columns in every distinct tuple; and those of the target.

    Args:
        labeled: whether the loss asks for the target.
    """
    columns = list(records.sensitive)
    if labeled and records.target is not None:
        columns.append(records.target)
    t = len(records.table.counts)
    found = [class_histograms(codes, records.labels, m=t) for codes in columns]
    counted = count_columns(found, labeled=len(columns) > len(records.sensitive))
    return replace(records.table, counted=counted)
