"""The section ``clean``: what it accepts and refuses, and that policies without it stay what they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline import PolicyError
from anon_pipeline.policy import Policy
from anon_pipeline.policy.version_1 import digest_1
from anon_pipeline.policy.walks import named_paths, public_fields
from tests.policy.test_column_cleaning import FOUR

Small = Callable[..., Policy]


def test_a_policy_without_it_has_the_digests_that_it_had(small_policy: Small) -> None:
    policy = small_policy()
    assert "clean" not in policy.model_dump(mode="json")
    assert policy.cleaned == {}
    assert digest_1(policy) != ""


def test_it_binds_the_tables_and_is_not_published(small_policy: Small) -> None:
    before, after = small_policy(), small_policy(clean={"columns": {"note": {"missing": "-"}}})
    assert after.making != before.making
    assert after.digest != before.digest
    assert digest_1(after) == ""  # 0.1.0 did not know it
    assert public_fields(after) == public_fields(before)


def test_the_file_of_a_value_map_is_a_path(small_policy: Small) -> None:
    policy = small_policy(clean={"columns": {"note": {"values_file": "maps/d.csv"}}})
    found = {(one.where, one.folder, one.path) for one in named_paths(policy)}
    assert ("clean.columns.note.values_file", "hierarchies", "maps/d.csv") in found


@pytest.mark.parametrize(
    ("clean", "problem"),
    [
        ({"columns": {"gone": {}}}, r"clean\.columns: must name columns of the policy, got gone"),
        ({"decimal": ",", "thousands": ","}, r"clean\.thousands: must not be the decimal sign, got ,"),
        ({"columns": {"d": {"type": "number", "thousands": "."}}}, r"d\.thousands: must not be the decimal"),
        ({"columns": {"d": {"type": "number", "thousands": ";"}}}, r"columns\.d\.thousands"),
        (
            {"columns": {"d": {"percent": True}}},
            r"d\.percent: must be given only with type: number",
        ),
        ({"columns": {"d": {"type": "integer", "percent": True}}}, "only with type: number, got integer"),
        ({"columns": {"d": {"type": "date", "truncate": 3}}}, "truncate: must be given only with type: text"),
        ({"columns": {"d": {"type": "date", "format": "%d/%m/%y"}}}, "must have years of four digits"),
        ({"columns": {"d": {"type": "date", "format": "%d/%Y"}}}, "must say day, month and year"),
        ({"columns": {"d": {"type": "date", "format": "%x %d%m%Y"}}}, "must be made of .*, got %x"),
        ({"columns": {"d": {"type": "money"}}}, r"columns\.d\.type"),
        ({"columns": {"d": {"values": {"a": "b"}, "values_file": "m.csv"}}}, "at most one of values"),
        ({"columns": {"d": {"values": {1: "a", "1": "b"}}}}, "must name each value once"),
        ({"columns": {"d": {"values": {True: "a"}}}}, "put yes, no"),
        ({"columns": {"d": {"truncate": 0}}}, "truncate"),
        ({"columns": {"d": {"type": "number", "currency": ["CHF", "US-$"]}}}, "without digits, plus, minus"),
        ({"columns": {"d": {"type": "number", "currency": "–"}}}, "without digits, plus, minus"),
        ({"type": "number"}, r"clean\.type"),
        ({"columns": {"n": {"type": "text"}}}, "which the role of the column needs, got text"),
        ({"columns": {"id": {"truncate": 3}}}, "truncate: must be left out for identifiers"),
    ],
)
def test_what_does_not_fit_is_refused(small_policy: Small, clean: dict[str, Any], problem: str) -> None:
    with pytest.raises(PolicyError, match=problem):
        small_policy(**FOUR, clean=clean)


def test_the_decimal_sign_is_said_once(small_policy: Small) -> None:
    source = {"path": "a.csv", "options": {"decimal": ","}}
    with pytest.raises(PolicyError, match=r"source\.options\.decimal: must be left out with clean"):
        small_policy(source=source, clean={})
