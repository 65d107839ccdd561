"""The section ``gate.utility``: which columns its bounds may name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]
TOP = {"columns": {"income": {"top": 28_000}}}


@pytest.mark.parametrize("wrong", [{"income": 1}, {"nobody": 1}, {"height": 0}, {"height": True}])
def test_an_error_is_limited_of_perturb_columns_with_numbers(
    small_policy: Small, wrong: dict[str, Any]
) -> None:
    with pytest.raises(PolicyError, match="relative_error"):
        small_policy(gate={"utility": {"relative_error": wrong}})


@pytest.mark.parametrize("wrong", ["note", "nobody", "person", "illness"])
def test_only_what_has_bounds_can_be_limited(small_policy: Small, wrong: str) -> None:
    with pytest.raises(PolicyError, match=f"must name columns with public bounds .* got {wrong}"):
        small_policy(gate={"utility": {"clipped": {wrong: 0.5}}}, **TOP)


def test_a_bound_on_what_is_clipped_names_any_column_with_bounds(small_policy: Small) -> None:
    assert small_policy(gate={"utility": {"clipped": {"income": 0}}}, **TOP).gate.utility.clipped == {
        "income": 0
    }


@pytest.mark.parametrize("wrong", [{"income": 1}, {"nobody": 1}, {"height": 0}, {"height": True}])
def test_an_error_of_the_spread_is_limited_of_perturb_columns_with_numbers(
    small_policy: Small, wrong: dict[str, Any]
) -> None:
    with pytest.raises(PolicyError, match="error_of_spread"):
        small_policy(gate={"utility": {"error_of_spread": wrong}})


def test_excess_records_are_limited_where_there_is_a_most(small_policy: Small) -> None:
    limited = {"gate": {"utility": {"excess": 0.5}}}
    with pytest.raises(PolicyError, match=r"gate.utility.excess: needs rows_per_person"):
        small_policy(**limited)
    people = {"person": "person", "rows_per_person": 2, "deidentify": {"key_env": "KEY"}}
    assert small_policy(**limited, **people).gate.utility.excess == 0.5
