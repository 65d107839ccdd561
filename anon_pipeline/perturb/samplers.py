"""Exact noise of the other mechanisms, with a parameter per element."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import ANOTHER_DRAW, InputError
from anon_pipeline.perturb import discrete_gaussian_kernel, staircase_kernel
from anon_pipeline.perturb.discrete_gaussian_law import STEPS
from anon_pipeline.perturb.discrete_laplace import refuse_inexact
from anon_pipeline.perturb.feed_words import feed
from anon_pipeline.perturb.keys import Source, by_element, integers_each
from anon_pipeline.perturb.staircase_law import middle_width

LARGEST_SIGMA = 2**27
"""Sixteenths of a grid unit up to which discrete Gaussian noise is drawn exactly."""

_STAIRCASE_WORDS, _GAUSSIAN_WORDS = 16, 32  # that a sample gets; it uses 10 and 20 on average


def staircase(diameters: NDArray[np.int64], epsilon: Fraction, *, entropy: Source) -> NDArray[np.int64]:
    """Draw integer staircase noise, exactly (see `staircase_law`).

    A draw is tried again about exp(ε/2)/2 times, so it is for an ε up to about 10.

    Args:
        diameters: (n,) sensitivity of each element in grid units, ≥ 0.
        epsilon: > 0, exact; see `exact_fraction`.
    Returns:
        (n,) noise in grid units, independent; 0 where the diameter is 0.
    Raises:
        PolicyError, InputError: as `discrete_laplace`.
    Source:
        Geng and Viswanath (2014); [DB 8.2].
    """
    refuse_inexact(diameters, epsilon)
    wide = np.ascontiguousarray(diameters, np.int64)
    shapes = (wide, middle_width(wide, float(epsilon)))
    rate = (epsilon.numerator, epsilon.denominator)
    return feed(
        lambda noise, words, elements: staircase_kernel.fill(noise, shapes, rate, words, elements),
        len(wide),
        first=_STAIRCASE_WORDS,
        entropy=entropy,
    )


def discrete_gaussian(sixteenths: NDArray[np.int64], *, entropy: Source) -> NDArray[np.int64]:
    """Draw integer noise z with P(z) ∝ exp(−z²/(2σ²)), exactly.

    Args:
        sixteenths: (n,) σ in sixteenths of a grid unit, ≥ 0; see `discrete_gaussian_law.calibrate_sigmas`.
    Returns:
        (n,) noise in grid units, independent; 0 where σ is 0.
    Raises:
        InputError: a σ below 0 or above 2^27 sixteenths.
    Source:
        Canonne, Kamath and Steinke (2020), Algorithm 3.
    """
    refuse_wide(sixteenths)
    numerators = np.ascontiguousarray(sixteenths, np.int64)
    return feed(
        lambda noise, words, elements: discrete_gaussian_kernel.fill(
            noise, numerators, STEPS, words, elements
        ),
        len(numerators),
        first=_GAUSSIAN_WORDS,
        entropy=entropy,
    )


def uniform(widths: NDArray[np.int64], *, entropy: Source) -> NDArray[np.int64]:
    """Draw uniform integer noise on −w … w, exactly.

    Args:
        widths: (n,) w of each element in grid units, 0 … 2^60.
    Returns:
        (n,) noise in grid units, independent.
    Raises:
        InputError: a width out of its range.
    """
    if int(widths.min(initial=0)) < 0 or int(widths.max(initial=0)) > 2**60:
        raise InputError(
            "the width of uniform noise must be in 0 … 2^60 grid units. Use a coarser resolution or a "
            f"larger epsilon ({ANOTHER_DRAW})."
        )
    return integers_each(2 * widths + 1, words=by_element(entropy, len(widths))) - widths


def refuse_wide(sixteenths: NDArray[np.int64]) -> None:
    """Refuse σ that the kernel's 64-bit integers could not draw exactly.

    Args:
        sixteenths: (n,) σ in sixteenths of a grid unit.
    Raises:
        InputError: one below 0 or above 2^27 sixteenths.
    """
    if int(sixteenths.min(initial=0)) < 0 or int(sixteenths.max(initial=0)) > LARGEST_SIGMA:
        raise InputError(
            "the standard deviation of discrete Gaussian noise must be in 0 … 2^23 grid units. Use a "
            f"coarser resolution, or a larger epsilon or delta ({ANOTHER_DRAW})."
        )
