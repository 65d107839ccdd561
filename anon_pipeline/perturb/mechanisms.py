"""One face for all noise mechanisms: what a column's noise is drawn under, and its law by that.

Decisions: docs/adr/0021-mechanisms.md,
docs/adr/0032-what-epsilon-promises.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anon_pipeline.base.errors import PluginError
from anon_pipeline.base.order import different_values
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.mechanisms import MECHANISMS
from anon_pipeline.perturb import quantiles
from anon_pipeline.perturb.keys import Source
from anon_pipeline.perturb.law import Law

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Noise:
    """What the noise of a column is drawn under.

    mechanism: name of one in the table, `catalog.mechanisms`.
    epsilon: the column's own ε, exact, > 0; a scale and no promise for a mechanism that promises nothing, and
        0 for one that changes whole columns.
    delta: the column's own δ, in (0, 1), for a mechanism that needs one, and only for it.
    inputs: public lowest and highest value in grid units, to which values are moved before the noise; its
        scale is then by their difference. None: by the diameter of each class.
    amount: how much a mechanism changes that changes whole columns, in grid units where it is in the column's
        unit; None where it takes none.
    together: whether its values move together with those of all other such columns.
    """

    mechanism: str
    epsilon: Fraction
    delta: Fraction | None = None
    inputs: tuple[int, int] | None = None
    amount: Fraction | None = None
    together: bool = False

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS:
            raise ValueError(f"mechanism must be one of {', '.join(MECHANISMS)}.")
        if MECHANISMS[self.mechanism].needs_delta != (self.delta is not None):
            with_delta = ", ".join(name for name, one in MECHANISMS.items() if one.needs_delta)
            raise ValueError(f"delta must be given for {with_delta}, and only for it.")
        if self.delta is not None and not 0 < self.delta < 1:
            raise ValueError(f"delta must be in (0, 1), got {self.delta}.")
        if self.inputs is not None and self.inputs[0] >= self.inputs[1]:
            raise ValueError(f"inputs must increase, got {list(self.inputs)}.")

    @property
    def whole_column(self) -> bool:
        """Whether the column is changed as a whole, so that its noise has no distribution of its own."""
        return MECHANISMS[self.mechanism].whole_column is not None


def clamp_inputs(noise: Noise, values: Integers) -> Integers:
    """Return the values that the noise is added to: moved to the nearer public bound, if there are any."""
    return values if noise.inputs is None else np.clip(values, *noise.inputs)


def sensitivities(noise: Noise, diameters: Integers) -> Integers:
    """Return what the noise must hide in each class: the public range, or its diameter, (m,) grid units."""
    if noise.inputs is None:
        return diameters
    return np.full_like(diameters, noise.inputs[1] - noise.inputs[0])


def parameters(noise: Noise, sensitivity: Integers) -> Integers:
    """Return the whole number that a sampler takes for each sensitivity.

    Args:
        sensitivity: (m,) grid units, ≥ 0.
    Returns:
        (m,) such as the sensitivity itself, or σ in sixteenths of a grid unit; see each mechanism.
    Raises:
        PolicyError, InputError: noise that could not be drawn exactly.
    """
    return _law(noise).parameters(noise, sensitivity)


def draw(noise: Noise, wanted: Integers, *, entropy: Source) -> Integers:
    """Draw the noise.

    Args:
        wanted: (n,) of each element, as `parameters` says.
    Returns:
        (n,) grid units, independent.
    Raises:
        PluginError: a plugin's mechanism gives no whole number for each element.
    """
    drawn = _law(noise).draw(noise, wanted, entropy)
    if np.shape(drawn) != wanted.shape or drawn.dtype != np.int64:
        raise PluginError(
            f"the mechanism {noise.mechanism} must draw an int64 for each element. Correct the plugin."
        )
    return drawn


def scales(noise: Noise, sensitivity: ArrayLike) -> Reals:
    """Return the scale of the noise in grid units, 0 for no noise.

    Args:
        sensitivity: whole grid units, ≥ 0, any shape.
    Returns:
        Sensitivity/ε, σ, or the half width; see each mechanism.
    Raises:
        InputError: noise that could not be drawn exactly.
    """
    return _law(noise).scale(noise, sensitivity)


def _law(noise: Noise) -> Law:
    law: Law = import_entry(MECHANISMS[noise.mechanism].law, Law)
    return law


def _shape(noise: Noise, sensitivity: ArrayLike) -> tuple[ArrayLike, ...]:
    """Return the arguments by which the mechanism's law knows the noise."""
    return _law(noise).shape(noise, sensitivity)


def pmf(noise: Noise, z: ArrayLike, sensitivity: ArrayLike) -> Reals:
    """Probability that the noise is exactly z.

    Args:
        z: whole grid units, broadcasts with ``sensitivity``.
        sensitivity: whole grid units, ≥ 0.
    """
    found: Reals = _law(noise).closed.pmf(z, *_shape(noise, sensitivity))
    return found


def log_odds(noise: Noise, z: ArrayLike, sensitivity: ArrayLike) -> Reals:
    """Return ln P(noise = z) but for a term of the sensitivity alone; −∞ is allowed; see `pmf`."""
    closed_form = _law(noise).log_odds
    if closed_form is not None:
        return closed_form(z, scales(noise, sensitivity))
    with np.errstate(divide="ignore"):
        found: Reals = np.log(pmf(noise, z, sensitivity))
    return found


def cdf(noise: Noise, z: ArrayLike, sensitivity: ArrayLike) -> Reals:
    """Probability that the noise is at most z; see `pmf`."""
    found: Reals = _law(noise).closed.cdf(z, *_shape(noise, sensitivity))
    return found


def mean_absolute(noise: Noise, sensitivity: ArrayLike) -> Reals:
    """E|Z| in grid units; see `pmf`."""
    found: Reals = _law(noise).closed.mean_absolute(*_shape(noise, sensitivity))
    return found


def excess(noise: Noise, m: ArrayLike, sensitivity: ArrayLike) -> Reals:
    """E max(Z − m, 0) in grid units, for whole m of either sign, or ±∞ (0 and ∞); see `pmf`."""
    wanted = np.asarray(m, np.float64)
    beyond: Reals = _law(noise).closed.excess(np.abs(wanted), *_shape(noise, sensitivity))
    return beyond + np.maximum(-wanted, 0.0)  # E(Z − m) is −m, and the noise is symmetric


def shifts(
    noise: Noise, values: Integers, sensitivity: Integers, *, bounds: tuple[int, int] | None = None
) -> Reals:
    """Return E|y − x| of each record, where y is what is released of x: moved to public bounds on both sides.

    With c the value that the noise is added to and [low, high] the bounds of y, for x within them
    E max(y − x, 0) = E max(Z − (x − c), 0) − E max(Z − (high − c), 0), and alike below. An x
    beyond a bound is as far away as the bound, and the output from the bound.

    Args:
        noise: of the column; its ``inputs`` bound c.
        values: (n,) x, grid units.
        sensitivity: (n,) of each record, grid units, ≥ 0.
        bounds: that outputs are moved to, grid units; None: they stay.
    Returns:
        (n,) grid units; `mean_absolute` where nothing is moved.
    """
    scale, place = different_values(sensitivity)
    if bounds is None and noise.inputs is None:
        return mean_absolute(noise, scale)[place]
    low, high = (-np.inf, np.inf) if bounds is None else bounds
    x, own = different_values(values)
    pairs, at = different_values(own * len(scale) + place)
    x, wide = x[pairs // len(scale)], scale[pairs % len(scale)]
    inside, center = np.clip(x.astype(np.float64), low, high), clamp_inputs(noise, x).astype(np.float64)
    up = excess(noise, inside - center, wide) - excess(noise, high - center, wide)
    down = excess(noise, center - inside, wide) - excess(noise, center - low, wide)
    return (np.maximum(up, 0.0) + np.maximum(down, 0.0) + np.abs(x - inside))[at]


def variance(noise: Noise, sensitivity: ArrayLike) -> Reals:
    """E Z² in squared grid units; see `pmf`."""
    found: Reals = _law(noise).closed.variance(*_shape(noise, sensitivity))
    return found


def quantile(noise: Noise, share: ArrayLike, sensitivity: int) -> Reals:
    """Return the smallest whole z with P(noise ≤ z) ≥ share.

    Args:
        share: in (0, 1), any shape.
        sensitivity: whole grid units, ≥ 0.
    """
    return quantiles.quantile(share, lambda z: cdf(noise, z, sensitivity))


def radius(noise: Noise, sensitivity: NDArray[np.int64], confidence: float) -> Reals:
    """Return how far an original may lie from its released value, with the given confidence.

    Args:
        sensitivity: (m,) whole grid units, ≥ 0.
        confidence: in (0, 1).
    Returns:
        (m,) grid units: in closed form where the mechanism has one (discrete Laplace:
        −(sensitivity/ε)·ln(1−c)), else the smallest whole r with P(|noise| ≤ r) ≥ c.
    Raises:
        ValueError: a confidence outside (0, 1).
    Source:
        [KE V-C], r_c; [methods 7].
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, both excluded, got {confidence}.")
    closed_form = _law(noise).radius
    if closed_form is not None:
        return closed_form(scales(noise, sensitivity), confidence)
    distinct, places = different_values(sensitivity)
    law, shape = _law(noise).closed, _shape(noise, distinct)
    found = quantiles.smallest(lambda m: law.beyond(m, *shape), 1 - confidence, count=len(distinct))
    return found[places.reshape(-1)]
