"""Acknowledgements: who answers for columns that single people out, when, why, and until when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from anon_pipeline import Policy
from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import policy_from
from tests.conftest import SMALL, merged

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
        ({"who": " "}, r"acknowledged\.0: who must name a person or an office"),
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


NOTHING = [
    "-",
    "--",
    "n/a",
    "N.A.",
    "none",
    "TBD",
    "todo",
    "x",
    "xxx",
    "?",
    "12",
    "not applicable",
    "to be done",
]


@pytest.mark.parametrize("text", NOTHING)
def test_texts_that_say_nothing_are_refused(small_policy: Small, text: str) -> None:
    with pytest.raises(PolicyError) as who:
        with_acknowledged(small_policy, who=text)
    assert "acknowledged.0: who must name a person or an office" in str(who.value)
    assert "why" not in str(who.value)
    for why in (text, " ".join([text] * 10)):
        with pytest.raises(PolicyError, match=r"acknowledged\.0: why must give the reason"):
            with_acknowledged(small_policy, why=why)


@pytest.mark.parametrize("why", ["register", "known", "so wanted", "Registerauszug", "because", "a b c d e"])
def test_a_reason_has_two_words_and_ten_characters(small_policy: Small, why: str) -> None:
    with pytest.raises(PolicyError, match="in at least two words and ten characters"):
        with_acknowledged(small_policy, why=why)


@pytest.mark.parametrize("who", ["DPO", "Bo", "A. B.", "Åsa", "李明", "Data office, 3rd floor"])
@pytest.mark.parametrize(
    "why", ["public register", "we always did", "im öffentlichen Register", "公開名簿に掲載されている"]
)
def test_names_and_reasons_are_accepted_in_any_script(small_policy: Small, who: str, why: str) -> None:
    [one] = with_acknowledged(small_policy, who=who, why=why).acknowledged
    assert (one.who, one.why) == (who, why)


def test_a_release_that_is_out_can_still_be_verified_by_such_a_policy() -> None:
    section = {"columns": SHOE, **KEY, "acknowledged": [{**ONE, "who": "-", "why": "-"}]}
    [one] = policy_from(merged(SMALL, section), retired=True).acknowledged
    assert (one.who, one.why) == ("-", "-")


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
