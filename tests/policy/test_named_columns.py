"""Columns named like what identifies people must not have many values."""

from __future__ import annotations

from typing import Any

import pytest

from anon_pipeline.policy.declared_columns import DeclaredColumn
from anon_pipeline.policy.named_columns import FEW, named_like_identifiers


def column(values: int, **numbers: Any) -> DeclaredColumn:
    texts = [f"v{place}" for place in range(values)]
    return DeclaredColumn.model_validate(numbers or {"values": texts, "otherwise": "v0"})


@pytest.mark.parametrize("name", ["name", "full_name", "ssn", "phone", "street", "Patient ID"])
def test_more_than_a_few_values_are_refused(name: str) -> None:
    (said,) = named_like_identifiers({name: column(FEW + 1), "ward": column(500)}, "they are shown")
    assert said.startswith(f"columns.{name}: must be left out, since it is named like ")
    assert said.endswith(
        "more than 20 values, and they are shown. If it holds nothing of that kind, give it another name"
    )
    assert named_like_identifiers({name: column(FEW)}, "they are shown") == []


def test_numbers_count_too_and_dates_of_birth_do_not() -> None:
    numbers = column(0, bounds=[0, 99], otherwise=0)
    assert len(named_like_identifiers({"ssn": numbers}, "x")) == 1
    assert named_like_identifiers({"date_of_birth": numbers, "phone_model": numbers}, "x") == []


def test_full_names_under_a_word_for_persons_are_refused() -> None:
    given = ("Ann", "Robert", "Maria", "Priya", "John", "Fatima")
    people = [f"{one} {other}" for one in given for other in ("Lee", "Brown", "Garcia", "Patel")]
    names = DeclaredColumn.model_validate({"values": people, "otherwise": people[0]})
    (said,) = named_like_identifiers({"pupil": names, "artist": names, "ward": column(24)}, "they are shown")
    assert said.startswith("columns.pupil: must be left out, since it is named like persons (its values look")
    few = DeclaredColumn.model_validate({"values": people[:FEW], "otherwise": people[0]})
    assert named_like_identifiers({"pupil": few, "tenant": column(24)}, "they are shown") == []
