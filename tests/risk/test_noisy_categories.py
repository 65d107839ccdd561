"""The best attacker on a column of categories, against an enumeration of all that can be released."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from anon_pipeline.hierarchy.levels import from_columns
from anon_pipeline.hierarchy.table_files import tree_levels
from anon_pipeline.perturb.category_law import CategoryNoise, flat_domain, hierarchy_domain, pmf
from anon_pipeline.perturb.category_sampler import draw_categories
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.risk import noisy_categories as categories
from anon_pipeline.risk.noisy_categories import expected_category_linking, right_category_guesses

TREE = hierarchy_domain(from_columns("x", tree_levels("x", {"A": ["a", "b", "c"], "B": ["d", "e"]})))
NOISES = [
    CategoryNoise("randomized_response", Fraction(1), flat_domain(list("abcde"))),
    CategoryNoise("exponential", Fraction(5, 2), TREE),
]


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.mechanism)
@pytest.mark.parametrize("own", [[0], [0, 0, 0], [0, 1], [0, 3, 3, 4], [0, 1, 2, 3, 4], [1, 1, 2, 4]])
def test_no_rule_links_more_and_one_links_as_much(noise: CategoryNoise, own: list[int]) -> None:
    law, size = pmf(noise), 5
    best = 0.0
    for rule in itertools.product(range(len(own)), repeat=size):  # released value → the record that is taken
        best = max(best, sum(law[own[taken], o] for o, taken in enumerate(rule)))
    codes = np.array(own)
    found = expected_category_linking(codes, np.zeros(len(own), np.int64), noise)
    assert found == pytest.approx(best / len(own), abs=1e-12)


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.mechanism)
def test_a_simulation_agrees_and_the_order_of_rows_does_not_matter(
    noise: CategoryNoise, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 5, 3_000), rng.integers(-1, 400, 3_000)
    found = expected_category_linking(codes, labels, noise)
    law, linked, entropy, runs = pmf(noise), [], seeded_entropy(1), 60
    in_class = {label: np.flatnonzero(labels == label) for label in np.unique(labels[labels >= 0])}
    for _ in range(runs):
        drawn, right = draw_categories(noise, codes, entropy=entropy), 0.0
        for rows in in_class.values():
            likely = law[codes[rows]][:, drawn[rows]]  # original, released
            top = likely == likely.max(axis=0)
            right += float((top / top.sum(axis=0)).diagonal().sum())
        linked.append(right / (labels >= 0).sum())
    assert abs(np.mean(linked) - found) < 4 * np.std(linked) / np.sqrt(runs)
    order = rng.permutation(3_000)
    assert expected_category_linking(codes[order], labels[order], noise) == found
    monkeypatch.setattr(categories, "_CELLS", 1)
    assert expected_category_linking(codes, labels, noise) == found


def test_randomized_response_in_closed_form() -> None:
    noise, (p, q) = NOISES[0], (np.e / (np.e + 4), 1 / (np.e + 4))
    codes, labels = np.array([0, 0, 1, 4]), np.array([0, 0, 0, -1])
    assert expected_category_linking(codes, labels, noise) == pytest.approx((2 * p + 3 * q) / 3)


def test_nobody_to_link() -> None:
    with pytest.raises(ValueError, match="at least one record"):
        expected_category_linking(np.array([0]), np.array([-1]), NOISES[0])


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.mechanism)
def test_what_is_realized_is_on_average_what_is_expected(noise: CategoryNoise) -> None:
    """Over all values that each record can release, weighted with their probabilities: exactly the same."""
    random = np.random.default_rng(3)
    codes, labels = random.integers(0, 5, 30), random.integers(-1, 4, 30)
    inside, law, mean = np.flatnonzero(labels >= 0), pmf(noise), 0.0
    for value in range(5):
        drawn = np.full(len(inside), value)
        mean += float(
            (right_category_guesses(codes, labels, inside, drawn, noise) * law[codes[inside], value]).sum()
        )
    assert mean / len(inside) == pytest.approx(expected_category_linking(codes, labels, noise))


def test_ties_are_shared_by_hand() -> None:
    """Of a, a, b in one class: a is taken as one of two, b for sure, and c as any of the three."""
    codes, labels, own = np.array([0, 0, 1, 2]), np.array([0, 0, 0, -1]), np.array([0, 1, 2, 2])
    found = right_category_guesses(codes, labels, own, np.array([0, 1, 1, 2]), NOISES[0])
    assert found.tolist() == pytest.approx([1 / 2, 0, 1, 1 / 3])
