"""Uniform noise has the mean error of Laplace noise, and tells values apart."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from anon_pipeline.perturb.mechanisms import (
    Noise,
    mean_absolute,
    pmf,
)

DELTA = Fraction(1, 10**5)


def noise_of(mechanism: str, epsilon: Fraction = Fraction(2), **more) -> Noise:
    return Noise(mechanism, epsilon, DELTA if mechanism == "discrete_gaussian" else None, **more)


def test_uniform_noise_has_the_mean_error_of_laplace_noise() -> None:
    for diameter, epsilon in [(500, Fraction(1)), (4000, Fraction(5, 2))]:
        pair = [mean_absolute(Noise(m, epsilon), diameter) for m in ("uniform", "discrete_laplace")]
        assert float(pair[0]) == pytest.approx(float(pair[1]), rel=0.01)


def test_uniform_noise_tells_values_apart() -> None:
    noise = noise_of("uniform", Fraction(2))
    one, other = (pmf(noise, np.arange(-60, 121) - value, 60) for value in (0, 60))
    assert ((one > 0) & (other == 0)).any()  # whoever sees it knows that it was not the other
