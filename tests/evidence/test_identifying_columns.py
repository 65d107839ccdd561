"""Columns that single people out: named with what to write, without a number that was measured."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import Policy, anonymize
from anon_pipeline.base.errors import GateRefused
from anon_pipeline.evidence.identifying_columns import allowed_share, identifying_columns

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
TODAY = date(2026, 6, 1)
ONE = {"share": 0.5, "who": "Ann", "when": "2026-01-01", "why": "known to all", "until": "2026-12-31"}
SHOES = {"columns": {"shoe": {"role": "insensitive"}, "hat": {"role": "insensitive"}}}


@pytest.fixture
def people(small_people: People) -> pd.DataFrame:
    random = np.random.default_rng(3)
    frame = small_people()
    return frame.assign(shoe=random.integers(30, 48, len(frame)), hat=random.integers(50, 64, len(frame)))


def found(policy: Policy, frame: pd.DataFrame, **changes: Any) -> list[str]:
    return identifying_columns(frame, policy, today=TODAY, **changes)


def test_columns_that_are_identifiers_by_their_values_are_named(
    small_policy: Small, people: pd.DataFrame
) -> None:
    frame = people.assign(income=np.arange(len(people)) // 2)
    [line] = found(small_policy(), frame)
    assert line.startswith("income: must not have half as many different values as values present or more: ")
    assert "round, top, bottom, or a hierarchy with level" in line
    assert (
        found(small_policy(columns={"height": None, "income": None}, perturb=None, suppress=None), frame)
        == []
    )


def test_pairs_are_named_with_what_to_write_and_no_measured_number(
    small_policy: Small, people: pd.DataFrame
) -> None:
    [line] = found(small_policy(**SHOES), people)
    assert line.startswith("shoe: must not single out more than 0.05 of the records together with hat. ")
    assert "Coarsen shoe first (round, top, bottom, or a hierarchy with level), generalize or drop" in line
    assert "acknowledged: [{columns: [shoe, hat], share: the largest that you answer for, who: …," in line
    assert set(re.findall(r"[0-9.]*[0-9]", line)) == {"0.05", "2026", "06", "01"}


def test_triples_are_found_and_narrow_pairs_are_not(small_policy: Small, people: pd.DataFrame) -> None:
    shoe, hat = people["shoe"] // 3, people["hat"] // 3
    coarse = people.assign(shoe=shoe, hat=hat, note=np.random.default_rng(4).integers(0, 6, len(people)))
    lines = found(small_policy(**SHOES), coarse)
    [line] = lines
    assert line.startswith("note: must not single out more than 0.05 of the records together with shoe and ")


def test_combinations_that_share_a_column_are_one_line_that_names_it(
    small_policy: Small, people: pd.DataFrame
) -> None:
    random = np.random.default_rng(5)
    wide = people.assign(badge=random.permutation(len(people)) // 3)
    roles = {"columns": {**SHOES["columns"], "badge": {"role": "insensitive"}}}
    first, second = found(small_policy(**roles), wide)
    assert first.startswith("badge: must not single out more than 0.05 of the records together with ")
    assert " with note, with shoe, with hat. Coarsen badge first" in first
    assert first.endswith(" for each combination")
    assert second.startswith("shoe: must not single out more than 0.05 of the records together with hat. ")
    roles["columns"]["badge"] = {"role": "insensitive", "round": 2}
    [first, _] = found(small_policy(**roles), wide)
    assert "Coarsen badge more first" in first


def test_a_column_that_must_go_anyway_is_the_culprit(small_policy: Small, people: pd.DataFrame) -> None:
    random = np.random.default_rng(5)
    named = people.drop(columns="hat").assign(surname=random.integers(0, 20, len(people)))
    roles = {"columns": {"shoe": {"role": "insensitive"}, "surname": {"role": "insensitive"}}}
    shoes = named.assign(shoe=random.integers(0, 40, len(people)))
    by_name, together = found(small_policy(**roles), shoes.assign(note="-"))
    assert by_name.startswith("surname: must not be released")
    assert together.startswith(
        "surname: must not single out more than 0.05 of the records together with shoe"
    )


def test_an_acknowledgement_lapses(small_policy: Small, people: pd.DataFrame) -> None:
    def policy(**changes: Any) -> Policy:
        return small_policy(**SHOES, acknowledged=[{**ONE, "columns": ["hat", "note", "shoe"], **changes}])

    assert found(policy(share=1), people) == []
    [line] = found(policy(share=1, until="2026-05-31"), people)
    assert "(an acknowledgement holds from 2026-01-01 until 2026-05-31 alone)" in line
    [line] = found(policy(share=0.06), people)
    too_small = (
        "together with hat (what was measured exceeds the share of 0.06 that is acknowledged). Coarsen"
    )
    assert too_small in line
    [line] = found(small_policy(**SHOES, acknowledged=[{**ONE, "columns": ["hat", "note"]}]), people)
    assert line.startswith("shoe: must not single out more than 0.05 of the records together with hat. ")


def test_the_share_of_columns_is_the_largest_that_is_acknowledged_on_a_day_and_else_the_limit_s(
    small_policy: Small,
) -> None:
    entry = {"columns": ["a", "b", "c"], "share": 0.3, "who": "DPO", "why": "flags of the form"}
    terms = [{**entry, "when": "2026-01-01", "until": "2026-06-30"}, {**entry, "share": 0.2} | _LATER]
    columns = {name: {"role": "insensitive"} for name in "abcd"}
    policy = small_policy(columns=columns, acknowledged=terms, gate={"released_identifiers": 0.04})
    spring, fall, winter = date(2026, 3, 1), date(2026, 9, 1), date(2027, 2, 1)
    for names, days, share in (
        (["a", "b"], [spring], 0.3),
        (["a", "b", "c"], [fall], 0.2),
        (["a", "c"], [fall, spring], 0.3),
        (["a", "d"], [spring], 0.04),
        (["a", "b"], [winter], 0.04),
        (["a", "b"], [], 0.04),
    ):
        assert allowed_share(policy, names, days) == share


_LATER = {"when": "2026-07-01", "until": "2026-12-31"}


def test_a_released_hash_needs_an_acknowledgement_of_its_own(
    small_policy: Small, people: pd.DataFrame
) -> None:
    hashed = {"columns": {"person": {"action": "hash"}}, "deidentify": {"key_env": "KEY"}}
    [line] = found(small_policy(**hashed), people)
    assert line.startswith("person: a released hash follows a person")
    assert "acknowledged: [{columns: [person], share: 1, who: …, when: 2026-06-01" in line
    known = {**ONE, "columns": ["person"]}
    [line] = found(small_policy(**hashed, acknowledged=[known]), people)
    assert line.startswith("person: a released hash must have no more different values than is acknowledged ")
    assert "(what was measured exceeds the share of 0.5 that is acknowledged)" in line
    assert found(small_policy(**hashed, acknowledged=[{**known, "share": 1}]), people) == []


def test_too_many_combinations_are_refused_with_what_to_do(small_policy: Small, people: pd.DataFrame) -> None:
    [line] = found(small_policy(**SHOES), people, budget=1_500)
    assert line.startswith("the insensitive columns have too many combinations to be counted. Drop, coarsen")


def test_the_run_ends_before_any_noise(small_policy: Small, people: pd.DataFrame) -> None:
    with pytest.raises(GateRefused, match="deidentified: shoe: must not single out") as refused:
        anonymize(small_policy(**SHOES), people)
    assert str(refused.value).endswith("No noise was drawn, and no ε was spent.")
    coarse = {"columns": {name: {**column, "round": 20} for name, column in SHOES["columns"].items()}}
    assert anonymize(small_policy(**coarse), people).report.passed


def test_names_of_people_are_not_generalized(small_policy: Small, small_people: People) -> None:
    given, family = ("Amir", "Olivia", "Leo", "Chloe", "Noah"), ("Ahmed", "Walker", "Chen", "Silva", "Khan")
    people = small_people()
    names = [f"{given[i % 5]} {family[i // 5 % 5]}" for i in range(len(people))]
    policy = small_policy(columns={"label": {"role": "generalize", "hierarchy": {"suppress": True}}})
    [line] = found(policy, people.assign(label=names))
    assert line.startswith("label: must not be generalized: its values look like full names of people")
    with pytest.raises(GateRefused) as refused:
        anonymize(policy, people.assign(label=names))
    assert line in str(refused.value) and "no ε was spent" in str(refused.value)
    assert "Walker" not in str(refused.value)
    assert found(policy, people.assign(label=[name.split()[1] for name in names])) == []
