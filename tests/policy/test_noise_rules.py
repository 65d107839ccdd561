"""Mechanisms that do not fit their column are refused by name, with those that fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.mechanisms import MECHANISMS
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]


BUDGET = {"epsilon": 100}

WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"perturb": {"mechanism": "discrete_gaussian"}},
        "perturb.delta: must be given for mechanism: discrete_gaussian in height. Mechanisms without delta: "
        "discrete_laplace, staircase.",
    ),
    (
        {"perturb": {"delta": 1e-6}},
        "perturb.delta: must be left out when no column has mechanism: discrete_gaussian",
    ),
    (
        {"columns": {"height": {"mechanism": "uniform"}}},
        "perturb.without_guarantee: must be true for mechanism: uniform in height, which guarantees nothing. "
        "These guarantee ε: discrete_laplace, staircase, discrete_gaussian.",
    ),
    (
        {"perturb": {"without_guarantee": True}},
        "perturb.without_guarantee: must be left out when no column has mechanism: uniform, rank_swapping, "
        "class_swapping, individual_ranking, rounding, multiplicative_noise, correlated_noise, resampling, "
        "data_shuffling, synthesis, class_synthesis",
    ),
    (
        {"perturb": {"mechanism": "discrete_gaussian", "delta": 1e-6}, "budget": BUDGET},
        "budget: counts ε alone, so that every column must have mechanism: discrete_laplace or staircase; "
        "these do not: height",
    ),
    (
        {"perturb": {"mechanism": "uniform", "without_guarantee": True}, "budget": BUDGET},
        "budget: counts ε alone, so that every column must have mechanism: discrete_laplace or staircase; "
        "these do not: height",
    ),
    (
        {"perturb": {"mechanism": "staircase", "epsilon": 10.5}},
        "perturb.epsilon: must leave at most 10 for a column with mechanism: staircase, got more for height. "
        "Beyond fit discrete_laplace, discrete_gaussian.",
    ),
    (
        {
            "columns": {"length": {"role": "perturb", "resolution": 1, "weight": 9}},
            "perturb": {"mechanism": "discrete_gaussian", "delta": 5e-12},
        },
        "perturb.delta: must leave at least 1e-12 for each column, got less for height",
    ),
    (
        {"columns": {"height": {"sensitivity": "declared"}}},
        "columns.height: input_bounds must be given with sensitivity: declared, and only with it",
    ),
    (
        {"columns": {"height": {"input_bounds": [0, 9]}}},
        "columns.height: input_bounds must be given with sensitivity: declared, and only with it",
    ),
    (
        {"columns": {"height": {"sensitivity": "declared", "input_bounds": [3.2, 4.9]}}},
        "columns.height: input_bounds must increase and hold at least two points of the grid, got [3.2, 4.9]",
    ),
]


@pytest.mark.parametrize(("changes", "line"), WRONG)
def test_a_mechanism_that_does_not_fit_is_a_policy_error(
    small_policy: Small, changes: dict[str, Any], line: str
) -> None:
    with pytest.raises(PolicyError) as caught:
        small_policy(**changes)
    assert list(caught.value.problems) == [line]


@pytest.mark.parametrize("mechanism", ["randomized_response", "exponential", "gauss"])
def test_a_mechanism_for_other_data_lists_those_that_fit(small_policy: Small, mechanism: str) -> None:
    for changes in ({"perturb": {"mechanism": mechanism}}, {"columns": {"height": {"mechanism": mechanism}}}):
        with pytest.raises(PolicyError) as caught:
            small_policy(**changes)
        (line,) = caught.value.problems
        assert all(fitting in line for fitting in MECHANISMS)


@pytest.mark.parametrize("delta", [0, -1e-6, 1, 1e-13, True])
def test_a_delta_out_of_range(small_policy: Small, delta: float) -> None:
    with pytest.raises(PolicyError, match=r"perturb\.delta"):
        small_policy(perturb={"mechanism": "discrete_gaussian", "delta": delta})
