"""PRAM: its matrix in whole numbers keeps ε and the shares; what is drawn follows it."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import power_divergence

from anon_pipeline.perturb.category_law import (
    CategoryNoise,
    estimated_frequencies,
    expected_distance,
    flat_domain,
    keep_probabilities,
    pmf,
)
from anon_pipeline.perturb.category_sampler import draw_categories
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.post_randomization import DRAWING_STEPS, drawn_steps
from tests.example_counts import examples_of
from tests.perturb.domains import DOMAINS, SAMPLES

SHARES = st.lists(st.fractions(Fraction(1, 50), 5, max_denominator=50), min_size=2, max_size=6)
EPSILON = st.fractions(Fraction(1, 100), 40, max_denominator=100)


def noise_of(shares: list[Fraction], epsilon: Fraction) -> CategoryNoise:
    return CategoryNoise("pram", epsilon, flat_domain([str(i) for i in range(len(shares))]), tuple(shares))


def exact_law(noise: CategoryNoise) -> list[list[Fraction]]:
    """The matrix, without any rounding."""
    weights, anew = (
        noise.draw_weights,
        Fraction(drawn_steps(noise.draw_weights, noise.epsilon), DRAWING_STEPS),
    )
    drawn = [anew * Fraction(weight, sum(weights)) for weight in weights]
    return [[p + (1 - anew) * (x == o) for o, p in enumerate(drawn)] for x in range(len(weights))]


@settings(max_examples=examples_of(150))
@given(shares=SHARES, epsilon=EPSILON)
def test_no_output_is_more_than_e_to_the_epsilon_times_as_likely(shares, epsilon) -> None:
    noise = noise_of(shares, epsilon)
    law = exact_law(noise)
    worst = max(max(column) / min(column) for column in zip(*law, strict=True))
    with localcontext() as context:
        context.prec = 80
        ratio = Decimal(worst.numerator) / Decimal(worst.denominator)
        promised = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        assert ratio <= promised
        if epsilon < 20:  # beyond, the steps of a probability are too coarse to reach it
            assert ratio >= promised * (1 - Decimal(10) ** -7)
    assert np.array(law, float) == pytest.approx(pmf(noise))
    assert keep_probabilities(noise) == pytest.approx(np.diag(pmf(noise)))


@settings(max_examples=examples_of(100))
@given(shares=SHARES, epsilon=EPSILON)
def test_the_shares_stay_as_they_are(shares: list[Fraction], epsilon: Fraction) -> None:
    law, whole = exact_law(noise_of(shares, epsilon)), sum(shares)
    own = [share / whole for share in shares]
    assert [sum(p * row[o] for p, row in zip(own, law, strict=True)) for o in range(len(own))] == own


@pytest.mark.parametrize("name", DOMAINS)
def test_with_shares_all_alike_it_is_randomized_response(name: str) -> None:
    one, other = (
        CategoryNoise(kind, Fraction(3, 2), DOMAINS[name]) for kind in ("pram", "randomized_response")
    )
    assert pmf(one) == pytest.approx(pmf(other), rel=1e-12)
    assert expected_distance(one) == pytest.approx(expected_distance(other), rel=1e-12)


def test_what_is_drawn_follows_the_matrix_and_keeps_frequencies() -> None:
    noise = noise_of([Fraction(7), Fraction(2), Fraction(1)], Fraction(2))
    own = np.random.default_rng(3).choice(3, SAMPLES, p=[0.7, 0.2, 0.1]).astype(np.int64)
    drawn = draw_categories(noise, own, entropy=seeded_entropy(5))
    for x in range(3):
        found = np.bincount(drawn[own == x], minlength=3)
        assert power_divergence(found, pmf(noise)[x] * found.sum()).pvalue > 1e-4
    counts = np.bincount(drawn, minlength=3)
    before = np.bincount(own, minlength=3)
    assert counts / SAMPLES == pytest.approx(before / SAMPLES, abs=5 / math.sqrt(SAMPLES))
    assert estimated_frequencies(noise, counts).shares == pytest.approx(before / SAMPLES, abs=0.02)


def test_shares_that_do_not_fit_are_refused() -> None:
    domain = flat_domain(["a", "b"])
    for shares in ((Fraction(1),), (Fraction(1), Fraction(0))):
        with pytest.raises(ValueError, match="shares must be one for each value"):
            CategoryNoise("pram", Fraction(1), domain, shares)
    assert drawn_steps((1, 1), Fraction(1000)) >= 1


def test_the_drawing_needs_no_shares_from_other_mechanisms() -> None:
    assert CategoryNoise("randomized_response", Fraction(1), flat_domain(["a", "b"])).draw_weights == (1, 1)


def test_shares_with_many_digits_are_rounded() -> None:
    shares = np.random.default_rng(2).dirichlet(np.ones(50))
    noise = noise_of([Fraction(str(share)) for share in shares.tolist()], Fraction(2))
    weights = np.array(noise.draw_weights, float)
    assert sum(noise.draw_weights) < 2**62
    assert weights / weights.sum() == pytest.approx(shares, abs=1e-9)
    worst = max(max(column) / min(column) for column in zip(*exact_law(noise), strict=True))
    assert math.log(worst) <= 2


def test_no_value_is_said_to_stay_for_certain() -> None:
    assert keep_probabilities(noise_of([Fraction(1), Fraction(1)], Fraction(1000))).max() < 1
