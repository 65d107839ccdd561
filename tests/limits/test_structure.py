"""What is said of records that look like several of each person depends on what the policy says already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline.limits.table import advice_on, demands
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]
KEY: dict[str, Any] = {"deidentify": {"key_env": "K"}}


@pytest.mark.parametrize(
    ("changes", "said", "advised"),
    [
        ({}, "set person to the column that identifies people", False),
        (
            {"one_record_per_person": True},
            "nothing has to change if each person has one record, as the policy says",
            True,
        ),
        ({"record_key": "person", **KEY}, "name another column", True),
        ({"person": "person", "rows_per_person": 2, **KEY}, "name another column", True),
    ],
)
def test_the_advice_fits_what_the_policy_says(
    small_policy: Small, changes: dict[str, Any], said: str, advised: bool
) -> None:
    columns = {"note": {"role": "insensitive"}}
    policy = small_policy(columns=columns, **changes)
    (found,) = (demand for demand in demands(policy) if demand.name == "repeated_people")
    assert found.advised is advised
    assert said in advice_on("repeated_people", policy)
