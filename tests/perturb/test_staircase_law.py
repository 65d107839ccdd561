"""The law of the staircase: its mass at each integer, and the best middle step."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import power_divergence

from anon_pipeline.perturb import staircase_law
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.mechanisms import (
    Noise,
    draw,
    mean_absolute,
    parameters,
    pmf,
)

SAMPLES = 200_000
DELTA = Fraction(1, 10**5)


def noise_of(mechanism: str, epsilon: Fraction = Fraction(2), **more) -> Noise:
    return Noise(mechanism, epsilon, DELTA if mechanism == "discrete_gaussian" else None, **more)


def drawn(noise: Noise, sensitivity: np.ndarray, seed: int = 11) -> np.ndarray:
    exact = np.asarray(sensitivity, np.int64)
    return draw(noise, parameters(noise, exact), entropy=seeded_entropy(seed))


def test_staircase_noise_has_its_own_mass_at_each_integer() -> None:
    noise = noise_of("staircase", Fraction(3, 2))
    values = drawn(noise, np.full(SAMPLES, 6))
    inside = np.arange(-14, 15)
    observed = np.array([(values == z).sum() for z in inside])
    expected = pmf(noise, inside, 6) * SAMPLES
    rest = SAMPLES - expected.sum()
    p = power_divergence([*observed, SAMPLES - observed.sum()], [*expected, rest]).pvalue
    assert p > 1e-3


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 2.0, 5.0, 9.0])
@pytest.mark.parametrize("diameter", [1, 2, 3, 10, 37, 200])
def test_the_middle_step_of_the_staircase_is_the_best_one(diameter, epsilon) -> None:
    b = math.exp(-epsilon)
    z = np.arange(int(45 * diameter / epsilon) + 3 * diameter)

    def mean(r: int) -> float:
        mass = b ** np.maximum((z - r) // diameter + 1, 0.0)
        mass = np.where(z == 0, mass, 2 * mass)
        return float(z @ mass / mass.sum())

    best = min(mean(r) for r in range(1, diameter + 1))
    assert mean(int(staircase_law.middle_width(diameter, epsilon))) == pytest.approx(best, rel=1e-9)
    found = float(staircase_law.mean_absolute(diameter, epsilon))
    assert found == pytest.approx(best, rel=1e-9)
    laplace = Noise("discrete_laplace", Fraction(str(epsilon)))
    assert found <= float(mean_absolute(laplace, diameter)) * (1 + 1e-9)
