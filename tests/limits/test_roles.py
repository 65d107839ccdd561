"""The limits on columns that an author mislabels, at the gate: judged on all records of the input."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import Policy, anonymize
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.gate import Status, evaluate
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.roles import RELEASED_IDENTIFIERS

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def judged(policy: Policy, frame: pd.DataFrame, limit: str) -> Any:
    table = frame.drop(columns="person").assign(**{RECORD: range(len(frame)), CLASS: 0})
    report = evaluate(table, policy, originals=table)
    [verdict] = [verdict for verdict in report.verdicts if verdict.limit == limit]
    return verdict


def one_class(small_people: People, **changes: Any) -> pd.DataFrame:
    return small_people().assign(age="*", city="*").assign(**changes)


def test_the_gate_refuses_what_the_early_check_refuses(small_policy: Small, small_people: People) -> None:
    account = one_class(small_people, note=[f"a{i}" for i in range(240)])
    found = judged(small_policy(), account, "released_identifiers")
    assert found.status is Status.REFUSED
    assert found.reason.startswith("note: must not have half as many different values")
    assert (found.value, found.bound) == (None, None)
    assert judged(small_policy(), one_class(small_people), "released_identifiers").status is Status.PASSED


def test_a_file_alone_leaves_it_unmeasured(small_policy: Small, small_people: People) -> None:
    report = evaluate(one_class(small_people).drop(columns="person"), small_policy())
    assert "released_identifiers" in {verdict.limit for verdict in report.with_status(Status.UNMEASURED)}


@pytest.mark.parametrize(
    ("day", "status"), [(date(2026, 12, 31), Status.PASSED), (date(2027, 1, 1), Status.REFUSED)]
)
def test_an_acknowledgement_holds_on_the_day_of_the_gate(
    small_policy: Small, small_people: People, day: date, status: Status
) -> None:
    frame = one_class(small_people, note=np.arange(240) % 60, shoe=np.arange(240) // 60)
    known = {
        "columns": ["note", "shoe"],
        "share": 1,
        "who": "Ann",
        "when": "2026-01-01",
        "why": "known to all",
        "until": "2026-12-31",
    }
    policy = small_policy(columns={"shoe": {"role": "insensitive"}}, acknowledged=[known])
    table = frame.drop(columns="person").assign(**{RECORD: range(len(frame)), CLASS: 0})
    evidence = evidence_from(table, policy, originals=table)
    [demand] = RELEASED_IDENTIFIERS.demands(policy)
    assert demand.verdict(Case(policy, table, evidence, today=day)).status is status


def test_a_quasi_identifier_with_a_single_value_warns(small_policy: Small, small_people: People) -> None:
    said = judged(small_policy(), one_class(small_people), "single_value")
    assert (said.status, said.value, said.bound) == (Status.PASSED, 0, 0)  # "*" says nothing, and is known
    said = judged(small_policy(), one_class(small_people, city="Cork"), "single_value")
    assert (said.status, said.value) == (Status.WARNED, 1)
    assert said.reason == "one value in every record: city"
    assert said.to_json()["reason"] is None  # in the manifest
    said = judged(small_policy(), one_class(small_people, note="a"), "single_value")
    assert (said.status, said.value) == (Status.WARNED, 1)  # rounded or truncated until nothing was left
    said = judged(small_policy(), one_class(small_people, illness="flu"), "single_value")
    assert said.status is Status.PASSED  # near_homogeneity is about that
    known = {"attacks": {"known_columns": [{"columns": ["note"], "risk": 1}]}}
    release = anonymize(small_policy(gate=known), small_people().assign(city="Cork"))
    assert release.report.passed
    assert "single_value" in [verdict.limit for verdict in release.report.with_status(Status.WARNED)]
    assert release.facts["k_anonymized"]["levels"]["city"] == 0
