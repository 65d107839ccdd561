"""Whose record it is: asked where values repeat, and not where another column says that people do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.draft.profile.look import look_at
from anon_pipeline.draft.profile.profile_table import Profile, profile_table
from anon_pipeline.draft.profile.record_owners import (
    asks_for_owners,
    may_own_records,
    several_records,
    without_owners,
)
from anon_pipeline.draft.profile.roles import propose_role

RNG = np.random.default_rng(0)
N = 400
REPEATED = RNG.integers(0, 90, N).astype(str)


def profile(**columns: object) -> Profile:
    return profile_table(pd.DataFrame({"sex": RNG.choice(["f", "m"], N)} | columns))


def asked(found: Profile) -> list[str]:
    return [one.name for one in found.proposals if "several records" in (one.question or "")]


def test_numbers_from_the_data_stand_in_the_question() -> None:
    look = look_at(pd.Series(np.append(np.repeat(np.arange(99), 4), [99] * 40).astype(str), name="user_id"))
    question = propose_role(look).question or ""
    assert several_records(look.seen) in question
    assert "rows_per_person: 4, " in question and "8.3% of the records are beyond" in question


@pytest.mark.parametrize(
    ("name", "values", "persons"),
    [
        ("event_id", [f"e{i}" for i in range(N)], ["user_id"]),
        ("Emp ID", [f"{i:06}" for i in range(N)], []),
        ("customer_no", [f"{i:06}" for i in range(N)], []),
        ("AHV-Nr", [f"{i:06}" for i in range(N)], []),
        ("customer_no", [f"{i // 2:06}" for i in range(N)], ["customer_no", "user_id"]),
    ],
)
def test_a_number_for_each_person_leaves_nothing_to_ask(
    name: str, values: list[str], persons: list[str]
) -> None:
    assert asked(profile(**{name: values, "user_id": REPEATED})) == persons


@pytest.mark.parametrize("name", ["Manager ID", "household_id", "doctor_id", "Vorgesetzter Nr"])
def test_numbers_of_somebody_else_are_not_asked_for(name: str) -> None:
    assert not may_own_records(look_at(pd.Series(REPEATED, name=name)).seen)
    assert asked(profile(**{name: REPEATED})) == []


def test_who_was_said_to_own_the_records_is_not_asked_again() -> None:
    found = profile(customer_no=REPEATED, user_id=REPEATED)
    first, *rest = (one for one in found.proposals if asks_for_owners(one))
    left = without_owners([replace(first, person=True, question=None), *rest])
    assert not any(asks_for_owners(one) for one in left)
    assert all("number people, or a few things" in (one.question or "") for one in left[1:])
