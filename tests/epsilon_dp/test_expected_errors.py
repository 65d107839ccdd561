"""Expected errors in closed form, against simulation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anon_pipeline.epsilon_dp.expected_errors import expected_errors
from anon_pipeline.epsilon_dp.histograms import exact_counts, noisy_counts
from anon_pipeline.epsilon_dp.noisy_means import choose_values, noisy_ranked_column
from anon_pipeline.perturb.discrete_laplace import discrete_laplace
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.keys import by_element, fresh_key
from tests.epsilon_dp.neighbours import dp_policy

AGE = {"bounds": [0, 50], "otherwise": 0}
CITY = {"values": ["a", "b", "c", "d"], "otherwise": "a"}


def test_counts_in_a_wrong_cell() -> None:
    policy = dp_policy(columns={"age": AGE, "city": CITY}, histograms={"tables": [["age"], ["age", "city"]]})
    codes, entropy = np.zeros((2_000, 2), np.int64), seeded_entropy(0)
    exact, found = exact_counts(policy, codes), []
    for _ in range(200):
        noisy = noisy_counts(policy, codes, Fraction(1), fresh_key(entropy))
        found.append([np.abs(a - b).sum() / 2 / 2_000 for a, b in zip(noisy, exact, strict=True)])
    wanted = expected_errors(policy, 2_000)
    assert list(wanted) == ["age", "age, city"]
    assert np.allclose(np.mean(found, axis=0), list(wanted.values()), rtol=0.05)


def test_means_move_by_a_share_of_the_range() -> None:
    policy = dp_policy(columns={"age": AGE}, group_means={"k": 100})
    noise = discrete_laplace(np.full(40_000, 10 * 50), Fraction(1), entropy=seeded_entropy(0))
    assert expected_errors(policy, 1_000)["age"] == pytest.approx(np.abs(noise).mean() / 100 / 50, rel=0.03)
    ranked = dp_policy(columns={"age": AGE}, column_means={"k": 100})
    assert expected_errors(ranked, 1_000)["age"] == pytest.approx(
        expected_errors(policy, 1_000)["age"] / 10, rel=0.001
    )


def test_categories_by_column_are_counts() -> None:
    policy = dp_policy(columns={"city": CITY}, column_means={"k": 100})
    codes, entropy = np.zeros(500, np.int64), seeded_entropy(0)
    found = [
        np.abs(
            noisy_ranked_column(policy, codes, Fraction(1), fresh_key(entropy), place=0, k=100)
            - np.bincount(codes, minlength=4)
        ).sum()
        / 1_000
        for _ in range(2_000)
    ]
    assert expected_errors(policy, 500)["city"] == pytest.approx(np.mean(found), rel=0.05)


def test_categories_of_groups_are_bounded_from_above() -> None:
    policy = dp_policy(columns={"city": CITY}, group_means={"k": 100})
    counts = np.tile([40, 35, 20, 5], (20_000, 1))
    drawn = choose_values(counts, Fraction(1) / 10, by_element(seeded_entropy(0), 20_000))
    lost = (40 - counts[0][drawn]).mean() / 100
    assert lost <= expected_errors(policy, 1_000)["city"]


@pytest.mark.parametrize(
    "changes", [{"histograms": {}}, {"group_means": {"k": 2}}, {"column_means": {"k": 2}}]
)
def test_no_error_exceeds_everything(changes: dict[str, Any]) -> None:
    policy = dp_policy(epsilon=1e-6, **changes)
    assert set(expected_errors(policy, 3).values()) == {1.0}
