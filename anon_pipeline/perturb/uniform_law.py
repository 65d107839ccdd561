"""The law of uniform noise on −w … w: a baseline for comparison, it guarantees nothing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

Reals = NDArray[np.float64]


def half_width(diameter: NDArray[np.int64], epsilon: Fraction) -> NDArray[np.int64]:
    """Return w, whose mean error w/2 is that of Laplace noise of scale D/ε: 2·D/ε rounded, at least 1.

    Args:
        diameter: (n,) D in grid units, ≥ 0, with 2·D·denominator + numerator of ε below 2^63.
        epsilon: > 0, only a scale here.
    Returns:
        (n,) grid units; 0 where the diameter is 0.
    Source:
        [KE III-C] compares at equal mean error.

    >>> half_width(np.array([0, 1, 50]), Fraction(4)).tolist()
    [0, 1, 25]
    """
    p, q = epsilon.numerator, epsilon.denominator
    exact = (np.asarray(diameter, np.int64) * (4 * q) + p) // (2 * p)  # floor(2Dq/p + ½)
    return np.where(diameter > 0, np.maximum(exact, 1), 0)


def _width(width: ArrayLike) -> Reals:
    w = np.asarray(width, np.float64)
    if not bool(np.all(w >= 0)):
        raise ValueError("width must be >= 0 everywhere.")
    return w


def pmf(z: ArrayLike, width: ArrayLike) -> Reals:
    """Probability that the noise is exactly z.

    Args:
        z: whole grid units, any shape that broadcasts with ``width``.
        width: w in grid units, ≥ 0.
    Raises:
        ValueError: a width below 0 or NaN.

    >>> pmf([0, 2, 3], 2).tolist()
    [0.2, 0.2, 0.0]
    """
    w = _width(width)
    return np.where(np.abs(np.asarray(z, np.float64)) <= w, 1 / (2 * w + 1), 0.0)


def beyond(m: ArrayLike, width: ArrayLike) -> Reals:
    """Probability that |noise| > m.

    Args:
        m: whole grid units ≥ 0, any shape that broadcasts with ``width``.
        width: w in grid units, ≥ 0.
    Raises:
        ValueError: a width below 0 or NaN.
    """
    w = _width(width)
    return 2 * np.maximum(w - np.asarray(m, np.float64), 0) / (2 * w + 1)


def cdf(z: ArrayLike, width: ArrayLike) -> Reals:
    """Probability that the noise is at most z.

    Args:
        z: grid units (a fraction counts as its floor; ±inf is allowed), broadcasts with ``width``.
        width: w in grid units, ≥ 0.
    Raises:
        ValueError: a width below 0 or NaN.
    """
    w = _width(width)
    return np.clip((np.floor(np.asarray(z, np.float64)) + w + 1) / (2 * w + 1), 0.0, 1.0)


def mean_absolute(width: ArrayLike) -> Reals:
    """E|Z| = w(w+1)/(2w+1), in grid units; see `pmf`."""
    w = _width(width)
    return w * (w + 1) / (2 * w + 1)


def excess(m: ArrayLike, width: ArrayLike) -> Reals:
    """E max(Z − m, 0) = (w − m)(w − m + 1)/(2(2w + 1)) for m ≤ w, in grid units.

    Args:
        m: whole grid units ≥ 0 (∞ is allowed), broadcasts with ``width``.
        width: w in grid units, ≥ 0.
    Raises:
        ValueError: a width below 0 or NaN.
    """
    w = _width(width)
    left = np.maximum(w - np.asarray(m, np.float64), 0.0)
    chances: NDArray[np.float64] = left * (left + 1) / (2 * (2 * w + 1))
    return chances


def variance(width: ArrayLike) -> Reals:
    """E Z² = w(w+1)/3, in squared grid units; see `pmf`."""
    w = _width(width)
    return w * (w + 1) / 3
