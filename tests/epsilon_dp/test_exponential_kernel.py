"""Exact draws of the exponential mechanism, against its closed form."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from anon_pipeline.epsilon_dp.exponential_kernel import choose, fill
from anon_pipeline.epsilon_dp.noisy_means import choose_values
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.keys import by_element
from tests.epsilon_dp.neighbours import exponential_law


@pytest.mark.parametrize("epsilon", [Fraction(1, 7), Fraction(2), Fraction(9)])
def test_values_are_drawn_with_their_probabilities(epsilon: Fraction) -> None:
    scores, n = np.array([0, 1, 3, 4, 4]), 40_000
    words = by_element(seeded_entropy(0), n)
    drawn = choose_values(np.tile(scores, (n, 1)), epsilon, words)
    wanted = exponential_law(scores, epsilon) * n
    found = np.bincount(drawn, minlength=5)
    assert (np.abs(found - wanted) < 5 * np.sqrt(wanted) + 5).all()


def test_an_element_that_runs_out_of_words_starts_again_with_more() -> None:
    words = np.random.default_rng(0).integers(-(2**63), 2**63, (1, 400))
    scores = np.array([0, 30, 29])
    whole = choose(words[0], 0, scores, 1, 3)
    assert whole[1] <= 400
    for known in range(whole[1]):
        assert choose(words[0, :known], 0, scores, 1, 3)[1] > known
    chosen, elements = np.zeros(1, np.int64), np.array([0])
    assert fill(chosen, scores[None], 1, 3, words[:, : whole[1] - 1], elements) == 1
    assert fill(chosen, scores[None], 1, 3, words[:, : whole[1]], elements) == 0
    assert chosen[0] == whole[0]


def test_one_candidate_is_always_drawn() -> None:
    words = by_element(seeded_entropy(0), 50)
    assert choose_values(np.tile([0, 5_000], (50, 1)), Fraction(1), words).tolist() == [1] * 50
