"""Limits that allow for the records that lack a value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.draft.answers import possible_answers
from anon_pipeline.draft.lacking_records import allowance, gate_limit, lacking_columns, recoding_limit
from anon_pipeline.draft.profile.look import Look, look_at
from anon_pipeline.draft.profile.proposals import Proposal
from anon_pipeline.draft.profile.roles import propose_role

N = 400


def secret(name: str, empty: np.ndarray) -> tuple[Look, Proposal]:
    look = look_at(pd.Series(np.where(empty, None, np.resize(["a", "b", "c"], N)), name=name))
    return look, possible_answers(look)["secret"]


def test_columns_that_lack_often_are_allowed_for_together() -> None:
    first, second = np.arange(N) < 40, (np.arange(N) >= 30) & (np.arange(N) < 50)
    looks, proposals = zip(secret("salary", first), secret("union", second), strict=True)
    assert lacking_columns(proposals) == ["salary", "union"]
    assert allowance(looks, proposals) == 0.13  # 50 of 400 records, rounded up
    assert (recoding_limit(0.13), gate_limit(0.13)) == (0.18, 0.28)


def test_of_people_it_is_a_share_of_people() -> None:
    owner = look_at(pd.Series([f"u{i // 2}" for i in range(N)], name="user_id"))
    look, proposal = secret("salary", np.arange(N) % 20 == 0)
    person = replace(propose_role(owner), person=True)
    assert allowance([owner, look], [person, proposal]) == pytest.approx(0.1)


def test_of_people_with_many_records_few_lacking_records_are_many_people() -> None:
    """One in fifty records lacks a value, and so do one in ten people, who have five records each."""
    owner = look_at(pd.Series([f"u{i // 5}" for i in range(N)], name="user_id"))
    look, proposal = secret("salary", np.arange(N) % 50 == 0)
    person = replace(propose_role(owner), person=True)
    assert allowance([look], [proposal]) == 0.0
    assert allowance([owner, look], [person, proposal]) == pytest.approx(0.1)


def test_columns_that_lack_seldom_add_up() -> None:
    empty = [np.arange(N) % 100 == place for place in range(3)]
    looks, proposals = zip(*(secret(f"salary {i}", own) for i, own in enumerate(empty)), strict=True)
    assert allowance(looks, proposals) == 0.03


def test_a_few_that_lack_change_no_limit() -> None:
    look, proposal = secret("salary", np.arange(N) < 4)
    assert allowance([look], [proposal]) == 0.0
    assert (recoding_limit(0.0), gate_limit(0.0)) == (0.05, 0.2)
