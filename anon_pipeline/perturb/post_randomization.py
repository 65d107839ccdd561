"""PRAM: the original is released, or else a value that is drawn by public shares, whatever the original.

All probabilities are rational, with whole numbers that a sampler can draw. The matrix p·I + (1 − p)·1sᵀ
leaves the shares s as they are on average.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import MAX_EMAX, Decimal, localcontext
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

DRAWING_STEPS: Final = 2**61
"""Steps of the probability with which a value is drawn, instead of releasing the original."""

_LARGEST: Final = 2**62
_ROUNDED: Final = 2**40
_LIKELIEST: Final = 1 - 2**-53


def whole_weights(shares: Sequence[Fraction]) -> tuple[int, ...]:
    """Return shares as the least whole numbers in the same proportion.

    Where their sum would exceed 2^62, as multiples of 2^-40 of the whole, rounded, at least one each.

    Args:
        shares: (D,) each above 0.

    >>> whole_weights([Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)])
    (5, 3, 2)
    """
    common = math.lcm(*(share.denominator for share in shares))
    whole = [int(share * common) for share in shares]
    divisor = math.gcd(*whole)
    if sum(whole) // divisor < _LARGEST:
        return tuple(each // divisor for each in whole)
    return tuple(max(1, round(Fraction(each, sum(whole)) * _ROUNDED)) for each in whole)


def drawn_steps(weights: Sequence[int], epsilon: Fraction) -> int:
    """Return how many of `DRAWING_STEPS` draw a value by the shares: as few as ε allows.

    With probability q a value is drawn by the shares s, else the original is released. P(o|x)/P(o|x′) is at
    most 1 + (1 − q)/(q·min s), so q is 1/(1 + (e^ε − 1)·min s), rounded up.
    """
    with localcontext() as context:
        context.prec, context.Emax = 60, MAX_EMAX
        growth = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp() - 1
        anew = sum(weights) / (sum(weights) + growth * min(weights))
        return min(int(anew * DRAWING_STEPS * (1 + Decimal(10) ** -50)) + 1, DRAWING_STEPS)


def matrix(weights: Sequence[int], epsilon: Fraction) -> NDArray[np.float64]:
    """Return the probability of every released value (column) for every original (row), (D, D)."""
    shares, drawn = np.array(weights, np.float64), drawn_steps(weights, epsilon)
    found = drawn / DRAWING_STEPS * np.tile(shares / shares.sum(), (len(shares), 1))
    found[np.diag_indices(len(shares))] += (DRAWING_STEPS - drawn) / DRAWING_STEPS
    return np.minimum(found, _LIKELIEST)
