"""How much of a column others tell together, by a sum of multiples of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.risk.explained_share import LEAST

Reals = NDArray[np.float64]


def linear_share(values: Reals, others: Reals) -> float:
    """Return the share of a column's variance that others explain together: the adjusted R² of least squares.

    Args:
        values: (n,) of the column; NaN for a missing one. Only records count that lack no value.
        others: (n, p) of the other columns; NaN for a missing value.
    Returns:
        In [0, 1]; 0 where the column is constant, or there are fewer than `LEAST` records beyond p + 1.
    Source:
        Theil (1961): R² adjusted for the number of columns.

    >>> pay, bonus = np.arange(100.0), np.arange(100.0) ** 2 % 37
    >>> linear_share(pay + bonus, np.column_stack([pay, bonus])) > 0.999
    True
    >>> linear_share(bonus, np.column_stack([pay])) < 0.1
    True
    """
    there = np.isfinite(values) & np.isfinite(others).all(axis=1)
    exact, known = _scale(values[there]), _scale(others[there])
    free = len(exact) - known.shape[1] - 1
    if free < LEAST:
        return 0.0
    deviations = exact - exact.mean()
    variance = float((deviations * deviations).sum())
    if variance <= 0:
        return 0.0
    centered = known - known.mean(axis=0)
    scales = np.sqrt((centered * centered).sum(axis=0))
    told = centered / np.where(scales > 0, scales, 1.0)
    left = deviations - told @ np.linalg.lstsq(told, deviations, rcond=None)[0]
    unexplained: float = float((left * left).sum()) / variance * (len(exact) - 1) / free
    return max(0.0, 1.0 - unexplained)


def _scale(numbers: Reals) -> Reals:
    """Divide each column by its largest size, so that no square overflows; R² does not depend on it."""
    if not len(numbers):
        return numbers
    largest = np.abs(numbers).max(axis=0)
    scaled: Reals = numbers / np.where(largest > 0, largest, 1.0)
    return scaled
