"""Values that look like what a column's name says, and those that only share its name."""

from __future__ import annotations

import pytest

from anon_pipeline.catalog.detectors.identifying_names import telling_name
from anon_pipeline.catalog.detectors.identifying_values import looks_like, may_be

PEOPLE = {
    "last_name": ["Brown", "O'Neil", "Müller-Lüdenscheidt", "Van den Berg"],
    "email": ["ann@x.example", "bob@y.example", "c@z.example"],
    "phone": ["+353 1 234 5678", "089/123456", "(021) 555-0123"],
    "street": ["12 Mill Lane", "Hauptstraße 5", "3 rue de la Paix"],
    "license_plate": ["M-AB 123", "191-D-4567", "ZH 12345"],
    "iban": ["DE89370400440532013000", "IE29AIBK93115212345678", "CH9300762011623852957"],
    "date_of_birth": ["1970-01-31", "31.1.1970", "5 May 1980"],
    "latitude": ["53.3498", "-8.12", "52,001"],
}
OTHERS = {
    "last_name": ["yes", "no", "unknown"],
    "email": ["yes", "no", "never asked"],
    "phone": ["mobile", "landline", "none"],
    "street": ["urban", "rural", "mixed"],
    "license_plate": ["foreign", "domestic", "none"],
    "iban": ["given", "missing", "wrong"],
    "date_of_birth": ["known", "guessed", "missing"],
    "latitude": ["north", "south", "0"],
}


@pytest.mark.parametrize("name", PEOPLE)
def test_values_are_told_from_flags_of_the_same_name(name: str) -> None:
    said = telling_name(name)
    assert said is not None
    assert looks_like(said, PEOPLE[name])
    assert not looks_like(said, OTHERS[name])


@pytest.mark.parametrize("name", PEOPLE)
def test_two_values_are_a_flag(name: str) -> None:
    assert not looks_like(str(telling_name(name)), PEOPLE[name][:2])


def test_nine_in_ten_must_look_so() -> None:
    names = [f"Ann {chr(65 + i)}bel" for i in range(9)]
    assert looks_like("names of persons", [*names, "unknown person 1"])
    assert not looks_like("names of persons", [*names, "unknown 1", "unknown 2"])


@pytest.mark.parametrize(
    "values", [["0", "1", "2"], ["12", "345", "678"], ["low", "mid", "high"], ["A", "B", "C"]]
)
def test_counts_and_codes_are_nobody(values: list[str]) -> None:
    assert not may_be(values)


def test_words_that_begin_as_names_do_may_be_people() -> None:
    assert may_be(["Ward 7", "Bob", "Cid"])
