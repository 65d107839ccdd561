"""What an ε-DP release guarantees is said with its numbers, for each method."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anon_pipeline.epsilon_dp.dp_guarantee import dp_guarantee, method_sentence
from anon_pipeline.policy.epsilon_dp import METHODS, EpsilonDpPolicy

Changed = Callable[..., EpsilonDpPolicy]
SAYS = {
    "histograms": ({}, "noisy counts of declared values, of: age, city"),
    "group_means": ({"k": 7}, "noisy mean of at least 7 records"),
    "column_means": ({"k": 9}, "noisy mean of at least 9 neighbours"),
}


@pytest.mark.parametrize("method", METHODS)
def test_the_method_is_said(changed: Changed, method: str) -> None:
    keys, said = SAYS[method]
    assert said in method_sentence(changed(**{method: keys}))


def test_epsilon_is_said_with_what_it_means(changed: Changed) -> None:
    said = dp_guarantee(changed(epsilon=2))
    assert "ε = 2" in said[0] and "e^2 = 7.39 times" in said[0] and "7.39" in said[1]
    assert any("number of records" in line for line in said)
    assert all(line.endswith(".") for line in said)
