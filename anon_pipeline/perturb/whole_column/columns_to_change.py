"""What mechanisms of whole columns get, and the random numbers that they draw."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.perturb.keys import Words

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

_BITS = 53  # of a uniform number


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The columns that one mechanism changes together.

    values: (n, q) original values in grid units, in an order that the values alone decide.
    labels: (n,) class of each record, 0 … m−1.
    amounts: (q,) of each column, in grid units where it is in the column's unit; 0 where it takes none.
    words: (q,) random words of the records, by column.
    """

    values: Integers = field(repr=False)
    labels: Integers = field(repr=False)
    amounts: tuple[float, ...]
    words: tuple[Words, ...] = field(repr=False)

    def uniform(self, column: int, *, part: int = 0) -> Reals:
        """Draw a number in (0, 1) for each record, (n,).

        Args:
            part: what it is for, where several numbers are drawn of a record.
        """
        drawn = self.words[column].of_part(part).rows(slice(None), 1)[:, 0]
        whole = drawn.view(np.uint64) >> np.uint64(64 - _BITS)
        found: Reals = (whole.astype(np.float64) + 0.5) * 2.0**-_BITS
        return found

    def normal(self, column: int) -> Reals:
        """Draw a standard normal number for each record, (n,)."""
        from scipy.special import ndtri  # noqa: PLC0415 - slow to import

        found: Reals = ndtri(self.uniform(column))
        return found

    def ranks(self, column: int, *, part: int = 0) -> tuple[Integers, Integers]:
        """Return the records in order of their values, equal ones at random, and the rank of each, (n,) each.

        Args:
            part: of the random numbers that order equal values.
        """
        random = np.argsort(self.words[column].of_part(part).rows(slice(None), 1)[:, 0], kind="stable")
        order = random[np.argsort(self.values[random, column], kind="stable")].astype(np.int64)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return order, rank


def cholesky(matrix: Reals) -> Reals:
    """Return a lower triangle L with L·Lᵀ = matrix, (q, q); also of a matrix without full rank.

    Args:
        matrix: (q, q) symmetric, positive semidefinite.
    """
    found, rest = np.zeros_like(matrix), matrix.astype(np.float64)
    negligible = 1e-12 * np.diag(rest)
    for j in range(len(rest)):
        if rest[j, j] <= negligible[j]:  # follows from the columns before it
            continue
        found[:, j] = rest[:, j] / np.sqrt(rest[j, j])
        found[:j, j] = 0.0
        rest = rest - np.outer(found[:, j], found[:, j])
    return found
