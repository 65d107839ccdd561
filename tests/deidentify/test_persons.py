"""Whose record it is: a keyed hash that is no released hash, of a key that every record has."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

import pandas as pd
import pytest

from anon_pipeline.deidentify import memory_key, person_ids
from anon_pipeline.deidentify.identifiers import hash_column
from anon_pipeline.errors import InputError
from anon_pipeline.policy import Policy

KEY = b"0123456789abcdef"


def test_it_is_hmac_sha256_in_a_domain_of_its_own() -> None:
    ids = person_ids(pd.Series(["Ann", "Bob"]), KEY)
    assert ids[0] == hmac.new(KEY, b"anon-pipeline/person\x00Ann", hashlib.sha256).hexdigest()
    assert set(ids).isdisjoint(hash_column(pd.Series(["Ann", "Bob"]), KEY))


def test_a_number_and_its_text_are_one_person() -> None:
    assert person_ids(pd.Series([7.0, 8.0]), KEY).tolist() == person_ids(pd.Series(["7", "8"]), KEY).tolist()


def test_every_record_must_have_a_key_of_its_own() -> None:
    column = pd.Series(["CANARY", "CANARY", None, "b"], name="person")
    with pytest.raises(InputError, match="got 1 missing and 1 repeated") as raised:
        person_ids(column, KEY)
    assert "CANARY" not in str(raised.value)


def test_no_key_is_an_error(small_policy: Callable[..., Policy]) -> None:
    with pytest.raises(InputError, match="must have a key"):
        person_ids(pd.Series(["a"]), None)
    with pytest.raises(InputError, match="must have a key"):
        memory_key(small_policy(), None)


def test_another_key_or_column_is_another_memory(small_policy: Callable[..., Policy]) -> None:
    policy = small_policy(record_key="person", deidentify={"key_env": "K"})
    assert memory_key(policy, KEY) == memory_key(policy, KEY)
    assert len({memory_key(policy, KEY), memory_key(policy, KEY * 2), memory_key(small_policy(), KEY)}) == 3
