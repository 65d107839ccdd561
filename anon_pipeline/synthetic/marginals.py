"""The distribution of one column, without values that fewer than k records have.

Categories that are rarer are left out; if all are, the column is its ``otherwise``, which is declared.

Numbers are replaced by a quantile function that goes through the means of groups of at least k neighbours,
from the first mean to the last one: no released number is that of a single record, and none lies beyond the
mean of the k largest or smallest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.declared.domain_codes import code_of_otherwise
from anon_pipeline.policy.declared_columns import DeclaredColumn

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Marginal:
    """A distribution that values are drawn from by numbers in [0, 1].

    ends: (m,) cumulative probabilities, the last one 1.
    values: (m,) codes of categories; of numbers the means of the groups.
    numeric: whether it is interpolated.
    highest: code of the largest value.
    """

    ends: Reals
    values: Reals
    numeric: bool
    highest: int

    def draw(self, places: Reals) -> Integers:
        """Return the codes at some places in [0, 1], (r,)."""
        if not self.numeric:
            found = np.searchsorted(self.ends, places, side="right")
            return self.values[np.minimum(found, len(self.values) - 1)].astype(np.int64)
        middles = self.ends - np.diff(self.ends, prepend=0) / 2
        codes = np.floor(np.interp(places, middles, self.values) + 0.5)
        return np.clip(codes, 0, self.highest).astype(np.int64)


def marginal_of(column: DeclaredColumn, codes: Integers, weights: Integers, k: int) -> Marginal:
    """Return the distribution of a column.

    Args:
        codes: (n,) n ≥ 1.
        weights: (n,) how often each record counts, not all 0.
        k: see the module; with fewer records all of them are one group.
    """
    if column.values is not None:
        records = np.bincount(codes, minlength=column.size)
        counts: NDArray[Any] = np.bincount(codes, weights, minlength=column.size)
        kept = np.flatnonzero((records >= k) & (counts > 0))
        if not len(kept):
            kept, counts = np.array([code_of_otherwise(column)]), np.ones(column.size)
        return Marginal(_ends(counts[kept]), kept.astype(np.float64), numeric=False, highest=column.size - 1)
    order = np.argsort(codes, kind="stable")
    groups = np.minimum(np.arange(len(codes)) // k, max(len(codes) // k - 1, 0))
    means = np.bincount(groups, codes[order]) / np.bincount(groups)
    counts = np.bincount(groups, weights[order])
    kept = np.flatnonzero(counts > 0)
    return Marginal(_ends(counts[kept]), means[kept], numeric=True, highest=column.size - 1)


def _ends(counts: NDArray[Any]) -> Reals:
    found: Reals = np.cumsum(counts) / counts.sum()
    found[-1] = 1.0
    return found
