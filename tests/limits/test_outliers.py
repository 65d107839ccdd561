"""What warns of records that stand out by a number: which policies are asked, and what ends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.gate import GateReport
from anon_pipeline.limits.table import advice_on, demands, limits_of
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
OPEN: dict[str, Any] = {"suppress": {"confidence": None}, "perturb": {"epsilon": 8}}


def asked(policy: Policy) -> list[str]:
    names = ("unconfident_records", "outlying")
    return [name for name in limits_of(policy) if name.partition(".")[0] in names]


def found(report: GateReport, name: str) -> Verdict:
    (verdict,) = (one for one in report.verdicts if one.limit == name)
    return verdict


def test_noise_without_confidence_and_sensitive_numbers_are_asked(small_policy: Small) -> None:
    assert asked(small_policy()) == ["outlying.income"]
    assert asked(small_policy(**OPEN)) == ["outlying.income", "unconfident_records"]
    texts = {"columns": {"income": {"distance": "equal"}, "note": {"round": 5}}}
    assert asked(small_policy(**texts)) == []  # rare_values counts insensitive numbers
    coded = {"columns": {"income": {"order": ["low", "high"]}}}
    assert asked(small_policy(**coded)) == []
    assert asked(small_policy(columns={"income": {"distance": "equal", "round": 5}})) == ["outlying.income"]
    advised = [
        demand for demand in demands(small_policy(**OPEN)) if demand.name in asked(small_policy(**OPEN))
    ]
    assert [demand.advised for demand in advised] == [True, True]


def test_ranges_from_the_data_are_asked_and_levels_and_means_are_not(small_policy: Small) -> None:
    for recoder, more in (("mondrian", ["outlying.age"]), ("ola", []), ("mdav", [])):
        anonymized = {"recoder": recoder, "suppression_limit": 0 if recoder == "mondrian" else 0.1}
        policy = small_policy(anonymize=anonymized)
        assert asked(policy) == [*more, "outlying.income"]  # a city has no numbers
    policy = small_policy(anonymize={"recoder": "mondrian"})
    assert "recoder that releases levels" in advice_on("outlying.age", policy)
    assert "top or bottom of the column" in advice_on("outlying.income", policy)


@pytest.mark.parametrize(("oldest", "status"), [(95, Status.PASSED), (740, Status.WARNED)])
def test_the_end_of_a_range_that_one_person_has_warns(
    small_people: People, oldest: int, status: Status
) -> None:
    people = small_people()[["age", "illness"]]
    people.loc[0, "age"] = oldest
    columns = {
        "age": {"role": "generalize", "hierarchy": {"numbers": True}},
        "illness": {"role": "sensitive"},
    }
    attributes = {"name": "a", "source": {"path": "a.csv"}, "columns": columns}
    policy = Policy.model_validate(attributes | {"anonymize": {"k": 5, "recoder": "mondrian"}})
    release = anonymize(policy, people)
    verdict = found(release.report, "outlying.age")
    assert (verdict.value, verdict.status) == (int(oldest == 740), status)
    assert release.frame["age"].str.endswith(f" {oldest}]").any()
    assert verdict.to_json()["value"] == verdict.value


@pytest.mark.parametrize("recoder", ["mondrian", "mondrian_relaxed", "local", "forest"])
@pytest.mark.parametrize(("oldest", "status"), [("1900-03-17", Status.PASSED), ("1650-01-05", Status.WARNED)])
def test_the_end_of_a_range_of_dates_that_one_person_has_warns(
    small_people: People, oldest: str, status: Status, recoder: str
) -> None:
    people = small_people()[["age", "illness"]].rename(columns={"age": "joined"})
    days = np.datetime64("1950-01-01") + 97 * np.arange(len(people)) % 18_000
    people["joined"] = pd.Series(days.astype("datetime64[s]"))
    people.loc[0, "joined"] = pd.Timestamp(oldest)
    columns = {
        "joined": {"role": "generalize", "hierarchy": {"dates": ["month", "year"]}},
        "illness": {"role": "sensitive"},
    }
    attributes = {"name": "a", "source": {"path": "a.csv"}, "columns": columns}
    policy = Policy.model_validate(attributes | {"anonymize": {"k": 5, "recoder": recoder}})
    release = anonymize(policy, people)
    verdict = found(release.report, "outlying.joined")
    assert (verdict.value, verdict.status) == (int(status is Status.WARNED), status)
    assert release.frame["joined"].str.startswith(f"[{oldest}, ").sum() >= 5
    assert "recoder that releases levels (ola: years" in advice_on("outlying.joined", policy)


def test_a_low_confidence_is_asked(small_policy: Small) -> None:
    low = small_policy(suppress={"confidence": 0.98})
    assert asked(low) == ["outlying.income", "unconfident_records"]


def test_one_far_from_the_class_warns_and_confidence_or_public_bounds_end_it(
    small_policy: Small, small_people: People
) -> None:
    people = small_people()
    people.loc[::40, "height"] = 600 + people.index[::40]
    open_ = {**OPEN, "anonymize": {"k": 10}, "gate": {"k": 10, "linking_risk": 0.9}}
    verdict = found(anonymize(small_policy(**open_), people).report, "unconfident_records")
    assert verdict.status is Status.WARNED
    assert verdict.bound == 0
    assert verdict.value is not None
    assert 1 <= verdict.value <= 6
    assert verdict.to_json()["value"] is None
    bounds = {"height": {"sensitivity": "declared", "input_bounds": [140, 210]}}
    report = anonymize(small_policy(**open_, columns=bounds), people).report
    assert found(report, "unconfident_records").status is Status.PASSED
    low = anonymize(small_policy(**open_ | {"suppress": {"confidence": 0.01}}), people)
    assert found(low.report, "unconfident_records").status is Status.WARNED  # it leaves next to nobody out
    usual = small_policy(**open_ | {"suppress": {"confidence": 0.99}})
    assert "unconfident_records" not in {one.limit for one in anonymize(usual, people).report.verdicts}


def test_normal_heights_without_confidence_pass(small_policy: Small, small_people: People) -> None:
    wide = {**OPEN, "anonymize": {"k": 10}, "gate": {"k": 10, "linking_risk": 0.9}}
    for epsilon in (1, 4):
        policy = small_policy(**wide | {"perturb": {"epsilon": epsilon}})
        report = anonymize(policy, small_people(2_000)).report
        assert found(report, "unconfident_records").status is Status.PASSED


@pytest.mark.parametrize(
    ("column", "k", "status"),
    [
        ({"round": 1000}, 7, Status.WARNED),
        ({"round": 1000, "top": 100_000}, 7, Status.WARNED),
        ({"round": 1000, "top": 100_000}, 4, Status.PASSED),  # more than four share it
        ({"round": 1000, "top": 40_000}, 7, Status.PASSED),
    ],
)
def test_far_incomes_warn_until_k_share_the_top(
    small_policy: Small, small_people: People, column: dict[str, Any], k: int, status: Status
) -> None:
    people = small_people()
    people.loc[::40, "income"] = 1_000_000 + np.arange(6) * 100_000
    release = anonymize(small_policy(columns={"income": column}, anonymize={"k": k}, gate={"k": k}), people)
    verdict = found(release.report, "outlying.income")
    far = int((release.frame["income"] >= 100_000).sum())
    assert (verdict.value, verdict.status) == (far if status is Status.WARNED else 0, status)
    assert verdict.to_json()["value"] == verdict.value  # from the file alone, so everybody sees it


def test_of_people_the_number_of_records_is_not_public(
    small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One person with five large bills is still one person."""
    people = small_people()
    people["person"] = [f"person {i // 2}" for i in range(len(people))]
    people.loc[:4, ["person", "age", "city"]] = ["person 0", people.loc[0, "age"], people.loc[0, "city"]]
    people.loc[:4, "income"] = 5_000_000
    monkeypatch.setenv("KEY", "0123456789abcdef")
    whose = {"person": "person", "rows_per_person": 5, "deidentify": {"key_env": "KEY"}}
    policy = small_policy(**whose)
    verdict = found(anonymize(policy, people).report, "outlying.income")
    assert verdict.status is Status.WARNED
    assert verdict.value is not None
    assert verdict.value >= 1
    assert verdict.to_json()["value"] is None


def test_what_to_change_is_said(small_policy: Small) -> None:
    assert "suppress.confidence" in advice_on("unconfident_records", small_policy())
    assert "top or bottom" in advice_on("outlying.income", small_policy())
