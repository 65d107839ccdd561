"""The law of staircase noise in closed form.

For a diameter D ≥ 1 and ε, with b = exp(−ε): mass a on the middle step |z| < r, a·b^j on the step
r + (j−1)·D ≤ |z| < r + j·D, j ≥ 1. Two values at most D apart are on the same step or on neighboring ones,
so their masses differ by a factor of at most exp(ε), whatever r is. Of all noises that do so it is optimal:
no mass can be moved toward 0. r is chosen so that E|Z| is least. D = 0 is a point mass at 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Reals = NDArray[np.float64]


def middle_width(diameter: ArrayLike, epsilon: float) -> NDArray[np.int64]:
    """Return r, the half width of the middle step that makes E|Z| least: ceil(D/(1 + exp(ε/2))).

    E|Z| as a function of s = r − ½ + D·b/(1−b) is s/2 + C/(2s), C + ¼ = D²·b/(1−b)²; the least whole r is the
    first one with (s + ½)² ≥ C + ¼.

    Args:
        diameter: D in grid units, ≥ 0.
        epsilon: > 0.
    Source:
        Geng and Viswanath (2014) for the real line; derived here for the integers.

    >>> middle_width([0, 1, 10, 100], 1.0).tolist()
    [1, 1, 4, 38]
    """
    share = 1 / (1 + math.exp(min(epsilon, 1_400) / 2))
    return np.maximum(np.ceil(np.asarray(diameter, np.float64) * share), 1).astype(np.int64)


def _parts(diameter: ArrayLike, epsilon: float) -> tuple[Reals, Reals, Reals, float]:
    """Return D (1 in place of 0), r, the mass a of the middle step, and β = b/(1−b)."""
    if not epsilon > 0:
        raise ValueError(f"epsilon must be positive, got {epsilon}.")
    given = np.asarray(diameter, np.float64)
    if not bool(np.all(given >= 0)):
        raise ValueError("diameter must be >= 0 everywhere.")
    wide = np.where(given == 0, 1.0, given)
    middle = middle_width(wide, epsilon).astype(np.float64)
    beta = math.exp(-epsilon) / -math.expm1(-epsilon)
    return wide, middle, 1 / (2 * middle - 1 + 2 * wide * beta), beta


def _is_point(diameter: ArrayLike) -> NDArray[np.bool_]:
    points: NDArray[np.bool_] = np.asarray(diameter, np.float64) == 0
    return points


def pmf(z: ArrayLike, diameter: ArrayLike, epsilon: float) -> Reals:
    """Probability that the noise is exactly z.

    Args:
        z: whole grid units, any shape that broadcasts with ``diameter``.
        diameter: D in grid units, ≥ 0.
        epsilon: > 0.
    Raises:
        ValueError: a diameter below 0 or NaN, ε not positive.
    Source:
        [DB Theorem 8.9]; Geng and Viswanath (2014).
    """
    z = np.asarray(z, np.float64)
    wide, middle, top, _ = _parts(diameter, epsilon)
    step = np.maximum(np.floor((np.abs(z) - middle) / wide) + 1, 0)
    mass: NDArray[np.float64] = np.where(_is_point(diameter), z == 0, top * np.exp(-epsilon * step))
    return mass


def beyond(m: ArrayLike, diameter: ArrayLike, epsilon: float) -> Reals:
    """Probability that |noise| > m.

    Args:
        m: whole grid units ≥ 0 (∞ is allowed), any shape that broadcasts with ``diameter``.
        diameter: D in grid units, ≥ 0.
        epsilon: > 0.
    Raises:
        ValueError: as `pmf`.
    """
    m = np.asarray(m, np.float64)
    wide, middle, top, beta = _parts(diameter, epsilon)
    finite = np.where(np.isfinite(m), m, 0.0)
    inner = 2 * top * (np.maximum(middle - 1 - finite, 0) + wide * beta)
    past = np.maximum(finite - middle, 0)
    step = np.floor(past / wide)
    left = (step + 1) * wide - past - 1  # integers of the step that lie beyond m
    outer = 2 * top * np.exp(-epsilon * (step + 1)) * (left + wide * beta)
    found = np.where(finite < middle, inner, outer)
    return np.where(_is_point(diameter) | ~np.isfinite(m), 0.0, found)


def cdf(z: ArrayLike, diameter: ArrayLike, epsilon: float) -> Reals:
    """Probability that the noise is at most z.

    Args:
        z: grid units (a fraction counts as its floor; ±inf is allowed), broadcasts with ``diameter``.
        diameter: D in grid units, ≥ 0.
        epsilon: > 0.
    Raises:
        ValueError: as `pmf`.
    """
    z = np.floor(np.asarray(z, np.float64))
    tail = beyond(np.where(z < 0, -z - 1, z), diameter, epsilon) / 2
    return np.where(z < 0, tail, 1 - tail)


def mean_absolute(diameter: ArrayLike, epsilon: float) -> Reals:
    """E|Z| in grid units; see `pmf`."""
    wide, middle, top, beta = _parts(diameter, epsilon)
    outer = 2 * wide * beta * (middle + (wide - 1) / 2 + wide * beta)
    return np.where(_is_point(diameter), 0.0, top * (middle * (middle - 1) + outer))


def excess(m: ArrayLike, diameter: ArrayLike, epsilon: float) -> Reals:
    """E max(Z − m, 0) in grid units: of the rest of m's own step, and of all whole steps beyond it.

    Arguments and errors as in `beyond`.
    """
    m = np.asarray(m, np.float64)
    wide, middle, top, beta = _parts(diameter, epsilon)
    finite = np.where(np.isfinite(m), m, 0.0)
    past = np.maximum(finite - middle, 0)
    step = np.where(finite < middle, 0.0, np.floor(past / wide) + 1)
    left = np.where(finite < middle, middle - 1 - finite, step * wide - past - 1)
    whole = beta * (wide * left + wide * (wide + 1) / 2) + (wide * beta) ** 2
    found = top * np.exp(-epsilon * step) * (left * (left + 1) / 2 + whole)
    return np.where(_is_point(diameter) | ~np.isfinite(m), 0.0, found)


def variance(diameter: ArrayLike, epsilon: float) -> Reals:
    """E Z² in squared grid units; see `pmf`."""
    wide, middle, top, beta = _parts(diameter, epsilon)
    inner = (middle - 1) * middle * (2 * middle - 1) / 3
    squares = middle**2 + 2 * middle * wide * beta + wide**2 * beta * (1 + 2 * beta)
    outer = wide * squares + wide * (wide - 1) * (middle + wide * beta)
    outer = outer + (wide - 1) * wide * (2 * wide - 1) / 6
    return np.where(_is_point(diameter), 0.0, top * (inner + 2 * beta * outer))
