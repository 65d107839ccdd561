"""Columns of full names among those that a policy shows, whatever they are called."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from anon_pipeline.evidence.columns_of_names import columns_of_names, generalized_names
from anon_pipeline.policy import Policy

GIVEN = ["Ann", "Robert", "Maria", "Priya", "John", "Fatima", "Linda", "Emily", "Tom", "Jean"]
FAMILY = ["Lee", "Brown", "Garcia", "Patel", "Smith", "Khan", "Nguyen"]
PEOPLE = [f"{one} {other}" for one in GIVEN for other in FAMILY]
BRANDS = ["Ford Focus", "Fiat Panda", "Renault Clio", "Honda Civic", "Opel Corsa", "Kia Ceed"]


def found(
    small_policy: Callable[..., Policy], roles: dict[str, str], values: dict[str, list[object]]
) -> list[str]:
    policy = small_policy(columns={name: {"role": role} for name, role in roles.items()})
    others = dict.fromkeys((name for name in policy.columns if name not in values), "x")
    frame = pd.DataFrame(values).assign(**others)
    return [*columns_of_names(frame, policy)]


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_names_of_any_column_that_is_shown(small_policy: Callable[..., Policy], role: str) -> None:
    roles = {"pupil": role, "x": role, "car": role, "few": role, "tenant": role, "number": role}
    values: dict[str, list[object]] = {
        "pupil": [PEOPLE[i % 60] for i in range(300)],
        "x": [PEOPLE[i % 60] if i else None for i in range(300)],
        "car": [BRANDS[i % 6] for i in range(300)],
        "few": [PEOPLE[i % 6] for i in range(300)],
        "tenant": [PEOPLE[i % 6 * 8] for i in range(300)],
        "number": [i % 60 for i in range(300)],
    }
    assert found(small_policy, roles, values) == ["pupil", "x", "tenant"]


def test_names_that_are_dropped_are_not_looked_at_and_generalized_ones_apart(
    small_policy: Callable[..., Policy],
) -> None:
    roles = {"pupil": "identifier", "tenant": "generalize"}
    values: dict[str, list[object]] = {name: [PEOPLE[i % 60] for i in range(300)] for name in roles}
    policy = small_policy(
        columns={
            "pupil": {"role": "identifier", "action": "drop"},
            "tenant": {"role": "generalize", "hierarchy": {"suppress": True}},
        }
    )
    frame = pd.DataFrame(values).assign(**dict.fromkeys((n for n in policy.columns if n not in values), "x"))
    assert [*columns_of_names(frame, policy)] == []
    assert [*generalized_names(frame, policy)] == ["tenant"]
    assert [*generalized_names(frame.assign(tenant=BRANDS[0]), policy)] == []
