"""Acknowledgements: who answers for columns that single people out, when, why, and until when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from anon_pipeline import Policy
from anon_pipeline.base.errors import PolicyError

Small = Callable[..., Policy]
ONE = {
    "columns": ["note", "shoe"],
    "share": 0.2,
    "who": "Data office",
    "when": "2026-01-01",
    "why": "public register",
    "until": "2027-01-01",
}
SHOE = {"shoe": {"role": "insensitive"}, "case": {"role": "identifier", "action": "hash"}}
KEY = {"deidentify": {"key_env": "KEY"}}


def with_acknowledged(small_policy: Small, **changes: Any) -> Policy:
    return small_policy(columns=SHOE, acknowledged=[{**ONE, **changes}], **KEY)


def test_it_holds_for_its_columns_and_for_some_of_them_in_its_time(small_policy: Small) -> None:
    [one] = with_acknowledged(small_policy).acknowledged
    assert one.covers(["shoe", "note"], date(2026, 1, 1))
    assert one.covers(["note"], date(2027, 1, 1))
    assert not one.covers(["note", "shoe"], date(2025, 12, 31))
    assert not one.covers(["note", "shoe"], date(2027, 1, 2))
    assert not one.covers(["note", "shoe", "age"], date(2026, 5, 5))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"columns": ["note", "note"]}, "columns must name each column once"),
        ({"columns": ["age"]}, "a single column must be sensitive, insensitive, .* got age"),
        ({"columns": ["height"]}, "or an identifier with an action that is keyed, got height"),
        ({"columns": ["person"]}, "a single column must .* got person"),
        ({"columns": ["note", "income"]}, "got income in note, income"),
        ({"columns": ["note", "gone"]}, "lapses when its columns change"),
        ({"who": " "}, "who and why must be given"),
        ({"until": "2025-12-31"}, "at most two years after when, not before"),
        ({"until": "2028-01-03"}, "at most two years"),
        ({"share": 0}, "must be above 0"),
        ({"share": 1.5}, "must be at most 1"),
        ({"until": None}, "until"),
    ],
)
def test_what_is_no_acknowledgement_is_refused(small_policy: Small, changes: Any, said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        with_acknowledged(small_policy, **changes)


def test_a_hash_is_acknowledged_by_itself_and_nothing_of_it_decides_the_tables(small_policy: Small) -> None:
    bare = small_policy(columns=SHOE, **KEY)
    policy = with_acknowledged(small_policy, columns=["case"])
    assert policy.making == bare.making
    assert policy.digest != bare.digest
    assert "acknowledged" not in bare.model_dump()
    assert policy.answered_for == [{**ONE, "columns": ["case"]}]


@pytest.mark.parametrize("name", ["note", "illness"])
def test_a_column_that_is_released_as_it_is_can_be_acknowledged_by_itself(
    small_policy: Small, name: str
) -> None:
    assert with_acknowledged(small_policy, columns=[name]).answered_for == [{**ONE, "columns": [name]}]


def test_the_parts_of_a_date_of_birth_can_be_acknowledged_together_whatever_they_are(
    small_policy: Small,
) -> None:
    parts = {name: {"role": "sensitive"} for name in ("birth_day", "birth_month")}
    small_policy(columns=parts, acknowledged=[{**ONE, "columns": [*parts]}])
    with pytest.raises(
        PolicyError, match="or be parts of a date of birth, got illness in birth_day, illness"
    ):
        small_policy(columns=parts, acknowledged=[{**ONE, "columns": ["birth_day", "illness"]}])


def test_more_than_the_default_share_cannot_be_set(small_policy: Small) -> None:
    small_policy(gate={"released_identifiers": 0.01})
    with pytest.raises(PolicyError, match=r"must be at most 0.05"):
        small_policy(gate={"released_identifiers": 0.5})
