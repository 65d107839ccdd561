"""Whose record it is: a keyed hash that is no released hash, of a key that every record has."""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from collections.abc import Callable

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import PERSON, RECORD
from anon_pipeline.policy import Policy
from anon_pipeline.stages.deidentify import hash_column
from anon_pipeline.stages.persons import ID, memory_key, normal_key, person_ids, with_people

KEY = b"0123456789abcdef"


def test_it_is_hmac_sha256_in_a_domain_of_its_own() -> None:
    ids = person_ids(pd.Series(["Ann", "Bob"]), KEY)
    normal = hmac.new(KEY, b"anon-pipeline/person in normal form\x00ann", hashlib.sha256).hexdigest()
    assert ids[0] == normal + hmac.new(KEY, b"anon-pipeline/person\x00Ann", hashlib.sha256).hexdigest()
    released = set(hash_column(pd.Series(["Ann", "Bob", "ann", "bob"]), KEY))
    assert {*ids.str[:ID], *ids.str[ID:]}.isdisjoint(released)


def test_a_number_and_its_text_are_one_person() -> None:
    assert person_ids(pd.Series([7.0, 8.0]), KEY).tolist() == person_ids(pd.Series(["7", "8"]), KEY).tolist()


def test_every_record_must_have_a_key_of_its_own() -> None:
    column = pd.Series(["CANARY", "CANARY", None, "b"], name="person")
    with pytest.raises(InputError, match="got 1 missing and 1 repeated") as raised:
        person_ids(column, KEY)
    assert "CANARY" not in str(raised.value)


ALIKE = [
    ("Ann Lee", "ann lee", " ANN\u00a0  LEE\t", "Ann\u200b Lee", "\uff21nn Lee", "A\u00adnn Lee"),
    ("7", "007", "7.0", "07.000", "\uff17", " 7 "),
    ("0", "000", "0.0"),
    ("stra\u00dfe", "STRASSE", "stra\u1e9ee"),
    ("\u00e9", "e\u0301", "\u00c9", "e\u200d\u0301"),
    ("\u0131d\u0307",),
    ("12.5", "12.5 "),
    ("1e3",),
    ("-7",),
    ("a7",),
    ("a07",),
]


def test_ways_of_writing_one_key_are_one_person_and_others_are_not() -> None:
    for ways in ALIKE:
        assert len({person_ids(pd.Series([way]), KEY)[0][:ID] for way in ways}) == 1, ways
    firsts = person_ids(pd.Series([ways[0] for ways in ALIKE]), KEY).str[:ID]
    assert firsts.nunique() == len(ALIKE)


@given(st.text(max_size=20))
def test_the_normal_form_is_one(text: str) -> None:
    form = normal_key(text)
    assert normal_key(form) == form
    for other in (text.upper(), text.swapcase(), f" {text}\u3000", unicodedata.normalize("NFD", text)):
        if other.casefold() == text.casefold() or other.strip() == text.strip():
            assert normal_key(other) == form


@pytest.mark.parametrize("ways", [ways for ways in ALIKE if len(ways) > 1])
def test_two_records_whose_keys_only_look_different_are_refused(ways: tuple[str, ...]) -> None:
    column = pd.Series([*ways, "CANARY"], name="person")
    with pytest.raises(InputError, match=f"got {len(ways) - 1} equal to another one without these") as raised:
        person_ids(column, KEY)
    assert "CANARY" not in str(raised.value)
    assert ways[0] not in str(raised.value).replace("records", "") or len(ways[0]) == 1


def test_a_key_of_nothing_visible_is_missing() -> None:
    with pytest.raises(InputError, match="got 2 missing"):
        person_ids(pd.Series(["a", " ", "\u200b"], name="person"), KEY)


def test_no_key_is_an_error(small_policy: Callable[..., Policy]) -> None:
    with pytest.raises(InputError, match="must have a key"):
        person_ids(pd.Series(["a"]), None)
    with pytest.raises(InputError, match="must have a key"):
        memory_key(small_policy(), None)


def test_another_key_or_column_is_another_memory(small_policy: Callable[..., Policy]) -> None:
    policy = small_policy(record_key="person", deidentify={"key_env": "K"})
    assert memory_key(policy, KEY) == memory_key(policy, KEY)
    assert len({memory_key(policy, KEY), memory_key(policy, KEY * 2), memory_key(small_policy(), KEY)}) == 3


def test_without_people_the_table_stays_as_it_is(small_policy: Callable[..., Policy]) -> None:
    table = pd.DataFrame({RECORD: [5, 6], "age": [20, 30]})
    found = with_people(small_policy(), table, table, key=None)
    pd.testing.assert_frame_equal(found.frame, table)
    assert (found.kept.tolist(), found.facts) == ([True, True], {})


def test_records_of_a_person_beyond_the_bound_are_left_out(small_policy: Callable[..., Policy]) -> None:
    policy = small_policy(person="person", rows_per_person=2, deidentify={"key_env": "KEY"})
    accepted = pd.DataFrame(
        {RECORD: [5, 6, 7, 8], "person": ["Ann", "Bob", "ann", "ANN"], "age": [1, 2, 3, 4]}
    )
    without = accepted.drop(columns="person")
    found = with_people(policy, accepted, without, key=KEY)
    assert found.facts == {"people": 2, "excess_records": 1}
    assert found.frame[PERSON].value_counts().tolist() == [2, 1]
    assert found.frame["age"].tolist() == accepted.loc[found.kept, "age"].tolist()
    assert PERSON not in without
