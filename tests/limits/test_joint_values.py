"""Warnings of what columns reveal only together: of whom, with which words, and of no sane release."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.gate import GateReport
from anon_pipeline.limits import usual
from anon_pipeline.limits.table import advice_on, limits_of
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy import Policy
from tests.honest_releases import warned

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def verdict_on(report: GateReport, name: str) -> Verdict:
    (verdict,) = (one for one in report.verdicts if one.limit == name)
    return verdict


def test_it_is_asked_of_sensitive_columns_beside_insensitive_ones(small_policy: Small) -> None:
    def asked(policy: Policy) -> list[str]:
        return [name for name in limits_of(policy) if name.startswith("joint_homogeneity")]

    assert asked(small_policy()) == ["joint_homogeneity.illness", "joint_homogeneity.income"]
    assert asked(small_policy(columns={"note": {"role": "sensitive"}})) == []


def test_a_building_of_one_illness_warns_and_names_the_column(
    small_policy: Small, small_people: People
) -> None:
    people = small_people()
    policy = small_policy(gate={"attacks": {"known_columns": [{"columns": ["note"], "risk": 1}]}})
    assert verdict_on(anonymize(policy, people).report, "joint_homogeneity.illness").status is Status.PASSED
    people["note"] = np.where(people["illness"] == "gout", "east", people["note"])
    verdict = verdict_on(anonymize(policy, people).report, "joint_homogeneity.illness")
    assert (verdict.status, verdict.bound) == (Status.WARNED, usual.HOMOGENEITY)
    assert verdict.reason == "revealed by note"
    assert verdict.value == pytest.approx((people["illness"] == "gout").mean(), abs=0.1)
    assert verdict.to_json()["value"] == verdict.value  # from the file alone, so everybody sees it
    assert verdict.to_json()["reason"] is None
    assert "generalize" in advice_on(verdict.limit, policy)


def test_a_sane_release_of_adult_does_not_warn() -> None:
    """The demo's policies have no insensitive column."""
    assert warned("adult", "joint_homogeneity") == []
