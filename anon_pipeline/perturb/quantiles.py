"""Quantiles of integer noise, by inverting its closed forms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Reals = NDArray[np.float64]


def smallest(beyond: Callable[[Reals], Reals], share: float, *, count: int) -> Reals:
    """Return the smallest m ≥ 0 with P(|noise| > m) ≤ share, for each of several noises.

    Args:
        beyond: (count,) whole m to (count,) P(|noise| > m), never growing with m.
        share: in (0, 1).
    Returns:
        (count,) whole grid units.
    """
    low, high = np.full(count, -1.0), np.zeros(count)
    while (short := beyond(high) > share).any():
        low = np.where(short, high, low)
        high = np.where(short, 2 * high + 1, high)
    while (open_ := high - low > 1).any():
        middle = np.where(open_, np.floor((low + high) / 2), high)
        kept = beyond(middle) <= share
        low, high = np.where(kept, low, middle), np.where(kept, middle, high)
    return high


def quantile(share: ArrayLike, cdf: Callable[[Reals], Reals]) -> Reals:
    """Return the smallest whole z with P(noise ≤ z) ≥ share.

    Args:
        share: in (0, 1), any shape.
        cdf: of one noise, for z of that shape.

    >>> quantile([0.2, 0.5, 0.61], lambda z: np.clip((np.floor(z) + 3) / 5, 0, 1)).tolist()
    [-2.0, 0.0, 1.0]
    """
    wanted = np.asarray(share, np.float64)
    low, high = np.full(wanted.shape, -1.0), np.zeros(wanted.shape)
    while (short := cdf(high) < wanted).any():
        high = np.where(short, 2 * high + 1, high)
    while (long := cdf(low) >= wanted).any():
        low = np.where(long, 2 * low, low)
    while (open_ := high - low > 1).any():
        middle = np.where(open_, np.floor((low + high) / 2), high)
        kept = cdf(middle) >= wanted
        low, high = np.where(kept, low, middle), np.where(kept, middle, high)
    return high
