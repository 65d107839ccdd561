"""Checks of a release block it: one per limit, and a contract on each private table."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import dagster as dg
import pandas as pd
import pytest

from anon_pipeline.gate import Status, Verdict
from anon_pipeline.orchestration.chain import chain, chain_definitions
from anon_pipeline.orchestration.checks import described_verdict
from anon_pipeline.policy import Policy
from anon_pipeline.publish.verify import Against, verify_release
from anon_pipeline.stages.private import STAGES, Staged
from anon_pipeline.stages.stored import read_staged, write_staged

Make = Callable[..., "Project"]  # noqa: F821 - conftest's


def test_every_check_is_blocking_and_there_is_one_per_limit(small_policy: Callable[..., Policy]) -> None:
    gate = {
        "t_closeness": {"income": 0.5},
        "l_diversity": {"illness": {"l": 2}},
        "linking_risk": 1,
        "confidence_k": 3,
    }
    _, built = chain_definitions(chain(small_policy(gate=gate)))
    specs = [spec for checks in built for spec in checks.check_specs]
    assert all(spec.blocking for spec in specs)
    assert sorted(f"{spec.asset_key.path[-1]}:{spec.name}" for spec in specs) == [
        "deidentified:no_identifier_left",
        "k_anonymized:contract",
        "raw:contract",
        "suppressed:accepted_gate_linking_risk",
        "suppressed:confidence_k",
        "suppressed:contract",
        "suppressed:great_expectations",
        "suppressed:homogeneity_illness",
        "suppressed:homogeneity_income",
        "suppressed:k",
        "suppressed:known_columns_illness",
        "suppressed:known_columns_illness___income___note",
        "suppressed:known_columns_income",
        "suppressed:known_columns_note",
        "suppressed:l_diversity_illness",
        "suppressed:linking_risk",
        "suppressed:origin",
        "suppressed:rare_values_note",
        "suppressed:released_identifiers",
        "suppressed:repeated_people",
        "suppressed:single_value",
        "suppressed:suppression",
        "suppressed:t_closeness_income",
        "suppressed:utility_fully_generalized",
        "suppressed:utility_information_loss",
        "suppressed:utility_relative_error_height",
        "suppressed:utility_released",
    ]


@pytest.mark.parametrize(("bound", "passed"), [(1.0, True), (0.001, False)])
def test_the_population_is_asked_by_the_checks_and_before_publishing(
    project: Make, bound: float, passed: bool
) -> None:
    limits = {"population": {"path": "people.csv", "journalist_risk": bound}}
    made = project(gate={"attacks": limits})
    result = made.run("small_release")
    assert result.success is passed
    found = {each.check_name: each for each in result.get_asset_check_evaluations()}
    assert found["population_journalist_risk"].passed is passed
    assert found["great_expectations"].passed is passed
    assert bool(made.released()) is passed
    if passed:
        gate = json.loads((made.folder / "out" / "manifest.json").read_text())["gate"]
        (verdict,) = [v for v in gate["verdicts"] if v["limit"] == "population.journalist_risk"]
        assert (verdict["status"], verdict["value"], verdict["bound"]) == ("passed", None, bound)
        assert "population_digest" not in gate


@pytest.mark.parametrize(
    ("gate", "check"),
    [
        ({"attacks": {"prosecutor_risk": 0.001}}, "prosecutor_risk"),
        ({"linking_risk": 0.0}, "linking_risk"),
        ({"suppression": 0.0}, "suppression"),
        ({"attacks": {"attacker_success": 0.0}}, "attacker_success"),
    ],
)
def test_a_failing_gate_leaves_published_red_and_nothing_written(
    project: Make, small_people: Callable[..., pd.DataFrame], gate: dict[str, object], check: str
) -> None:
    people = small_people()
    people.loc[:5, "height"] = None
    made = project(people, gate=gate, columns={"height": {"missing": "suppress"}})
    result = made.run("small_release")
    assert not result.success
    found = [e for e in result.get_asset_check_evaluations() if not e.passed]
    failed = {e.check_name for e in found if e.severity is dg.AssetCheckSeverity.ERROR}
    assert failed == {check, "great_expectations"}
    assert not result.asset_materializations_for_node("small__published")
    assert made.released() == []


WORTHLESS: dict[str, Any] = {
    "columns": {"age": {"hierarchy": {"intervals": None, "suppress": True}}},
    "anonymize": {"k": 100},
    "gate": {"k": 100},
}
"""One class of everybody, which keeps every limit on safety."""


def test_a_release_beyond_a_default_has_a_warning_is_published_and_verifies(project: Make) -> None:
    made = project(**WORTHLESS)
    result = made.run("small_release")
    assert result.success
    failed = {e.check_name: e.severity for e in result.get_asset_check_evaluations() if not e.passed}
    assert set(failed) >= {"utility_information_loss", "utility_fully_generalized"}
    assert set(failed.values()) == {dg.AssetCheckSeverity.WARN}
    path, against = made.folder / "out" / "manifest.json", Against(made.policy, made.folder)
    assert not verify_release(path, against).with_status(Status.REFUSED)
    document = json.loads(path.read_text())
    found = {verdict["limit"]: verdict for verdict in document["gate"]["verdicts"]}
    warned = {name for name, verdict in found.items() if verdict["status"] == "warned"}
    assert {re.sub(r"\W", "_", name) for name in warned} == set(failed) - {"great_expectations"}
    measured_anew = [name for name in warned if found[name]["value"] is not None]
    assert measured_anew == ["utility_fully_generalized"]
    for limit, status in (*((name, "passed") for name in measured_anew), ("k", "warned")):
        before = found[limit]["status"]
        found[limit]["status"] = status
        path.write_text(json.dumps(document))
        assert [v.limit for v in verify_release(path, against).with_status(Status.REFUSED)] == [
            "recorded gate"
        ], limit
        found[limit]["status"] = before


def test_a_warning_is_not_enough_for_what_the_policy_demands(project: Make) -> None:
    demanding = WORTHLESS | {"gate": {"k": 100, "utility": {"fully_generalized": 2}}}
    made = project(**demanding)
    assert made.run("small_release").success
    path, against = made.folder / "out" / "manifest.json", Against(made.policy, made.folder)
    document = json.loads(path.read_text())
    (verdict,) = [v for v in document["gate"]["verdicts"] if v["limit"] == "utility_fully_generalized"]
    assert (verdict["status"], verdict["value"]) == ("passed", 2)
    verdict.update(status="warned", value=3)
    path.write_text(json.dumps(document))
    refused = verify_release(path, against).with_status(Status.REFUSED)
    assert [v.limit for v in refused] == ["recorded gate"]
    assert "the policy demands it, a warning is not enough" in str(refused[0].reason)


@pytest.mark.parametrize(
    ("stage", "check", "change"),
    [
        ("raw", "contract", {"height": "CANARY-7f3a"}),
        ("k_anonymized", "contract", {"age": "CANARY-7f3a"}),
        ("deidentified", "no_identifier_left", {"note": "canary@example.org"}),
    ],
)
def test_each_contract_check_finds_a_table_that_breaks_it(
    project: Make, stage: str, check: str, change: dict[str, str]
) -> None:
    made = project()
    assert made.materialize(*STAGES, checks=False).success
    path = made.folder / "vault" / "small" / f"{stage}.parquet"
    staged = read_staged(path)
    write_staged(path, Staged(staged.frame.assign(**change), staged.facts))
    keys = [dg.AssetCheckKey(dg.AssetKey(["small", stage]), check)]
    job = dg.define_asset_job(
        "one_check", dg.AssetSelection.checks(*keys), executor_def=dg.in_process_executor
    )
    definitions = dg.Definitions.merge(made.definitions, dg.Definitions(jobs=[job]))
    result = definitions.resolve_job_def("one_check").execute_in_process(
        instance=made.instance, raise_on_error=False
    )
    assert [e.passed for e in result.get_asset_check_evaluations()] == [False]
    assert "anary" not in "".join(str(event) for event in result.all_events)


def test_a_refused_check_says_what_to_do_and_where_the_numbers_are() -> None:
    said = described_verdict(Verdict("linking_risk", Status.REFUSED, 0.123, 0.01, "at most"))
    assert said.startswith("linking_risk (at most 0.01) refused. Next: ") and "0.123" not in said
    assert "anon-pipeline tune POLICY" in said and "anon-pipeline vault measured POLICY" in said
    assert described_verdict(Verdict("contract", Status.PASSED)) == "contract passed"
    warned = described_verdict(Verdict("utility_released", Status.WARNED, 0.5, 0.8, "at least"))
    assert "Next: take a smaller k" in warned and "vault measured" not in warned
