"""The sampler against its own law and against OpenDP's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, power_divergence

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.perturb.discrete_laplace import discrete_laplace
from anon_pipeline.perturb.discrete_laplace_law import cdf, mean_absolute, pmf
from anon_pipeline.perturb.entropy import seeded_entropy, system_entropy
from tests.example_counts import examples_of

SAMPLES = 200_000


def draw(diameter: int, epsilon: Fraction, n: int = SAMPLES, seed: int = 11) -> np.ndarray:
    return discrete_laplace(np.full(n, diameter), epsilon, entropy=seeded_entropy(seed))


def cuts(scale: float, n: int) -> np.ndarray:
    """Integers that cut the line into cells (−∞, c₀], (c₀, c₁], …, each expected to hold ≥ 20 of n."""
    candidates = np.unique(np.floor(np.linspace(-12, 12, 121) * max(scale, 0.4)))
    kept, below = [], 0.0
    for cut in candidates:
        until = float(cdf(cut, scale))
        if (until - below) * n >= 20 and (1 - until) * n >= 20:
            kept.append(cut)
            below = until
    return np.array(kept)


def goodness_of_fit(noise: np.ndarray, scale: float) -> float:
    """P-value of the G-test that the noise follows the discrete Laplace of this scale."""
    edges = cuts(scale, len(noise))
    cells = np.searchsorted(edges, noise, side="left")
    expected = np.diff(np.concatenate(([0.0], cdf(edges, scale), [1.0]))) * len(noise)
    observed = np.bincount(cells, minlength=len(expected))
    return float(power_divergence(observed, expected, lambda_="log-likelihood").pvalue)


SCALES = [
    (1, Fraction(5), 0.2),
    (1, Fraction(5, 2), 0.4),
    (1, Fraction(1), 1.0),
    (25, Fraction(2), 12.5),
    (600, Fraction(2), 300.0),
    (30, Fraction(1, 10), 300.0),
    (10**6, Fraction(1), 1e6),
    (2**40, Fraction(1, 2), 2.0**41),
]


@pytest.mark.parametrize(("diameter", "epsilon", "scale"), SCALES)
def test_noise_has_the_stated_scale_and_no_other(diameter, epsilon, scale):
    noise = draw(diameter, epsilon)
    assert goodness_of_fit(noise, scale) > 1e-3
    assert goodness_of_fit(noise, 0.7 * scale) < 1e-12
    assert goodness_of_fit(noise, 1.3 * scale) < 1e-12


def test_noise_of_a_tiny_scale_is_zero():
    # P(Z ≠ 0) = 4e-9 at b = 0.05 and less at 0.7 b: no sample of a sensible size tells those apart.
    assert not draw(1, Fraction(20)).any()


@pytest.mark.parametrize(("diameter", "epsilon", "scale"), SCALES)
def test_mean_absolute_noise_is_the_closed_form(diameter, epsilon, scale):
    noise = np.abs(draw(diameter, epsilon, seed=12)).astype(float)
    error = noise.std() / np.sqrt(len(noise))
    assert abs(noise.mean() - float(mean_absolute(scale))) < 4 * error


def test_signs_are_fair():
    noise = draw(20, Fraction(2))
    positive, negative = int((noise > 0).sum()), int((noise < 0).sum())
    assert abs(positive - negative) < 4 * np.sqrt(positive + negative)


def test_neighbors_are_uncorrelated():
    noise = draw(600, Fraction(2)).astype(float)
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 4 / np.sqrt(len(noise))


def test_every_element_has_its_own_scale():
    diameters = np.tile(np.array([0, 1, 50, 4_000]), 100_000)
    noise = discrete_laplace(diameters, Fraction(2), entropy=seeded_entropy(13))
    assert not noise[diameters == 0].any()
    for diameter in (1, 50, 4_000):
        assert goodness_of_fit(noise[diameters == diameter], diameter / 2) > 1e-3


def test_same_law_as_opendp():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = np.array(dp.m.make_laplace(*space, scale=12.5)([0] * 60_000))
    ours = discrete_laplace(np.full(60_000, 25), Fraction(2), entropy=seeded_entropy(14))
    edges = cuts(12.5, 60_000)
    tables = [
        np.bincount(np.searchsorted(edges, noise), minlength=len(edges) + 1) for noise in (ours, theirs)
    ]
    assert chi2_contingency(np.array(tables)).pvalue > 1e-6  # OpenDP cannot be seeded


def test_system_entropy_gives_other_noise_each_time():
    diameters = np.full(50, 10**6)
    first, second = (discrete_laplace(diameters, Fraction(1), entropy=system_entropy()) for _ in range(2))
    assert (first != second).sum() > 45


@given(st.integers(1, 60), st.fractions(Fraction(1, 20), 4, max_denominator=20), st.data())
@settings(max_examples=examples_of(50))
def test_privacy_loss_within_the_diameter_is_at_most_epsilon(diameter, epsilon, data):
    apart = data.draw(st.integers(0, diameter))
    scale = diameter / float(epsilon)
    outputs = np.arange(-3 * diameter, 4 * diameter + 1)  # not where the masses are denormal floats
    loss = np.log(pmf(outputs, scale)) - np.log(pmf(outputs - apart, scale))
    assert np.abs(loss).max() <= float(epsilon) * (1 + 1e-9)
    assert np.abs(loss).max() == pytest.approx(apart / scale)


@given(st.floats(0.001, 1000), st.integers(0, 10**6))
def test_exact_fraction_is_the_decimal_text(number, integer):
    assert float(exact_fraction(number)) == number
    assert exact_fraction(integer) == integer


@pytest.mark.parametrize(
    ("text", "fraction"), [(0.1, Fraction(1, 10)), (2, Fraction(2)), (0.05, Fraction(1, 20))]
)
def test_exact_fraction_has_small_terms(text, fraction):
    assert exact_fraction(text) == fraction
    assert exact_fraction(np.float64(text)) == fraction


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_exact_fraction_needs_a_number(number):
    with pytest.raises(PolicyError, match="must be finite"):
        exact_fraction(number)


def test_no_elements():
    assert len(discrete_laplace(np.zeros(0, np.int64), Fraction(1), entropy=seeded_entropy(0))) == 0


def test_largest_scale_is_drawn():
    noise = draw(2**42, Fraction(1, 2**10), n=50_000)
    assert goodness_of_fit(noise, 2.0**52) > 1e-3


@pytest.mark.parametrize(("diameter", "denominator"), [(2**52 + 1, 1), (2**43, 2**10), (0, 2**70)])
def test_scales_beyond_exact_integers(diameter, denominator):
    with pytest.raises(InputError, match=r"at most 2\^52.*coarser resolution") as caught:
        draw(diameter, Fraction(1, denominator), n=3)
    assert str(2**52 + 1) not in str(caught.value)  # a diameter is data


def test_negative_diameter():
    with pytest.raises(InputError, match="diameter must be >= 0"):
        draw(-1, Fraction(1), n=3)


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1, 2), Fraction(2**62 + 1)])
def test_epsilon_out_of_range(epsilon):
    with pytest.raises(PolicyError, match="epsilon must be > 0"):
        draw(1, epsilon, n=3)
