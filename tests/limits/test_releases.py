"""Noise that a schedule draws again and again warns, unless something bounds what adds up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.gate import Status, limits_of
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.table import demands
from anon_pipeline.policy import Policy
from anon_pipeline.policy.public import public_document, public_policy
from anon_pipeline.stages.history.in_ledger import InLedger
from anon_pipeline.stages.history.memory import Memory

Small = Callable[..., Policy]
WEEKLY = {"schedule": {"cron": "0 3 * * 1"}}


def verdict_on(policy: Policy, published: float = 0) -> Any:
    frame = pd.DataFrame({name: ["x"] * 5 for name in policy.released} | {"height": 1.0, "income": 1})
    frame = frame.assign(**{RECORD: range(5), CLASS: 0})
    case = Case(policy, frame, evidence_from(frame, policy, originals=frame))
    case = replace(case, in_ledger=InLedger(published=Fraction(published)))
    (found,) = (d.verdict(case) for d in demands(policy) if d.name == "repeated_noise")
    return found


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, Status.PASSED),
        (WEEKLY, Status.WARNED),
        ({**WEEKLY, "budget": {"epsilon": 10}}, Status.PASSED),
        ({**WEEKLY, "budget": {"epsilon": 11}}, Status.WARNED),
        ({**WEEKLY, "budget": {"epsilon": 10, "window": 7}}, Status.WARNED),
        ({"budget": {"epsilon": 1000, "window": 7}}, Status.PASSED),
        ({**WEEKLY, "source": {"path": None, "generate": "patients"}}, Status.PASSED),
        (
            {
                "schedule": {"cron": "0 3 * * 1", "partitions": "weekly"},
                "source": {"path": "p-{partition}.csv"},
            },
            Status.PASSED,
        ),
    ],
)
def test_a_schedule_warns_where_nothing_ends_it(
    small_policy: Small, changes: dict[str, Any], status: Status
) -> None:
    found = verdict_on(small_policy(**changes))
    assert found.status is status
    assert (found.reason is None) is (status is Status.PASSED)


@pytest.mark.parametrize(
    ("changes", "published", "status"),
    [
        ({}, 8, Status.PASSED),  # with its own ε of 2 that is 10
        ({}, 8.5, Status.WARNED),
        ({"budget": {"epsilon": 10}}, 8.5, Status.PASSED),
        ({"budget": {"epsilon": 50}}, 8.5, Status.WARNED),
        ({"perturb": {"epsilon": 10}}, 0, Status.PASSED),
        ({"source": {"path": None, "generate": "patients"}}, 100, Status.PASSED),
        (
            {
                "schedule": {"cron": "0 3 * * 1", "partitions": "weekly"},
                "source": {"path": "p-{partition}.csv"},
            },
            8.5,
            Status.WARNED,
        ),
    ],
)
def test_new_noise_by_hand_warns_once_it_adds_up(
    small_policy: Small, changes: dict[str, Any], published: float, status: Status
) -> None:
    found = verdict_on(small_policy(**changes), published)
    assert found.status is status
    if status is Status.WARNED:
        assert "the releases of small have new noise of ε = 10.5 together, and" in found.reason


def test_noise_that_stays_or_is_none_has_no_such_limit(small_policy: Small) -> None:
    bare = small_policy(
        columns={"height": {"role": "identifier", "unit": None, "resolution": None}},
        perturb=None,
        suppress=None,
        **WEEKLY,
    )
    assert "repeated_noise" not in limits_of(bare)
    sticky = small_policy(
        columns={"height": {"sensitivity": "declared", "input_bounds": [100, 220]}},
        perturb={"republish": "sticky"},
        record_key="person",
        deidentify={"key_env": "KEY"},
        **WEEKLY,
    )
    assert "repeated_noise" not in limits_of(sticky)


def test_the_public_policy_does_not_tell_whether_there_is_a_schedule(small_policy: Small) -> None:
    for policy in (small_policy(), small_policy(**WEEKLY)):
        public = public_policy(public_document(policy))
        assert limits_of(public) == limits_of(policy)
        assert verdict_on(public).status is Status.UNMEASURED


KEYED: dict[str, Any] = {"record_key": "person", "deidentify": {"key_env": "ANON_TEST_KEY"}, "suppress": None}


def test_who_joins_a_published_class_alone_is_warned_of(
    small_policy: Small, small_people: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    policy, people = small_policy(**KEYED, gate={"suppression": None}), small_people(60)
    joined = people.iloc[[0]].assign(person="somebody new")

    def newcomers(table: pd.DataFrame, memory: Memory) -> tuple[Any, Memory | None]:
        release = anonymize(policy, table, memory=memory)
        (found,) = (one for one in release.report.verdicts if one.limit == "newcomers")
        return found, release.memory

    first, memory = newcomers(people, Memory.empty())
    assert (first.status, first.value) == (Status.PASSED, 0)
    assert memory is not None
    assert newcomers(people, memory)[0].status is Status.PASSED
    later = newcomers(pd.concat([people, joined], ignore_index=True), memory)[0]
    assert (later.status, later.value) == (Status.WARNED, 1)
    assert later.to_json()["value"] is None  # it follows from who was published before


def test_without_a_key_or_exact_values_nobody_is_compared(small_policy: Small) -> None:
    assert "newcomers" not in limits_of(small_policy())
    assert "newcomers" in limits_of(small_policy(**KEYED))
    exact = small_policy(**KEYED).unchanged
    bare = small_policy(
        **KEYED,
        columns={name: {"role": "identifier", "action": "drop", "distance": None} for name in exact},
        gate={"t_closeness": {}, "l_diversity": {}},
    )
    assert "newcomers" not in limits_of(bare)
