"""Exact discrete Laplace noise with a scale per element."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import ANOTHER_DRAW, InputError, PolicyError
from anon_pipeline.perturb.discrete_laplace_kernel import fill
from anon_pipeline.perturb.feed_words import feed
from anon_pipeline.perturb.keys import Source

_LARGEST = 2**52  # of a diameter times ε's denominator, see discrete_laplace_kernel
_FIRST = 16  # words that a sample gets; it uses 9 on average, and 9 of 10 samples use no more than these


def discrete_laplace(
    diameters: NDArray[np.int64], epsilon: Fraction, *, entropy: Source
) -> NDArray[np.int64]:
    """Draw integer noise z with P(z) ∝ exp(−|z|·ε/diameter), exactly.

    Args:
        diameters: (n,) sensitivity of each element in grid units, ≥ 0.
        epsilon: > 0, exact; see `exact_fraction`.
    Returns:
        (n,) noise in grid units, independent; 0 where the diameter is 0.
    Raises:
        PolicyError: epsilon not positive, or with a numerator beyond 2^62.
        InputError: a negative diameter, or one that times epsilon's denominator exceeds 2^52.
    Source:
        Canonne, Kamath and Steinke (2020), Algorithms 1 and 2; [methods 5].
    """
    refuse_inexact(diameters, epsilon)
    numerators = np.ascontiguousarray(diameters, np.int64) * epsilon.denominator
    return feed(
        lambda noise, words, elements: fill(noise, numerators, epsilon.numerator, words, elements),
        len(numerators),
        first=_FIRST,
        entropy=entropy,
    )


def refuse_inexact(diameters: NDArray[np.int64], epsilon: Fraction) -> None:
    """Refuse what a kernel's 64-bit integers could not draw exactly.

    Args:
        diameters: (n,) grid units.
        epsilon: exact.
    Raises:
        PolicyError: epsilon not positive, or with a numerator beyond 2^62.
        InputError: a negative diameter, or one that times epsilon's denominator exceeds 2^52.
    """
    if not 0 < epsilon.numerator <= 2**62:
        raise PolicyError(f"epsilon must be > 0 with a numerator up to 2^62, got {epsilon}. Declare another.")
    if int(diameters.min(initial=0)) < 0:
        raise InputError("a class diameter must be >= 0. Compute it as the largest minus the smallest value.")
    if max(int(diameters.max(initial=0)), 1) * epsilon.denominator > _LARGEST:
        raise InputError(
            f"the largest class diameter in grid units times epsilon's denominator must be at most 2^52, got "
            f"an epsilon of {epsilon}. Use a coarser resolution or an epsilon with fewer decimals "
            f"({ANOTHER_DRAW})."
        )
