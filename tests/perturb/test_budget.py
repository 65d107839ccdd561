"""ε as an exact number, and its split over columns."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.perturb.budget import exact_fraction, split_epsilon

positive = st.fractions(min_value=Fraction(1, 1000), max_value=1000)


@given(positive, st.lists(positive, min_size=1, max_size=8))
def test_shares_add_up_exactly_and_follow_the_weights(epsilon, weights):
    shares = split_epsilon(epsilon, weights)
    assert sum(shares) == epsilon
    ratios = [share / weight for share, weight in zip(shares, weights, strict=True)]
    assert ratios == [ratios[0]] * len(weights)


def test_equal_weights_share_equally():
    assert split_epsilon(exact_fraction(0.1), [Fraction(1)] * 3) == (Fraction(1, 30),) * 3


def test_a_copied_column_halves_the_epsilon_of_each():
    assert split_epsilon(Fraction(2), [Fraction(1)]) == (2,)
    assert split_epsilon(Fraction(2), [Fraction(1), Fraction(1)]) == (1, 1)


def test_no_columns():
    assert split_epsilon(Fraction(1), []) == ()


def test_all_mistakes_at_once():
    with pytest.raises(PolicyError) as caught:
        split_epsilon(Fraction(0), [Fraction(1), Fraction(0), Fraction(-1, 2)])
    assert [problem.split(", got")[0] for problem in caught.value.problems] == [
        "epsilon must be > 0",
        "weight 1 of the epsilon split must be > 0",
        "weight 2 of the epsilon split must be > 0",
    ]
