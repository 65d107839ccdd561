"""One face for all noise mechanisms: what a column's noise is drawn under, and its law by that.

Belongs here: which sampler and which law a mechanism has, and its parameter. Does not belong here: the
samplers and laws themselves, which records get noise (`noise`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anon_pipeline.perturb import gaussian_law, laplace_law, quantiles, samplers, staircase_law, uniform_law
from anon_pipeline.perturb.discrete_laplace import discrete_laplace, refuse_inexact
from anon_pipeline.perturb.keys import Source

__all__ = [
    "MECHANISMS",
    "Noise",
    "cdf",
    "clamped",
    "draw",
    "mean_absolute",
    "parameters",
    "pmf",
    "quantile",
    "radius",
    "scales",
    "sensitivities",
    "variance",
]

MECHANISMS = ("discrete_laplace", "staircase", "discrete_gaussian", "uniform")

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Noise:
    """What the noise of a column is drawn under.

    mechanism: one of `MECHANISMS`.
    epsilon: the column's own ε, exact, > 0; for ``uniform`` a scale and no promise.
    delta: the column's own δ, in (0, 1); for ``discrete_gaussian``, and only for it.
    inputs: public lowest and highest value in grid units, to which values are moved before the noise; its
        scale is then by their difference. None: by the diameter of each class.
    """

    mechanism: str
    epsilon: Fraction
    delta: Fraction | None = None
    inputs: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS:
            raise ValueError(f"mechanism must be one of {', '.join(MECHANISMS)}, got another.")
        if (self.mechanism == "discrete_gaussian") != (self.delta is not None):
            raise ValueError("delta must be given for discrete_gaussian, and only for it.")
        if self.delta is not None and not 0 < self.delta < 1:
            raise ValueError(f"delta must be in (0, 1), got {self.delta}.")
        if self.inputs is not None and self.inputs[0] >= self.inputs[1]:
            raise ValueError(f"inputs must increase, got {list(self.inputs)}.")


def clamped(noise: Noise, values: Integers) -> Integers:
    """Return the values that the noise is added to: moved to the nearer public bound, if there are any."""
    return values if noise.inputs is None else np.clip(values, *noise.inputs)


def sensitivities(noise: Noise, diameters: Integers) -> Integers:
    """Return what the noise must hide in each class: the public range, or the class's diameter.

    Args:
        noise: of the column.
        diameters: (m,) grid units.
    """
    if noise.inputs is None:
        return diameters
    return np.full_like(diameters, noise.inputs[1] - noise.inputs[0])


def parameters(noise: Noise, sensitivity: Integers) -> Integers:
    """Return the whole number that a sampler takes for each sensitivity.

    Args:
        noise: of the column.
        sensitivity: (m,) grid units, ≥ 0.
    Returns:
        (m,) the sensitivity itself for ``discrete_laplace`` and ``staircase``; σ in sixteenths of a grid unit
        for ``discrete_gaussian``; the half width for ``uniform``.
    Raises:
        PolicyError, InputError: noise that could not be drawn exactly.
    """
    refuse_inexact(sensitivity, noise.epsilon)
    if noise.mechanism == "uniform":
        return uniform_law.half_width(sensitivity, noise.epsilon)
    if noise.delta is None:
        return sensitivity
    largest = samplers.LARGEST_SIGMA
    found = gaussian_law.calibrated(sensitivity, float(noise.epsilon), float(noise.delta), most=largest)
    samplers.refuse_wide(found)
    return found


def draw(noise: Noise, wanted: Integers, *, entropy: Source) -> Integers:
    """Draw the noise.

    Args:
        noise: of the column.
        wanted: (n,) of each element, as `parameters` says.
        entropy: source of the elements' random words.
    Returns:
        (n,) grid units, independent.
    """
    if noise.mechanism == "discrete_laplace":
        return discrete_laplace(wanted, noise.epsilon, entropy=entropy)
    if noise.mechanism == "staircase":
        return samplers.staircase(wanted, noise.epsilon, entropy=entropy)
    if noise.mechanism == "discrete_gaussian":
        return samplers.discrete_gaussian(wanted, entropy=entropy)
    return samplers.uniform(wanted, entropy=entropy)


def scales(noise: Noise, sensitivity: ArrayLike) -> Reals:
    """Return the scale of the noise in grid units, 0 for no noise.

    Args:
        noise: of the column.
        sensitivity: whole grid units, ≥ 0, any shape.
    Returns:
        Sensitivity/ε for ``discrete_laplace`` and ``staircase``, σ for ``discrete_gaussian``, the half width
        for ``uniform``.
    Raises:
        InputError: noise that could not be drawn exactly.
    """
    exact = np.asarray(sensitivity, np.int64)
    if noise.mechanism in ("discrete_laplace", "staircase"):
        return exact / float(noise.epsilon)
    found = parameters(noise, exact.reshape(-1)).reshape(exact.shape)
    return found / (1 if noise.delta is None else gaussian_law.STEPS)


def _shape(noise: Noise, sensitivity: ArrayLike) -> tuple[ArrayLike, ...]:
    """Return the arguments by which the mechanism's law knows the noise."""
    if noise.mechanism == "staircase":
        return sensitivity, float(noise.epsilon)
    return (scales(noise, sensitivity),)


_LAWS = {
    "discrete_laplace": laplace_law,
    "staircase": staircase_law,
    "discrete_gaussian": gaussian_law,
    "uniform": uniform_law,
}


def pmf(noise: Noise, z: ArrayLike, sensitivity: ArrayLike) -> Reals:
    """Probability that the noise is exactly z.

    Args:
        noise: of the column.
        z: whole grid units, broadcasts with ``sensitivity``.
        sensitivity: whole grid units, ≥ 0.
    """
    found: Reals = _LAWS[noise.mechanism].pmf(z, *_shape(noise, sensitivity))
    return found


def cdf(noise: Noise, z: ArrayLike, sensitivity: ArrayLike) -> Reals:
    """Probability that the noise is at most z; see `pmf`."""
    found: Reals = _LAWS[noise.mechanism].cdf(z, *_shape(noise, sensitivity))
    return found


def mean_absolute(noise: Noise, sensitivity: ArrayLike) -> Reals:
    """E|Z| in grid units; see `pmf`."""
    found: Reals = _LAWS[noise.mechanism].mean_absolute(*_shape(noise, sensitivity))
    return found


def variance(noise: Noise, sensitivity: ArrayLike) -> Reals:
    """E Z² in squared grid units; see `pmf`."""
    found: Reals = _LAWS[noise.mechanism].variance(*_shape(noise, sensitivity))
    return found


def quantile(noise: Noise, share: ArrayLike, sensitivity: int) -> Reals:
    """Return the smallest whole z with P(noise ≤ z) ≥ share.

    Args:
        noise: of the column.
        share: in (0, 1), any shape.
        sensitivity: whole grid units, ≥ 0.
    """
    return quantiles.quantile(share, lambda z: cdf(noise, z, sensitivity))


def radius(noise: Noise, sensitivity: NDArray[np.int64], confidence: float) -> Reals:
    """Return how far an original may lie from its released value, with the given confidence.

    Args:
        noise: of the column.
        sensitivity: (m,) whole grid units, ≥ 0.
        confidence: in (0, 1).
    Returns:
        (m,) grid units: for ``discrete_laplace`` −(sensitivity/ε)·ln(1−c), else the smallest whole r with
        P(|noise| ≤ r) ≥ c.
    Raises:
        ValueError: a confidence outside (0, 1).
    Source:
        [KE V-C], r_c; METHODS 7.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, both excluded, got {confidence}.")
    if noise.mechanism == "discrete_laplace":
        return scales(noise, sensitivity) * -np.log1p(-confidence)
    distinct, places = np.unique(sensitivity, return_inverse=True)
    law, shape = _LAWS[noise.mechanism], _shape(noise, distinct)
    found = quantiles.smallest(
        lambda m: law.beyond(m, *shape),
        1 - confidence,
        count=len(distinct),
    )
    return found[places.reshape(-1)]
