"""How often tuples hold each value of the columns that are not generalized: counts in place of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.risk.histograms import ClassHistograms, merge_classes


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """The values that t tuples hold of a columns: those with limits, in the order of the limits; the target.

    Tuple after tuple, and column after column in each, as the kernels of a search read them.

    starts: (t·a + 1,) where the values of a tuple and a column begin.
    values: (d,) ascending within a tuple and a column.
    counts: (d,) records of the tuple with that value, each ≥ 1.
    columns: a.
    labeled: whether the last column is the target.
    """

    starts: NDArray[np.int64] = field(repr=False)
    values: NDArray[np.int64] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    columns: int
    labeled: bool = False

    @property
    def limited(self) -> int:
        """Number of columns with limits."""
        return self.columns - self.labeled

    def column(self, place: int, sizes: NDArray[np.int64]) -> ClassHistograms:
        """Return the values of one column alone, by tuple.

        Args:
            sizes: (t,) records of each tuple.
        """
        if self.columns == 1:
            return ClassHistograms(self.starts, self.values, self.counts, sizes)
        begins = self.starts[place : -1 : self.columns]
        lengths = self.starts[place + 1 :: self.columns] - begins
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        pairs = np.repeat(begins - starts[:-1], lengths) + np.arange(starts[-1])
        return ClassHistograms(starts, self.values[pairs], self.counts[pairs], sizes)

    def merge(self, sizes: NDArray[np.int64], into: NDArray[np.int64], *, m: int) -> Counted:
        """Add up the values of tuples that become one.

        Args:
            sizes: (t,) records of each tuple.
            into: (t,) what each becomes, 0 … m−1 without gaps; −1 for one that is left out.
        """
        found = [merge_classes(self.column(place, sizes), into, m=m) for place in range(self.columns)]
        return count_columns(found, labeled=self.labeled) or self


def count_columns(histograms: Sequence[ClassHistograms], *, labeled: bool = False) -> Counted | None:
    """Lay the histograms of several columns out tuple by tuple; None where there is no column.

    Args:
        histograms: of the limited columns, in their order, then of the target; all of the same t tuples.
        labeled: whether the last one is the target's.
    """
    if not histograms:
        return None
    a, first = len(histograms), histograms[0]
    if a == 1:
        return Counted(first.starts, first.codes, first.counts, 1, labeled)
    lengths = np.stack([np.diff(own.starts) for own in histograms], axis=1).reshape(-1)
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    values, counts = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.int64)
    for column, own in enumerate(histograms):
        shift = starts[column:-1:a] - own.starts[:-1]
        places = np.arange(len(own.codes)) + np.repeat(shift, np.diff(own.starts))
        values[places], counts[places] = own.codes, own.counts
    return Counted(starts, values, counts, a, labeled)
