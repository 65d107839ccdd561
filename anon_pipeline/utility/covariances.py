"""Covariances of columns before and after, in the units of the input, for `components` and `inference`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.utility.moments import at_most_one


class Covariances(NamedTuple):
    """Of p columns that vary in the input, over the records without a missing number.

    before, after: (p, p), in standard deviations of the input.
    records, released: that they are computed from.
    """

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    records: int
    released: int


def covariances(before: NDArray[np.float64], after: NDArray[np.float64]) -> Covariances | None:
    """Compute the covariances of a release and of its input.

    Args:
        before: (n, p) finite numbers of the input; NaN for missing. after: (r, p) released ones.
    Returns:
        None where fewer than two columns vary, or fewer than p + 2 records are complete before or after,
        or where the release varies beyond all numbers in the units of the input.
    """
    own, released = (table[~np.isnan(table).any(axis=1)] for table in (before, after))
    if not len(own) or not len(released):
        return None
    vary = np.flatnonzero(own.min(axis=0, initial=np.inf) < own.max(axis=0, initial=-np.inf))
    if len(vary) < 2 or min(len(own), len(released)) < len(vary) + 2:
        return None
    pairs = [at_most_one(own[:, j], released[:, j]) for j in vary]
    own, released = (np.stack([pair[side] for pair in pairs], axis=1) for side in (0, 1))
    middle = own.mean(axis=0)
    scale = np.sqrt(np.mean((own - middle) ** 2, axis=0))
    if not (scale > 0).all():
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        first, second = ((table - table.mean(axis=0)) / scale for table in (own, released))
        pair = first.T @ first / len(first), second.T @ second / len(second)
    if not all(np.isfinite(matrix).all() for matrix in pair):
        return None
    return Covariances(*pair, len(first), len(second))


def correlations_of(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the correlations of covariances, (p, p); 0 with a column that does not vary.

    >>> correlations_of(np.array([[4.0, 1.0], [1.0, 1.0]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    scale = np.sqrt(np.diag(matrix))
    vary = scale > 0
    inverse = np.where(vary, 1 / np.where(vary, scale, 1.0), 0.0)
    found: NDArray[np.float64] = matrix * inverse[:, None] * inverse[None, :]
    np.fill_diagonal(found, 1.0)
    return found
