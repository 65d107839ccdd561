"""How often values repeat: how many records most of them have, and which records are beyond that."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MOST = 0.95  # of the values


def usual_rows(counts: NDArray[np.int64]) -> int:
    """Return the records of one value that 95 % of the values do not exceed; 1 without values.

    Args:
        counts: (v,) records of each value.

    >>> usual_rows(np.array([1] * 50 + [2] * 45 + [90] * 5))
    2
    """
    return int(np.quantile(counts, _MOST, method="inverted_cdf")) if len(counts) else 1


def share_beyond(counts: NDArray[np.int64], rows: int) -> float:
    """Return the share of the records that are beyond so many of their value, in [0, 1].

    >>> share_beyond(np.array([1, 3, 6]), 3)
    0.3
    """
    return float(np.maximum(counts - rows, 0).sum()) / max(int(counts.sum()), 1)
