"""The table that every search works on: distinct tuples of leaf codes, and how often each occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import group_rows
from anon_pipeline.hierarchy.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True, eq=False)
class DistinctTuples:
    """n records as t distinct tuples, in lexicographic order, so that the row order is forgotten.

    tuples: (t, q) leaf codes.
    counts: (t,) records of each tuple, every one ≥ 1.
    labels: (n,) tuple of each record.
    """

    tuples: NDArray[np.int64] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    labels: NDArray[np.int64] = field(repr=False)

    @property
    def records(self) -> int:
        """Records (n)."""
        return len(self.labels)


def distinct_tuples(codes: NDArray[np.integer], hierarchies: Sequence[Hierarchy]) -> DistinctTuples:
    """Reduce records to distinct tuples.

    Args:
        codes: (n, q) leaf codes.
    Raises:
        ValueError: a column without a hierarchy, or a code that is no leaf of its hierarchy (the kernels
            look codes up without asking again).
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
    return DistinctTuples(np.ascontiguousarray(codes[first], np.int64), counts, labels)


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
    codes = np.empty_like(table.tuples)
    for column, (hierarchy, level) in enumerate(zip(hierarchies, levels, strict=True)):
        codes[:, column] = hierarchy.lookups[level][table.tuples[:, column]]
    first, labels, _ = group_rows(codes)
    return codes[first], labels
