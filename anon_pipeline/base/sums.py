"""Sums that do not depend on the order of their terms."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_BITS = 30  # of each term that are added together: sums of up to 2^23 terms are exact
_MOST = 2**17  # terms at a time: their arrays stay small, and in the cache
_LEVELS = 3


def exact_sum(values: NDArray[np.float64]) -> float:
    """Return the sum of finite numbers, rounded once: what `math.fsum` returns, in a tenth of its time.

    The upper 30 bits of all terms are added, exactly, then the 30 below them, and so on; what is left of
    small terms goes to `math.fsum` with these sums.

    Args:
        values: (n,) finite, at most 2^900 in size.
    """
    parts: list[float] = []
    for begin in range(0, len(values), _MOST):
        rest = values[begin : begin + _MOST]
        top = math.frexp(float(np.abs(rest).max(initial=0.0)))[1]
        for level in range(1, _LEVELS + 1):
            unit = math.ldexp(1.0, max(top - _BITS * level, -1000))
            upper = np.rint(rest / unit) * unit
            parts.append(float(upper.sum()))
            rest = rest - upper
        parts += rest[rest != 0].tolist()
    return math.fsum(parts)
