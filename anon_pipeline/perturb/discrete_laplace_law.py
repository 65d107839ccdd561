"""The law of Laplace noise in closed form: what the samplers must follow and what tuning computes with.

The discrete Laplace with scale b > 0 has mass (1 − q)/(1 + q)·q^|z| at each integer z, q = exp(−1/b);
b = 0 is a point mass at 0. The formulas keep their relative precision for b from 1e-3 to 1e9: 1 − q is
taken with expm1, never by subtraction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def _positive(scale: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return scales with 1 in place of 0, and where they were 0."""
    b = np.asarray(scale, np.float64)
    if not bool(np.all(b >= 0)):
        raise ValueError("scale must be >= 0 everywhere.")
    point = b == 0
    return np.where(point, 1.0, b), point


def pmf(z: ArrayLike, scale: ArrayLike) -> NDArray[np.float64]:
    """Probability that the noise is exactly z.

    Args:
        z: whole grid units, any shape that broadcasts with `scale`.
        scale: b in grid units, ≥ 0.
    Raises:
        ValueError: a scale below 0 or NaN.
    Source:
        Canonne, Kamath and Steinke (2020), section 5.

    >>> pmf([0, 1, -1], 0).tolist()
    [1.0, 0.0, 0.0]
    """
    z = np.asarray(z, np.float64)
    b, point = _positive(scale)
    mass: NDArray[np.float64] = np.where(point, z == 0, np.tanh(0.5 / b) * np.exp(-np.abs(z) / b))
    return mass


def log_odds(z: ArrayLike, scale: ArrayLike) -> NDArray[np.float64]:
    """Return ln P(Z = z)/P(Z = 0) = −|z|/b, in whole z; see `pmf`.

    >>> log_odds([0, 3, 1], [2, 2, 0]).tolist()
    [-0.0, -1.5, -inf]
    """
    b, point = _positive(scale)
    z = np.abs(np.asarray(z, np.float64))
    return np.where(point & (z > 0), -np.inf, -z / b)


def cdf(z: ArrayLike, scale: ArrayLike) -> NDArray[np.float64]:
    """Probability that the noise is at most z.

    Args:
        z: grid units (a fraction counts as its floor; ±inf is allowed), broadcasts with `scale`.
        scale: b in grid units, ≥ 0.
    Raises:
        ValueError: a scale below 0 or NaN.

    >>> cdf([-1, 0], 0).tolist()
    [0.0, 1.0]
    """
    z = np.floor(np.asarray(z, np.float64))
    b, point = _positive(scale)
    tail = np.exp(-np.where(z < 0, -z, z + 1) / b) / (1 + np.exp(-1 / b))
    return np.where(point, z >= 0, np.where(z < 0, tail, 1 - tail))


def mean_absolute(scale: ArrayLike) -> NDArray[np.float64]:
    """E|Z| = 2q/(1 − q²) of the discrete Laplace, in grid units; see `pmf`."""
    b, point = _positive(scale)
    return np.where(point, 0.0, 2 * np.exp(-1 / b) / -np.expm1(-2 / b))


def excess(m: ArrayLike, scale: ArrayLike) -> NDArray[np.float64]:
    """E max(Z − m, 0) = q^(m + 1)/(1 − q²) of the discrete Laplace, in grid units.

    Args:
        m: whole grid units ≥ 0 (∞ is allowed), broadcasts with `scale`.
        scale: b in grid units, ≥ 0.
    Raises:
        ValueError: a scale below 0 or NaN.
    """
    b, point = _positive(scale)
    return np.where(point, 0.0, np.exp(-(np.asarray(m, np.float64) + 1) / b) / -np.expm1(-2 / b))


def variance(scale: ArrayLike) -> NDArray[np.float64]:
    """E Z² = 2q/(1 − q)² of the discrete Laplace, in squared grid units; see `pmf`."""
    b, point = _positive(scale)
    return np.where(point, 0.0, 2 * np.exp(-1 / b) / np.expm1(-1 / b) ** 2)
