"""What a change of cleaning does to protection: by how many texts become one value, for each column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline.limits.changes import compare_policies
from anon_pipeline.policy import Policy
from anon_pipeline.policy.cleaning_changes import cleaning_changes
from anon_pipeline.policy.field_changes import field_changes

Small = Callable[..., Policy]
MORE = "more texts become one value, or none"
NAMES = {"M": "male", "m": "male"}


def effects(small_policy: Small, before: Any, after: Any) -> dict[str, str]:
    """Return what each key does, of the column with a note that is released as it is."""
    old, new = (small_policy(clean={"columns": {"note": own}} if own else None) for own in (before, after))
    return {one.key: str(one.effect) for one in cleaning_changes(old, new)}


@pytest.mark.parametrize(
    ("before", "after", "there", "back"),
    [
        ({}, {"strip": True}, {"strip": "strengthens"}, {"strip": "weakens"}),
        ({}, {"case": "lower"}, {"case": "strengthens"}, {"case": "weakens"}),
        ({"case": "upper"}, {"case": "lower"}, {"case": "neutral"}, {"case": "neutral"}),
        ({"case": "keep"}, {}, {}, {}),
        ({"unicode": "NFC"}, {"unicode": "NFKC"}, {"unicode": "strengthens"}, {"unicode": "weakens"}),
        ({"unicode": "NFC"}, {"unicode": "NFD"}, {"unicode": "neutral"}, {"unicode": "neutral"}),
        ({"missing": ["-"]}, {"missing": ["-", "?"]}, {"missing": "strengthens"}, {"missing": "weakens"}),
        ({"missing": ["-", "?"]}, {"missing": ["?", "-"]}, {"missing": "neutral"}, {"missing": "neutral"}),
        (
            {"missing": ["-"]},
            {"missing": ["?"]},
            {"missing": "cannot be compared"},
            {"missing": "cannot be compared"},
        ),
        ({}, {"values": NAMES}, {"values": "strengthens"}, {"values": "weakens"}),
        ({"values": NAMES}, {"values": {"M": "man", "m": "man"}}, *[{"values": "cannot be compared"}] * 2),
        ({"values": {"M": "male"}}, {"values": {"m": "female"}}, *[{"values": "cannot be compared"}] * 2),
        ({"values": {"a": "b"}}, {"values": {"b": "a"}}, *[{"values": "neutral"}] * 2),
        ({"values": {"a": "x"}}, {}, {"values": "weakens"}, {"values": "strengthens"}),
        ({"truncate": 9}, {"truncate": 3}, {"truncate": "strengthens"}, {"truncate": "weakens"}),
        ({}, {"truncate": 3}, {"truncate": "strengthens"}, {"truncate": "weakens"}),
        ({}, {"type": "number"}, *[{"type": "cannot be compared"}] * 2),
        ({"type": "number"}, {"type": "number", "decimal": ","}, *[{"decimal": "neutral"}] * 2),
        (
            {"type": "number"},
            {"type": "number", "thousands": "'", "currency": "CHF"},
            *[{"thousands": "neutral", "currency": "neutral"}] * 2,
        ),
        ({"type": "date"}, {"type": "date", "format": "%d/%m/%Y"}, *[{"format": "neutral"}] * 2),
    ],
)
def test_each_key(small_policy: Small, before: Any, after: Any, there: Any, back: Any) -> None:
    assert effects(small_policy, before, after) == there
    assert effects(small_policy, after, before) == back


def test_a_map_of_values_finds_other_texts_after_another_case(small_policy: Small) -> None:
    before, after = {"values": NAMES}, {"values": NAMES, "case": "lower"}
    assert effects(small_policy, before, after) == {"case": "cannot be compared"}


def test_what_is_missing_and_a_map_are_judged_together(small_policy: Small) -> None:
    """The first one makes hiv a missing value, by way of flu; the second one shows it again."""
    before = {"values": {"hiv": "flu"}, "missing": ["Flu"]}
    after = {"values": {"flu": "hiv"}, "missing": ["Flu"]}
    assert effects(small_policy, before, after) == {"values": "cannot be compared"}
    assert effects(small_policy, before, {**before, "missing": []}) == {"missing": "cannot be compared"}
    apart = {"values": {"hiv": "cold"}, "missing": ["-"]}
    assert effects(small_policy, apart, {**apart, "missing": ["-", "?"]}) == {"missing": "strengthens"}


@pytest.mark.parametrize(
    ("column", "before", "after"),
    [
        ("city", {"unicode": "NFC"}, {"unicode": "NFD"}),
        ("age", {"decimal": "."}, {"decimal": ",", "thousands": "."}),
        ("height", {"decimal": "."}, {"decimal": ","}),
    ],
)
def test_how_values_are_written_matters_where_they_are_generalized_or_noisy(
    small_policy: Small, column: str, before: Any, after: Any
) -> None:
    old, new = (small_policy(clean={"columns": {column: own}}) for own in (before, after))
    found = {(str(one.effect), one.note) for one in cleaning_changes(old, new)}
    assert found == {("cannot be compared", "what is generalized or rounded may then be another value")}


def test_a_map_moves_values_within_a_hierarchy(small_policy: Small) -> None:
    old, new = small_policy(), small_policy(clean={"columns": {"city": {"values": {"Bern": "Berne"}}}})
    assert [(one.key, str(one.effect)) for one in cleaning_changes(old, new)] == [
        ("values", "cannot be compared")
    ]


def test_all_columns_of_one_change_are_in_one_line(small_policy: Small) -> None:
    old, new = small_policy(), small_policy(clean={"strip": True})
    found = {(str(one.effect), one.note) for one in field_changes(old, new)}
    assert {one.where for one in field_changes(old, new)} == {"clean.strip"}
    assert found == {
        ("strengthens", f"city, illness, note; {MORE}"),
        ("neutral", "age, height, income; how numbers or days are written"),
        ("neutral", "person; not released"),
    }


def test_of_columns_that_are_not_released_nothing_is_lost(small_policy: Small) -> None:
    old, new = small_policy(), small_policy(clean={"columns": {"person": {"case": "lower"}}})
    (change,) = field_changes(old, new)
    assert (change.where, str(change.effect), change.note) == (
        "clean.case",
        "neutral",
        "person; not released",
    )


def test_who_is_the_same_person_cannot_be_compared(small_policy: Small) -> None:
    kept = {"person": "person", "rows_per_person": 1, "deidentify": {"key_env": "KEY"}}
    old, new = small_policy(**kept), small_policy(**kept, clean={"columns": {"person": {"strip": True}}})
    (change,) = field_changes(old, new)
    assert (str(change.effect), change.note) == ("cannot be compared", "person; tells people apart")


def test_a_key_that_moves_within_the_section_changes_nothing(small_policy: Small) -> None:
    """The two policies differ, and are said to: nothing that differs is passed over."""
    old = small_policy(clean={"columns": {"note": {"strip": True}}})
    new = small_policy(
        clean={"strip": True, "columns": {n: {"strip": False} for n in old.columns} | {"note": {}}}
    )
    (change,) = field_changes(old, new)
    assert (change.where, str(change.effect)) == ("clean", "neutral")
    assert compare_policies(old, new).effect.safe


def test_no_text_of_the_section_is_shown(small_policy: Small) -> None:
    old = small_policy()
    new = small_policy(clean={"missing": ["CANARY"], "columns": {"note": {"values": {"CANARY": "bird"}}}})
    assert "CANARY" not in "".join(one.as_text() + str(one.to_json()) for one in field_changes(old, new))
