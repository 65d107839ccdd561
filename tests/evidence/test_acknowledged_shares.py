"""Acknowledgements that say far more than is measured are none; those near it lapse when it grows."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.encode.codes import PERSON
from anon_pipeline.evidence.acknowledged_shares import blank_acknowledgements, holds_for_all
from anon_pipeline.evidence.identifying_columns import identifying_columns
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]
TODAY = datetime.date(2026, 6, 1)
INSENSITIVE = {"role": "insensitive", "distance": None}


def entry(columns: list[str], share: float, until: str = "2027-01-01") -> dict[str, Any]:
    named = {"who": "Data office", "why": "readers asked for it", "when": "2026-01-01", "until": until}
    return {"columns": columns, "share": share, **named}


def table(alone: int, n: int = 200) -> pd.DataFrame:
    """Records of which so many have values of income and note that no other has."""
    row = np.arange(n)
    income = np.where(row < alone, 10 + row // 10, 1)
    note = np.where(row < alone, row % 10, -1)
    return pd.DataFrame(
        {
            "age": row % 40 + 20,
            "city": "Cork",
            "height": 170.0,
            "income": income,
            "illness": "flu",
            "note": [f"n{one}" for one in note],
        }
    )


def lines(policy: Policy, frame: pd.DataFrame) -> list[str]:
    return list(blank_acknowledgements(frame, policy, TODAY))


@pytest.mark.parametrize(
    ("share", "alone", "blank"),
    [(1, 40, True), (1, 99, True), (1, 100, False), (0.5, 2, False), (0.8, 79, True), (0.8, 80, False)],
)
def test_a_large_share_must_be_near_what_is_measured(
    small_policy: Small, share: float, alone: int, blank: bool
) -> None:
    policy = small_policy(
        columns={"income": INSENSITIVE, "note": INSENSITIVE}, acknowledged=[entry(["income", "note"], share)]
    )
    found = lines(policy, table(alone))
    assert bool(found) is blank
    assert found == [
        line for line in identifying_columns(table(alone), policy, today=TODAY) if "near" in line
    ]
    if blank:
        assert found[0].startswith("income, note: must be acknowledged with a share near what is measured")
        assert f"less than half of {share:g}" in found[0]
        assert str(alone / 200) not in found[0]


def test_of_a_single_column_the_different_values_count_and_of_people_each_once(small_policy: Small) -> None:
    policy = small_policy(acknowledged=[entry(["note"], 0.9)])
    frame = table(0).assign(note=[f"n{i // 2}" for i in range(200)])
    assert lines(policy, frame) == []
    assert lines(policy, frame.assign(note=[f"n{i // 3}" for i in range(200)])) != []
    people = frame.assign(note=[f"n{i // 4}" for i in range(200)], **{PERSON: np.arange(200) // 4})
    assert lines(policy, people) == []  # fifty people, each with a note of their own


def test_a_hash_and_what_is_not_in_force_are_left_out(small_policy: Small) -> None:
    keyed = {"deidentify": {"key_env": "KEY"}}
    hashed = small_policy(
        columns={"person": {"action": "hash"}}, acknowledged=[entry(["person"], 1)], **keyed
    )
    assert lines(hashed, table(0).assign(person=["p"] * 200)) == []
    lapsed = small_policy(acknowledged=[entry(["note"], 1, until="2026-02-01")])
    assert lines(lapsed, table(0)) == []


def test_missing_values_are_nobody(small_policy: Small) -> None:
    policy = small_policy(
        columns={"income": INSENSITIVE, "note": INSENSITIVE}, acknowledged=[entry(["income", "note"], 1)]
    )
    frame = table(30).assign(note=lambda f: f["note"].where(f.index < 60, None))
    assert lines(policy, frame) == []  # thirty of sixty
    assert lines(policy, frame.assign(note=None)) != []


def test_columns_that_single_out_less_together_than_is_acknowledged_need_no_count(
    small_policy: Small,
) -> None:
    """Else nobody could leave the counting out: a share of 1 is too much."""
    columns = {"income": INSENSITIVE, "note": INSENSITIVE}
    policy = small_policy(columns=columns, acknowledged=[entry(["income", "note"], 0.3)])
    few, more = table(40), table(80)
    assert holds_for_all(few, policy, policy.acknowledged[0])
    assert not holds_for_all(more, policy, policy.acknowledged[0])
    assert not holds_for_all(
        few.assign(note=few["note"].where(few.index > 0)), policy, policy.acknowledged[0]
    )
    assert identifying_columns(few, policy, today=TODAY, budget=1_100) == []
    assert any(
        "too many combinations" in line
        for line in identifying_columns(more, policy, today=TODAY, budget=1_100)
    )
    assert any("exceeds the share of 0.3" in line for line in identifying_columns(more, policy, today=TODAY))
