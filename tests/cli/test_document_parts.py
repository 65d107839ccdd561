"""Parts of schemas: what they accept, and that their lists of words are those of the code."""

from __future__ import annotations

import pytest
from jsonschema import ValidationError, validate

from anon_pipeline.cli.document_parts import (
    EFFECT,
    SENSE,
    STATUS,
    TEXT,
    VERDICT,
    list_of,
    object_of,
    rows_of,
)
from anon_pipeline.limits.table import LIMITS
from anon_pipeline.limits.verdicts import Status
from anon_pipeline.policy.protection import Effect


def test_required_keys_must_be_there_and_optional_ones_need_not() -> None:
    schema = object_of({"a": TEXT}, b=TEXT)
    validate({"a": "x"}, schema)
    validate({"a": "x", "b": "y", "later": 1}, schema)
    for wrong in ({"b": "y"}, {"a": 1}, {"a": "x", "b": 1}):
        with pytest.raises(ValidationError):
            validate(wrong, schema)


def test_rows_are_a_list_of_objects() -> None:
    assert rows_of({"a": TEXT}, b=TEXT) == list_of(object_of({"a": TEXT}, b=TEXT))
    with pytest.raises(ValidationError):
        validate([{"a": "x"}, {}], rows_of({"a": TEXT}))


def test_the_words_of_a_verdict_and_of_a_change_are_all_there_are() -> None:
    assert set(STATUS["enum"]) == {*Status}
    assert set(EFFECT["enum"]) == {*Effect}
    assert set(SENSE["enum"]) == {limit.judged.sense for limit in LIMITS} | {"holds", "below"}
    assert (VERDICT["properties"]["status"], VERDICT["properties"]["sense"]) == (STATUS, SENSE)
