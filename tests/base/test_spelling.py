"""Names that look alike, and characters that are not seen."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.base.spelling import escape, is_plain, look_alikes, skeleton
from anon_pipeline.encode.codes import accept
from anon_pipeline.policy import Policy, policy_from

ALIKE = [
    ("age", "\u0430ge"),  # Cyrillic a
    ("age", "ａｇｅ"),  # full width
    ("age", "a\u200bge"),  # zero-width space
    ("age", "ag\u0435"),  # Cyrillic e
    ("age", "AGE"),
    ("CAP", "САР"),  # all Cyrillic
    ("KOIN", "ΚΟΙΝ"),  # all Greek
    ("zoë", "zoe\u0308"),  # composed and not
    ("home town", "home\u00a0town"),
    ("home town", "home town "),
    ("x", "\u202ex"),
    ("x", "x\ufe0f"),
    ("x", "x\u3164"),
    ("file", "ﬁle"),
    ("a-b", "a\u2010b"),
    ("o'clock", "o\u2019clock"),
    ("A", "\u13aa"),  # Cherokee
    ("a", "\uab7a"),  # Cherokee, small
    ("a", "\u1d00"),  # small capital
    ("A", "\u15c5"),  # Canadian syllabics
    ("age", "\u2c81ge"),  # Coptic
    ("acid", "a\u2ca5id"),  # Coptic
    ("age", "a\u0262e"),  # small capital
    ("IOTA", "\u2c92\u2c9eTA"),
]

AS_WRITTEN = [
    ("ВЕС", "вес"),  # Cyrillic, in another case
    ("Id", "ld"),
    ("I", "1"),
    ("ll", "l1"),
    ("l|", "l1"),
    ("a1", "al"),
    ("code", "c0de"),
    ("O2", "02"),
    ("modern", "rnodern"),
    ("burn", "bum"),
    ("ld", "\u0406d"),  # Cyrillic capital I
    ("code", "с0dе"),  # Cyrillic c and e
]


@pytest.mark.parametrize(("one", "other"), ALIKE, ids=[escape(f"{a}|{b}") for a, b in ALIKE])
def test_names_that_look_alike(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)
    assert look_alikes([one, "else", other]) == [(one, other)]


@pytest.mark.parametrize(("one", "other"), AS_WRITTEN, ids=[escape(f"{a}|{b}") for a, b in AS_WRITTEN])
def test_names_that_look_alike_as_they_are_written(one: str, other: str) -> None:
    assert look_alikes([one, "else", other]) == [(one, other)]
    assert look_alikes([other, "else", one]) == [(other, one)]
    assert look_alikes([other, "else"], [one, "more"]) == [(one, other)]


def test_one_of_two_that_would_look_alike_is_no_mistake(small_policy: Callable[..., Policy]) -> None:
    small_policy(columns={"a1": {"role": "insensitive"}})
    with pytest.raises(PolicyError, match="names must not look alike, got a1 and al"):
        small_policy(columns={"a1": {"role": "insensitive"}, "al": {"role": "insensitive"}})


def test_no_false_alarm_on_ordinary_names() -> None:
    numbered = [
        "id",
        "zip",
        "zip4",
        "l1",
        "l2",
        "x1",
        "x2",
        "x10",
        "x11",
        "q1",
        "q2",
        "q10",
        "t1",
        "t2",
        "bmi",
        "bmi2",
    ]
    words = [
        "AL",
        "A1",
        "mail",
        "mall",
        "fiat",
        "flat",
        "sail",
        "sall",
        "nom",
        "nm",
        "norm",
        "ICD9",
        "ICD10",
        "city2",
    ]
    names = [*numbered, *words, "income_1", "income_2", "hours_per_week", "hours.per.week", "city"]
    assert look_alikes(names) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("id", "ld"),
        ("IL", "1L2"),
        ("RN", "M"),
        ("age", "page"),
        ("größe", "grosse2"),
        ("город", "gorod"),
        ("年齢", "年"),
        ("a_b", "ab"),
        ("l1", "l2"),
    ],
)
def test_names_that_do_not(one: str, other: str) -> None:
    assert look_alikes([one, other]) == []


@given(st.text(max_size=8))
def test_a_skeleton_has_itself_as_skeleton(name: str) -> None:
    assert skeleton(skeleton(name)) == skeleton(name)
    assert look_alikes([name, name]) == []
    assert escape(name).isascii()


@pytest.mark.parametrize("text", ["a\x00b", "a\nb", "\x7f", "a\u2028", "a\u202eb", "\u2066a", "\x85"])
def test_what_no_name_may_hold(text: str) -> None:
    assert not is_plain(text)


def test_a_policy_with_names_that_look_alike(small_policy: Callable[..., Policy]) -> None:
    with pytest.raises(PolicyError) as caught:
        small_policy(columns={"\u0430ge": {"role": "insensitive"}})
    assert str(caught.value) == "columns: names must not look alike, got age and \\u0430ge"


def test_a_policy_with_an_unseen_character_in_a_name(small_policy: Callable[..., Policy]) -> None:
    with pytest.raises(PolicyError, match=r"names must not hold control characters, got a\\x00b"):
        small_policy(columns={"a\x00b": {"role": "insensitive"}})


PATHS = [
    {"source": {"path": "a\x00.csv"}},
    {"source": {"path": "a\n.csv"}},
    {"deidentify": {"key_file": "key\x00"}},
    {"publish": {"to": "out\u202e"}},
    {"columns": {"city": {"hierarchy": {"suppress": None, "table": "city\x00.csv"}}}},
    {"columns": {"height": {"unit": "c\x1bm"}}},
]


@pytest.mark.parametrize("change", PATHS, ids=str)
def test_paths_with_unseen_characters(small_policy: Callable[..., Policy], change: dict) -> None:
    with pytest.raises(PolicyError, match="must not hold control characters") as caught:
        small_policy(**change)
    assert str(caught.value).isprintable()


def test_data_whose_column_only_looks_like_the_policys(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame]
) -> None:
    with pytest.raises(InputError) as caught:
        accept(small_people().rename(columns={"age": "\u0430ge"}), small_policy())
    assert caught.value.problems[0] == (
        "columns must be named as in the policy, got a name in place 2 that only looks like age. "
        "Write it in the same way in both."
    )
    with pytest.raises(InputError, match=r"got a name in place 5 that only looks like Income"):
        accept(
            small_people().rename(columns={"income": "1ncome"}),
            small_policy(
                columns={"income": None, "Income": {"role": "sensitive", "distance": "ordered"}},
            ),
        )


def test_data_of_one_column_that_only_looks_alike() -> None:
    policy = policy_from(
        {
            "name": "a",
            "source": {"generate": "patients"},
            "columns": {"x": {"role": "generalize", "hierarchy": {"suppress": True}}},
            "anonymize": {"k": 2},
        }
    )
    with pytest.raises(InputError, match=r"got a name in place 1 that only looks like x"):
        accept(pd.DataFrame({"\u0445": ["1", "2"]}), policy)


def test_data_with_columns_that_look_alike(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame]
) -> None:
    with pytest.raises(InputError, match=r"columns must not look alike, got age and a name in place 8"):
        accept(small_people().assign(**{"\u0430ge": 1}), small_policy())
