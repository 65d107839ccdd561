"""The law of the discrete Gaussian: its exact δ, its sums, and what its tail adds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.perturb import discrete_gaussian_law
from tests.example_counts import examples_of


@given(st.integers(1, 500), st.floats(0.05, 6), st.sampled_from([1e-9, 1e-6, 1e-3]))
@settings(max_examples=examples_of(40))
def test_the_profile_is_the_hockey_stick_sum(diameter, epsilon, allowed) -> None:
    sigma = discrete_gaussian_law.calibrate_sigmas(np.array([diameter]), epsilon, allowed, most=2**27)[0] / 16
    z = np.arange(-int(40 * sigma + diameter) - 1, int(40 * sigma + diameter) + 2)
    weights = np.exp(-0.5 * (z / sigma) ** 2)
    one, other = weights / weights.sum(), np.exp(-0.5 * ((z - diameter) / sigma) ** 2) / weights.sum()
    summed = np.maximum(one - np.exp(epsilon) * other, 0).sum()
    assert discrete_gaussian_law.delta(diameter, sigma, epsilon) == pytest.approx(summed, rel=1e-7, abs=1e-15)
    assert summed <= allowed
    nearer = max(discrete_gaussian_law.delta(d, sigma, epsilon) for d in range(1, diameter + 1))
    assert nearer <= summed * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize("sigma", [15.9375, 16.0, 16.0625, 40.0, 1000.0])
def test_the_gaussian_series_continues_the_sums(sigma) -> None:
    z = np.arange(-int(39 * sigma), int(39 * sigma) + 1)
    mass = np.exp(-0.5 * (z / sigma) ** 2)
    mass /= mass.sum()
    tails = np.cumsum(mass[::-1])[::-1]
    at = np.unique(np.linspace(0, 8 * sigma, 60).astype(int))
    found = discrete_gaussian_law.beyond(at, sigma) / 2
    assert found == pytest.approx(tails[at + int(39 * sigma) + 1], rel=1e-9)
    assert float(discrete_gaussian_law.mean_absolute(sigma)) == pytest.approx(np.abs(z) @ mass, rel=1e-12)
    assert float(discrete_gaussian_law.variance(sigma)) == pytest.approx(
        (z.astype(float) ** 2) @ mass, rel=1e-12
    )
