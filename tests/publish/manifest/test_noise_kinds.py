"""Perturb columns by the kind of their noise: in the order that is asked for, columns sorted."""

from __future__ import annotations

from collections.abc import Callable

from anon_pipeline.policy import Policy
from anon_pipeline.publish.manifest.noise_kinds import by_choice, by_kind

DECLARED = {"sensitivity": "declared", "input_bounds": [0, 9]}


def test_columns_are_sorted_within_their_kind_and_kinds_as_asked(small_policy: Callable[..., Policy]) -> None:
    column = {"role": "perturb", "resolution": 1}
    more = {
        "weight": column,
        "armspan": column,
        "pulse": {**column, **DECLARED},
        "steps": {**column, "mechanism": "staircase"},
    }
    policy = small_policy(columns=more)
    found = by_kind(policy, ["staircase", "discrete_laplace"])
    assert {kind: list(columns) for kind, columns in found.items()} == {
        ("staircase", "class"): ["steps"],
        ("discrete_laplace", "class"): ["armspan", "height", "weight"],
        ("discrete_laplace", "declared"): ["pulse"],
    }
    assert list(found) == [
        ("staircase", "class"),
        ("discrete_laplace", "class"),
        ("discrete_laplace", "declared"),
    ]
    assert by_kind(policy, ["uniform"]) == {}


def test_categories_are_named_by_their_mechanism(small_policy: Callable[..., Policy]) -> None:
    drawn = {"role": "perturb", "mechanism": "randomized_response", "values": ["a", "b"]}
    policy = small_policy(columns={"z": drawn, "y": drawn})
    found = by_choice(policy, ["exponential", "randomized_response"])
    assert {kind: list(columns) for kind, columns in found.items()} == {"randomized_response": ["y", "z"]}
    assert by_choice(small_policy(), ["randomized_response"]) == {}
