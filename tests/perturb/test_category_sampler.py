"""Draws of categories: levels of the number that the words spell, and thresholds in whole parts."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import power_divergence

from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS
from anon_pipeline.perturb.category_law import (
    LARGEST_EPSILON,
    CategoryNoise,
    exponents,
    pmf,
)
from anon_pipeline.perturb.category_sampler import draw_categories, thresholds
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.keys import by_element
from tests.example_counts import examples_of
from tests.perturb.domains import DOMAINS, SAMPLES

BY_LEVEL = tuple(name for name, one in CATEGORY_MECHANISMS.items() if not one.by_shares)


def cumulative(noise: CategoryNoise, x: int) -> list[Fraction]:
    """Cumulative probabilities of the levels, as fractions that are right to 200 digits."""
    with localcontext() as context:
        context.prec = 220
        weights = [(-Decimal(g.numerator) / Decimal(g.denominator)).exp() for g in exponents(noise)]
        masses = [
            Fraction(int(c)) * Fraction(w) for c, w in zip(noise.domain.rings()[:, x], weights, strict=True)
        ]
    return [sum(masses[: level + 1], Fraction(0)) / sum(masses) for level in range(len(masses) - 1)]


@pytest.mark.parametrize("bits", [1, 2, 5, 62])
@pytest.mark.parametrize("mechanism", BY_LEVEL)
def test_levels_are_those_of_the_real_number_that_the_words_spell(mechanism: str, bits: int) -> None:
    noise = CategoryNoise(mechanism, Fraction(7, 5), DOMAINS["irregular"])
    codes = np.arange(300) % 6
    drawn = draw_categories(noise, codes, entropy=seeded_entropy(9), bits=bits)
    own = by_element(seeded_entropy(9), len(codes)).rows(slice(None), 400).view(np.uint64)
    meeting, more = noise.domain.meeting_levels(), 0
    for x, o, row in zip(codes.tolist(), drawn.tolist(), own >> np.uint64(64 - bits), strict=True):
        words = iter(row.tolist())
        known, value, limits = bits, next(words), cumulative(noise, x)
        while any(value <= limit * 2**known < value + 1 for limit in limits if limit < 1):
            value, known, more = value << bits | next(words), known + bits, more + 1
        assert meeting[x, o] == sum(value >= limit * 2**known for limit in limits)
    assert (more > 50) == (bits <= 2)  # few bits leave much open, 62 nothing that ever happens


@settings(max_examples=examples_of(60))
@given(
    st.sampled_from(list(DOMAINS)),
    st.sampled_from(tuple(CATEGORY_MECHANISMS)),
    st.fractions(Fraction(1, 10**6), Fraction(LARGEST_EPSILON)),
    st.integers(1, 200),
)
def test_thresholds_are_whole_parts(name: str, mechanism: str, epsilon: Fraction, bits: int) -> None:
    noise = CategoryNoise(mechanism, epsilon, DOMAINS[name])
    found = thresholds(noise.domain.rings()[:, 0].tolist(), exponents(noise), bits)
    rest = noise.domain.rings()[::-1, 0].cumsum()[::-1]  # leaves on this level or further
    with localcontext() as context:
        context.prec = 1_000
        weights = [(-Decimal(g.numerator) / Decimal(g.denominator)).exp() for g in exponents(noise)]
        masses = [int(c) * w for c, w in zip(noise.domain.rings()[:, 0], weights, strict=True)]
        for level, limit in enumerate(found):
            value = sum(masses[: level + 1]) / sum(masses) * 2**bits
            assert limit == (int(value) if rest[level + 1] else 2**bits)


def test_a_sample_does_not_depend_on_others() -> None:
    noise = CategoryNoise("exponential", Fraction(2), DOMAINS["irregular"])
    drawn = draw_categories(noise, np.zeros(SAMPLES, np.int64), entropy=seeded_entropy(3))
    pairs = np.zeros((6, 6))
    np.add.at(pairs, (drawn[:-1:2], drawn[1::2]), 1)
    law = pmf(noise)[0]
    assert power_divergence(pairs.ravel(), np.outer(law, law).ravel() * pairs.sum()).pvalue > 1e-3


def test_nothing_to_draw() -> None:
    noise = CategoryNoise("exponential", Fraction(2), DOMAINS["irregular"])
    assert draw_categories(noise, np.empty(0, np.int64), entropy=seeded_entropy(1)).shape == (0,)
    for wrong in ([-1], [6]):
        with pytest.raises(ValueError, match="of the domain"):
            draw_categories(noise, np.array(wrong), entropy=seeded_entropy(1))
