"""The mean of simulated shares and its standard error, by groups of classes: few draws are enough.

Noise is independent between classes, so the spread over the draws can be taken of each group by itself, and
their sum has the degrees of freedom of all: two draws of 64 groups estimate the error better than 8 of the
    whole.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

MOST = 64
"""Groups."""

_ENOUGH = 7  # degrees of freedom of a standard error: those of eight draws of the whole


def groups_of(sizes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Put classes into groups of about as many records each.

    Args:
        sizes: (m,) records of each class.
    Returns:
        Group of each class, (m,), 0 … G−1, G ≤ `MOST`: by falling size, to and fro.
    """
    many = min(MOST, len(sizes))
    place = np.arange(len(sizes)) % (2 * many)
    groups = np.empty(len(sizes), np.int64)
    groups[np.argsort(-np.asarray(sizes, np.int64), kind="stable")] = np.minimum(place, 2 * many - 1 - place)
    return groups


def draws_of(sizes: NDArray[np.integer], *, records: int) -> int:
    """Return how many draws are needed, 2 … 8: for so many records in all, and to know the standard error.

    If the variance of a group's sum is in proportion to its records N, the error of (D − 1) spreads of each
    has (D − 1)·(ΣN)²/ΣN² degrees of freedom.

    Args:
        sizes: (m,) records of each class.
        records: that all draws together must have, up to eight draws.
    Source:
        Satterthwaite (1946), An approximate distribution of estimates of variance components.
    """
    whole = np.bincount(groups_of(sizes), weights=sizes)
    freedom = float(whole.sum() ** 2 / np.square(whole).sum())
    enough = max(math.ceil(records / float(whole.sum())), 1 + math.ceil(_ENOUGH / freedom - 1e-9))
    return min(max(enough, 2), 1 + _ENOUGH)


def combined_ratio(counted: NDArray[np.number], of: NDArray[np.number]) -> tuple[float, float]:
    """Return the share of all draws together, and its standard error.

    Args:
        counted: (D, G) what is counted in each draw and group.
        of: (D, G) records that it is counted of; not all 0.
    Returns:
        Σ counted/Σ of, and the error of that ratio to the first order; 1 of a single draw.
    Source:
        Cochran (1977), Sampling Techniques, 6.11: the combined ratio estimate of a stratified sample.
    """
    whole, draws = math.fsum(np.ravel(of).tolist()), len(of)
    share = math.fsum(np.ravel(counted).tolist()) / whole
    if draws == 1:
        return share, 1.0
    beyond = np.asarray(counted, np.float64) - share * np.asarray(of, np.float64)
    spread = draws * np.var(beyond, axis=0, ddof=1)
    return share, math.sqrt(math.fsum(spread.tolist())) / whole
