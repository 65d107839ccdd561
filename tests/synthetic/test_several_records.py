"""Records of people with several of them are noticed before attackers are measured by records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anon_pipeline.declared.parts import Release
from anon_pipeline.gate import Status
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic.several_records import judge_people, looks_like_people

Synthetic = Callable[..., SyntheticPolicy]
Integers = NDArray[np.int64]


def slips(months: int, people: int = 100) -> Integers:
    """Return pay slips: birth year, place, grade and pay of a person, and a month and days of each slip."""
    random = np.random.default_rng(0)
    each = np.column_stack([random.integers(0, most, people) for most in (60, 30, 9, 300)])
    own = np.repeat(each, months, axis=0)
    return np.column_stack([own, np.tile(np.arange(months), people), random.integers(0, 9, people * months)])


@pytest.mark.parametrize(("months", "several"), [(1, False), (3, True), (12, True)])
def test_columns_that_change_with_each_record_are_left_out(months: int, several: bool) -> None:
    assert looks_like_people(slips(months, people=1_200 // months)) is several


def test_different_people_and_few_columns_do_not_look_so(people: Callable[..., Integers]) -> None:
    assert not looks_like_people(people(3_000))
    assert not looks_like_people(slips(12)[:, :2])
    assert not looks_like_people(np.zeros((50, 4), np.int64))


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, Status.REFUSED),
        ({"one_record_per_person": True}, Status.WARNED),
        ({"person": "id"}, Status.PASSED),
    ],
)
def test_what_the_policy_says_decides(
    synthetic: Synthetic, people: Callable[..., Any], changes: dict[str, Any], status: Status
) -> None:
    policy, codes = synthetic(**changes), slips(12)
    verdict = judge_people(policy, Release((), len(codes), codes, people=np.arange(len(codes)) // 12))
    assert verdict.status is status
    assert (status is Status.PASSED) is (verdict.reason is None)
    assert judge_people(policy, Release((), 400, people(400))).status is Status.PASSED
    assert judge_people(policy, Release((), 400)).status is Status.UNMEASURED
