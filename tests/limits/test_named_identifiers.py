"""A telephone number that is generalized by ranges, or swapped, is a risk that the policy accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline import Policy
from anon_pipeline.limits.accepted_risks import accepted_risks

NUMBERS = {"role": "generalize", "hierarchy": {"numbers": True}}
SWAPPED = {"role": "perturb", "resolution": 1, "mechanism": "class_swapping"}
WITHOUT = {
    "perturb": {"epsilon": 1, "without_guarantee": True},
    "suppress": None,
    "gate": {"confidence_k": None},
}


def roles(policy: Policy) -> dict[str, str]:
    return {key: said for key, said in accepted_risks(policy).items() if key.endswith(".role")}


@pytest.mark.parametrize("recoder", ["mondrian", "mondrian_relaxed", "local", "forest"])
@pytest.mark.parametrize("name", ["phone", "customer_number", "Insurance Number"])
def test_ends_of_ranges_of_numbers_of_persons(
    small_policy: Callable[..., Policy], name: str, recoder: str
) -> None:
    found = roles(small_policy(columns={name: NUMBERS}, anonymize={"recoder": recoder}))
    assert list(found) == [f"columns.{name}.role"]
    assert (
        f"{recoder} releases the least and the greatest value of each class" in found[f"columns.{name}.role"]
    )


@pytest.mark.parametrize(
    ("column", "changes"),
    [
        ({"birthdate": NUMBERS}, {"anonymize": {"recoder": "mondrian"}}),  # often known, and meant to be
        ({"years": NUMBERS}, {"anonymize": {"recoder": "mondrian"}}),
        ({"phone": {**NUMBERS, "hierarchy": {"intervals": [10, 100]}}}, {}),  # levels show no value
        ({"phone": {**NUMBERS, "hierarchy": {"suppress": True}}}, {"anonymize": {"recoder": "mondrian"}}),
        ({"phone": {"role": "perturb", "resolution": 1}}, {}),  # noise
    ],
)
def test_what_shows_no_identifier(
    small_policy: Callable[..., Policy], column: dict[str, Any], changes: dict[str, Any]
) -> None:
    assert roles(small_policy(columns=column, **changes)) == {}


def birthdays(policy: Policy) -> dict[str, str]:
    return {key: said for key, said in accepted_risks(policy).items() if key.endswith(".hierarchy")}


@pytest.mark.parametrize("name", ["birth_date", "dob", "born_on", "Geburtsdatum"])
def test_ranges_of_days_end_at_birthdays(small_policy: Callable[..., Policy], name: str) -> None:
    dates = {name: {"role": "generalize", "hierarchy": {"dates": ["month", "year"]}}}
    for recoder in ("mondrian", "mondrian_relaxed", "local", "forest"):
        found = birthdays(small_policy(columns=dates, anonymize={"recoder": recoder}))
        assert list(found) == [f"columns.{name}.hierarchy"]
        assert "birthdays of two people, whatever the hierarchy says" in found[f"columns.{name}.hierarchy"]
    for recoder in ("ola", "mdav"):  # levels, and means of k days
        assert birthdays(small_policy(columns=dates, anonymize={"recoder": recoder})) == {}


PEOPLE = [
    f"{one} {other}"
    for one in ("Ann", "Tom", "Eva")
    for other in ("Adams", "Diaz", "Khan", "Lee", "Patel", "Roux")
]


@pytest.mark.parametrize(
    ("recoder", "warns"), [("mondrian", True), ("local", True), ("mdav", True), ("ola", False)]
)
def test_an_order_of_names_of_which_some_are_released(
    small_policy: Callable[..., Policy], recoder: str, warns: bool
) -> None:
    def found(name: str, values: list[str]) -> list[str]:
        column = {name: {"role": "generalize", "hierarchy": {"order": values}}}
        return [*birthdays(small_policy(columns=column, anonymize={"recoder": recoder}))]

    assert found("x", PEOPLE) == ["columns.x.hierarchy"] * warns
    assert found("pupil", PEOPLE[:9]) == ["columns.pupil.hierarchy"] * warns
    assert found("x", PEOPLE[:9]) == found("grade", [f"Grade {one}" for one in "ABCDEFGHIJ"]) == []


@pytest.mark.parametrize(
    ("name", "hierarchy"), [("admitted", {"dates": ["month"]}), ("birth_date", {"mask": [3, 5]})]
)
def test_what_shows_no_birthday(
    small_policy: Callable[..., Policy], name: str, hierarchy: dict[str, Any]
) -> None:
    column = {name: {"role": "generalize", "hierarchy": hierarchy}}
    assert birthdays(small_policy(columns=column, anonymize={"recoder": "mondrian"})) == {}


def test_a_swapped_number_of_a_person(small_policy: Callable[..., Policy]) -> None:
    found = roles(small_policy(columns={"phone": SWAPPED}, **WITHOUT))
    assert found["columns.phone.role"].startswith(
        "phone is named like telephone numbers, and a column that is"
    )
