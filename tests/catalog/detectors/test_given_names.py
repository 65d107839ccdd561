"""The list of given names: plain, and no word that columns of other things are full of."""

from __future__ import annotations

from anon_pipeline.catalog.detectors.given_names import GIVEN_NAMES
from anon_pipeline.sources.people import FEMALE_NAMES, MALE_NAMES


def test_names_are_plain_words_of_two_letters_or_more() -> None:
    assert len(GIVEN_NAMES) > 1_000
    assert all(name.isascii() and name.isalpha() and name.islower() for name in GIVEN_NAMES)
    assert min(map(len, GIVEN_NAMES)) == 2


def test_frequent_names_are_among_them_and_other_words_are_not() -> None:
    assert {name.lower() for name in (*FEMALE_NAMES, *MALE_NAMES)} <= GIVEN_NAMES
    assert {"jurgen", "chloe", "jose", "lukasz", "priya", "fatima", "wei"} <= GIVEN_NAMES
    assert not GIVEN_NAMES & {"new", "san", "general", "bank", "heart", "acute", "insulin", "ford", "smith"}
