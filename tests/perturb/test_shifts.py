"""E|y − x| of a released value that is moved to public bounds: closed form, enumeration, simulation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.mechanisms import (
    MECHANISMS,
    Noise,
    clamp_inputs,
    draw,
    excess,
    mean_absolute,
    parameters,
    pmf,
    sensitivities,
    shifts,
)

Bounds = tuple[int, int] | None
REACH = 6_000


def noise_of(mechanism: str, epsilon: Fraction = Fraction(1, 2), inputs: Bounds = None) -> Noise:
    delta = Fraction(1, 1000) if mechanism == "discrete_gaussian" else None
    return Noise(mechanism, epsilon, delta, inputs)


def enumerated(noise: Noise, x: int, sensitivity: int, bounds: Bounds) -> float:
    """Add up |y − x| over all noise that has a chance worth naming."""
    z = np.arange(-REACH, REACH + 1)
    y = clamp_inputs(noise, np.array([x]))[0] + z
    y = y if bounds is None else np.clip(y, *bounds)
    return float(np.dot(np.abs(y - x), pmf(noise, z, sensitivity)))


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("sensitivity", [0, 1, 2, 7, 40])
@pytest.mark.parametrize("inputs", [None, (-3, 5)])
@pytest.mark.parametrize("bounds", [None, (0, 10), (-1, -1), (3, 1_000)])
def test_the_closed_form_equals_an_enumeration(
    mechanism: str, sensitivity: int, inputs: Bounds, bounds: Bounds
) -> None:
    noise = noise_of(mechanism, inputs=inputs)
    x = np.array([-20, -1, 0, 3, 5, 10, 11, 60])
    if inputs is not None:
        sensitivity = 8
    found = shifts(noise, x, np.full(len(x), sensitivity), bounds=bounds)
    wanted = [enumerated(noise, value, sensitivity, bounds) for value in x.tolist()]
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@given(
    mechanism=st.sampled_from(tuple(MECHANISMS)),
    epsilon=st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(9)]),
    m=st.integers(0, 60),
    sensitivity=st.integers(0, 25),
)
def test_the_excess_is_the_sum_of_the_tail(
    mechanism: str, epsilon: Fraction, m: int, sensitivity: int
) -> None:
    noise = noise_of(mechanism, epsilon)
    z = np.arange(m, m + REACH)
    assert float(excess(noise, m, sensitivity)) == pytest.approx(
        float(np.dot(z - m, pmf(noise, z, sensitivity))), rel=1e-8, abs=1e-9
    )
    both = excess(noise, [m, -m], sensitivity)
    assert both[1] - both[0] == pytest.approx(m)  # E(Z − m) = −m


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_without_bounds_it_is_the_mean_absolute_noise_twice(mechanism: str) -> None:
    noise, sensitivity = noise_of(mechanism), np.array([0, 3, 3, 90])
    own = mean_absolute(noise, sensitivity)
    assert shifts(noise, np.array([5, 1, 2, 3]), sensitivity).tolist() == own.tolist()
    assert 2 * excess(noise, 0, sensitivity) == pytest.approx(own, rel=1e-9)
    wide = shifts(noise, np.array([5, 1, 2, 3]), sensitivity, bounds=(-(10**6), 10**6))
    assert wide == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("inputs", [None, (-10, 60)])
def test_it_is_the_mean_of_what_the_sampler_draws(mechanism: str, inputs: Bounds) -> None:
    noise, bounds, n = noise_of(mechanism, inputs=inputs), (0, 80), 40_000
    for x in (-15, 3, 40, 75):
        sensitivity = sensitivities(noise, np.array([50]))
        wanted = np.full(n, parameters(noise, sensitivity)[0])
        values = np.full(n, x)
        y = np.clip(
            clamp_inputs(noise, values) + draw(noise, wanted, entropy=seeded_entropy(x + 99)), *bounds
        )
        apart = np.abs(y - x)
        error = float(apart.std(ddof=1)) / n**0.5
        found = float(shifts(noise, np.array([x]), sensitivity, bounds=bounds)[0])
        assert abs(found - apart.mean()) < 4 * error, x


def test_wide_noise_is_no_more_than_the_bounds_allow() -> None:
    """Where tuning was wrong by most: little ε, narrow bounds."""
    for mechanism in MECHANISMS:
        noise = noise_of(mechanism, Fraction(1, 10))
        moved = shifts(noise, np.arange(0, 11), np.full(11, 100), bounds=(0, 10))
        assert (moved <= np.maximum(np.arange(11), 10 - np.arange(11)) + 1e-9).all()
        assert mean_absolute(noise, 100) > 20 * moved.max() or mechanism in ("staircase",)
