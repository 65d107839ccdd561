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
from tests.honest_releases import DEMO, report_of, warned

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


def asked(policy: Policy, limit: str) -> list[str]:
    return [name for name in limits_of(policy) if name.partition(".")[0] == limit]


def test_texts_are_asked_whether_they_list_and_several_whether_they_are_one(small_policy: Small) -> None:
    assert asked(small_policy(), "list_cells") == ["list_cells.illness"]
    assert asked(small_policy(), "union_homogeneity") == []
    two = small_policy(columns={"note": {"role": "sensitive"}})
    assert asked(two, "list_cells") == ["list_cells.illness", "list_cells.note"]
    assert asked(two, "union_homogeneity") == ["union_homogeneity"]


def test_two_columns_of_one_secret_warn_by_name(small_policy: Small, small_people: People) -> None:
    people = small_people()
    random, city = np.random.default_rng(1), people["city"] == "Cork"
    people["note"] = random.choice(["asthma", "flu", "gout", "none"], len(people))
    policy = small_policy(
        columns={
            "age": {"hierarchy": {"intervals": [100]}},
            "city": {"hierarchy": {"suppress": True}},
            "note": {"role": "sensitive"},
        }
    )
    assert verdict_on(anonymize(policy, people).report, "union_homogeneity").status is Status.PASSED
    half = np.arange(len(people)) % 2 == 0
    people.loc[city & half, "illness"] = people.loc[city & ~half, "note"] = "hiv"
    verdict = verdict_on(anonymize(policy, people).report, "union_homogeneity")
    assert (verdict.status, verdict.reason) == (Status.WARNED, "one secret in illness + note")
    assert verdict.value == pytest.approx(city.mean(), abs=0.05)


def test_lists_warn(small_policy: Small, small_people: People) -> None:
    people = small_people()
    people.loc[::10, "illness"] = "flu; gout"
    verdict = verdict_on(anonymize(small_policy(), people).report, "list_cells.illness")
    assert (verdict.status, verdict.bound) == (Status.WARNED, usual.LISTS)
    assert verdict.value == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("limit", ["union_homogeneity", "list_cells"])
@pytest.mark.parametrize("name", [*DEMO, "adult"])
def test_no_sane_release_warns(name: str, limit: str) -> None:
    if limit == "union_homogeneity" and name in DEMO:
        assert "union_homogeneity" not in {verdict.limit for verdict in report_of(name).verdicts}
    else:
        assert warned(name, limit) == []


def test_a_sane_release_of_adult_has_no_joint_warning() -> None:
    """The demo's policies have no insensitive column."""
    assert warned("adult", "joint_homogeneity") == []
