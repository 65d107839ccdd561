"""The law of discrete Gaussian noise, its exact δ, and the σ that an (ε, δ) asks for.

The discrete Gaussian has mass exp(−z²/(2σ²))/N at each integer z; σ = 0 is a point mass at 0. Below σ = 16
all sums are taken term by term; from there on by the Euler–Maclaurin formula, up to the term of σ⁻⁸ (N is
σ·√(2π) to every digit).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anon_pipeline.base.compilation import elementwise, kernel

STEPS = 16
"""σ is a whole number of sixteenths of a grid unit."""

_FEW = 16.0  # σ below which sums are taken term by term
_REACH = 39.0  # standard deviations beyond which a double is 0
_ROOT = math.sqrt(2 * math.pi)

Reals = NDArray[np.float64]


@kernel
def _norm(sigma):  # type: ignore[no-untyped-def]
    """Return N = Σ exp(−z²/(2σ²)), σ > 0."""
    if sigma >= _FEW:
        return sigma * _ROOT
    total = 0.0
    for z in range(int(_REACH * sigma) + 1, 0, -1):
        total += math.exp(-0.5 * (z / sigma) ** 2)
    return 1.0 + 2.0 * total


@kernel
def _upper(m, sigma):  # type: ignore[no-untyped-def]
    """Return P(Z ≥ m) for a whole m ≥ 1, σ > 0."""
    if m > _REACH * sigma + 1:
        return 0.0
    if sigma < _FEW:
        total = 0.0
        for z in range(int(_REACH * sigma) + 1, int(m) - 1, -1):
            total += math.exp(-0.5 * (z / sigma) ** 2)
        return total / _norm(sigma)
    u = (m - 0.5) / sigma
    s, u2 = sigma * sigma, u * u
    third = u * (u2 - 3.0)  # Hermite polynomials of u
    fifth = u * (u2 * (u2 - 10.0) + 15.0)
    seventh = u * (u2 * (u2 * (u2 - 21.0) + 105.0) - 105.0)
    series = -u / 24.0 + third * 7.0 / 5760.0 / s - fifth * 31.0 / 967680.0 / s**2
    series += seventh * 127.0 / 154828800.0 / s**3
    return 0.5 * math.erfc(u / math.sqrt(2.0)) + math.exp(-0.5 * u2) / _ROOT * series / s


@elementwise
def _tail(m, sigma):  # type: ignore[no-untyped-def]
    """Return P(Z ≥ m) for a whole m, or ±∞; σ ≥ 0."""
    if sigma == 0.0:
        return 1.0 if m <= 0 else 0.0
    if m >= 1:
        return _upper(m, sigma)
    return 1.0 - _upper(1.0 - m, sigma)


@elementwise
def _mass(z, sigma):  # type: ignore[no-untyped-def]
    if sigma == 0.0:
        return 1.0 if z == 0 else 0.0
    return math.exp(-0.5 * (z / sigma) ** 2) / _norm(sigma)


@elementwise
def _mean(sigma):  # type: ignore[no-untyped-def]
    if sigma == 0.0:
        return 0.0
    if sigma >= _FEW:
        s = sigma * sigma
        return 2.0 * (s - 1.0 / 12.0 - 1.0 / 240.0 / s - 1.0 / 2016.0 / s**2) / (sigma * _ROOT)
    total = 0.0
    for z in range(int(_REACH * sigma) + 1, 0, -1):
        total += z * math.exp(-0.5 * (z / sigma) ** 2)
    return 2.0 * total / _norm(sigma)


@elementwise
def _excess(m, sigma):  # type: ignore[no-untyped-def]
    """Return E max(Z − m, 0) for a whole m ≥ 0, or ∞; σ ≥ 0."""
    if sigma == 0.0 or m > _REACH * sigma:
        return 0.0
    if sigma < _FEW:
        total = 0.0
        for z in range(int(_REACH * sigma) + 1, int(m), -1):
            total += (z - m) * math.exp(-0.5 * (z / sigma) ** 2)
        return total / _norm(sigma)
    u, s = m / sigma, sigma * sigma
    u2, mass = u * u, math.exp(-0.5 * u * u) / (sigma * _ROOT)
    fourth = u2 * (u2 - 6.0) + 3.0  # Hermite polynomials of u
    sixth = u2 * (u2 * (u2 - 15.0) + 45.0) - 15.0
    series = -1.0 / 12.0 + (u2 - 1.0) / 240.0 / s - fourth / 6048.0 / s**2 + sixth / 172800.0 / s**3
    return max(s * mass - 0.5 * m * math.erfc(u / math.sqrt(2.0)) + mass * series, 0.0)


@elementwise
def _square(sigma):  # type: ignore[no-untyped-def]
    if sigma == 0.0 or sigma >= _FEW:
        return sigma * sigma
    total = 0.0
    for z in range(int(_REACH * sigma) + 1, 0, -1):
        total += z * z * math.exp(-0.5 * (z / sigma) ** 2)
    return 2.0 * total / _norm(sigma)


@kernel
def _profile(diameter, sigma, epsilon):  # type: ignore[no-untyped-def]
    """Return max over sets of P(Z in S) − exp(ε)·P(Z + D in S), whose best S is a half line."""
    first = math.floor(epsilon * sigma * sigma / diameter - 0.5 * diameter) + 1.0
    near = _upper(first, sigma) if first >= 1 else 1.0 - _upper(1.0 - first, sigma)
    moved = first + diameter
    far = _upper(moved, sigma) if moved >= 1 else 1.0 - _upper(1.0 - moved, sigma)
    if far > 0.0:
        near -= math.exp(epsilon + math.log(far))
    return max(near, 0.0)


@kernel
def _calibrate(numerators, diameters, epsilon, allowed, most):  # type: ignore[no-untyped-def]
    """Raise each numerator until its δ is allowed; beyond `most` it stays."""
    for i in range(len(numerators)):
        while numerators[i] <= most and _profile(diameters[i], numerators[i] / STEPS, epsilon) > allowed:
            numerators[i] += 1


def _sigma(sigma: ArrayLike) -> Reals:
    s = np.asarray(sigma, np.float64)
    if not bool(np.all(s >= 0)):
        raise ValueError("sigma must be >= 0 everywhere.")
    return s


def pmf(z: ArrayLike, sigma: ArrayLike) -> Reals:
    """Probability that the noise is exactly z.

    Args:
        z: whole grid units, any shape that broadcasts with ``sigma``.
        sigma: σ in grid units, ≥ 0.
    Raises:
        ValueError: a σ below 0 or NaN.
    Source:
        Canonne, Kamath and Steinke (2020), Definition 1.
    """
    return np.asarray(_mass(np.asarray(z, np.float64), _sigma(sigma)), np.float64)


def excess(m: ArrayLike, sigma: ArrayLike) -> Reals:
    """E max(Z − m, 0) in grid units.

    Args:
        m: whole grid units ≥ 0 (∞ is allowed), any shape that broadcasts with ``sigma``.
        sigma: σ in grid units, ≥ 0.
    Raises:
        ValueError: a σ below 0 or NaN.
    """
    return np.asarray(_excess(np.asarray(m, np.float64), _sigma(sigma)), np.float64)


def cdf(z: ArrayLike, sigma: ArrayLike) -> Reals:
    """Probability that the noise is at most z.

    Args:
        z: grid units (a fraction counts as its floor; ±inf is allowed), broadcasts with ``sigma``.
        sigma: σ in grid units, ≥ 0.
    Raises:
        ValueError: a σ below 0 or NaN.
    """
    return np.asarray(_tail(-np.floor(np.asarray(z, np.float64)), _sigma(sigma)), np.float64)


def beyond(m: ArrayLike, sigma: ArrayLike) -> Reals:
    """Probability that |noise| > m.

    Args:
        m: whole grid units ≥ 0, any shape that broadcasts with ``sigma``.
        sigma: σ in grid units, ≥ 0.
    Raises:
        ValueError: a σ below 0 or NaN.
    """
    return 2 * np.asarray(_tail(np.asarray(m, np.float64) + 1, _sigma(sigma)), np.float64)


def mean_absolute(sigma: ArrayLike) -> Reals:
    """E|Z|, in grid units; see `pmf`."""
    return np.asarray(_mean(_sigma(sigma)), np.float64)


def variance(sigma: ArrayLike) -> Reals:
    """E Z², in squared grid units; a little below σ² where σ is small; see `pmf`."""
    return np.asarray(_square(_sigma(sigma)), np.float64)


def delta(diameter: int, sigma: float, epsilon: float) -> float:
    """Return the smallest δ for which noise of σ is (ε, δ)-indistinguishable for values up to D apart.

    It is P(Z > εσ²/D − D/2) − exp(ε)·P(Z > εσ²/D + D/2). Values that are nearer to each other have a
    smaller one: the likelihood ratio is monotone, so that the best set of an attacker is a half line, and
    of each half line the second probability only grows.

    Args:
        diameter: D in grid units, ≥ 1.
        sigma: σ in grid units, > 0.
        epsilon: ≥ 0.
    Source:
        Canonne, Kamath and Steinke (2020), Theorem 7.
    """
    return float(_profile(float(diameter), float(sigma), float(epsilon)))


def _ratio(epsilon: float, allowed: float) -> float:
    """Return σ/D of the continuous Gaussian for (ε, δ), to 50 bits: Balle and Wang (2018), Theorem 8."""

    def delta_at(ratio: float) -> float:
        """Return the least δ that holds with ε for a ratio σ/D."""
        near, far = ((epsilon * ratio + side / (2 * ratio)) / math.sqrt(2) for side in (-1, 1))
        rest = math.erfc(far) / 2
        return math.erfc(near) / 2 - (math.exp(epsilon + math.log(rest)) if rest > 0 else 0.0)

    low, high = 0.0, 1.0
    while delta_at(high) > allowed:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if middle == 0 or delta_at(middle) > allowed else (low, middle)
    return high


def calibrate_sigmas(
    diameters: NDArray[np.int64], epsilon: float, allowed: float, *, most: int
) -> NDArray[np.int64]:
    """Return σ of each diameter in sixteenths of a grid unit: enough for (ε, δ), by the exact `delta`.

    From the continuous Gaussian's σ on, the first multiple of 1/16 whose own δ is allowed; the sums' rounding
    is covered by a relative 1e-9.

    Args:
        diameters: (n,) D in grid units, ≥ 0.
        epsilon: > 0.
        allowed: δ, in (0, 1).
        most: largest result wanted.
    Returns:
        (n,) sixteenths, 0 where the diameter is 0; above ``most`` where it would be larger.
    Source:
        Canonne, Kamath and Steinke (2020), Theorem 7; Balle and Wang (2018) for where to begin.
    """
    distinct, places = np.unique(diameters, return_inverse=True)
    begin = np.floor(distinct * (_ratio(epsilon, allowed) * STEPS))
    numerators = np.minimum(np.maximum(begin, 1), most + 1).astype(np.int64)
    wide = distinct > 0
    found = numerators[wide]
    _calibrate(found, distinct[wide].astype(np.float64), epsilon, allowed * (1 - 1e-9), most)
    numerators[wide] = found
    numerators[~wide] = 0
    of_each: NDArray[np.int64] = numerators[places.reshape(-1)]
    return of_each
