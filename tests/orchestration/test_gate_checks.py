"""The gate's checks on `published`: what they say, what they stop, and that one cause is one red check."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import dagster as dg
import pandas as pd
import pytest

from anon_pipeline import Locations, make_release
from anon_pipeline.base.errors import GateRefused
from anon_pipeline.gate import Status, Verdict
from anon_pipeline.gate.great_expectations import Outcome, SuiteResult
from anon_pipeline.orchestration.gate_checks import described_verdict
from anon_pipeline.orchestration.names import GX_CHECK, check_page
from anon_pipeline.policy import Policy
from anon_pipeline.publish.verify.verify import Against, verify_release
from anon_pipeline.stages.private import STAGES
from anon_pipeline.tuning.advise import NO_ADVICE

Make = Callable[..., "Project"]  # noqa: F821 - conftest's


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
    assert found["great_expectations"].passed
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
    assert failed == {check}
    assert {e.asset_key.path[-1] for e in found} == {"published"}
    assert not result.asset_materializations_for_node("small__published")
    assert made.released() == []
    (event,) = (event for event in result.all_events if event.is_step_failure)
    failure = event.step_failure_data.user_failure_data
    assert failure is not None
    assert failure.description.startswith(f"The gate refused the release:\n{check} (at most ")
    said = failure.metadata["refused_by"].value
    assert said.startswith(f"* [{check}]({check_page(made.policy, check)}) (at most ")
    assert "Next: " in said
    assert check_page(made.policy, check) == f"/assets/small/published?view=checks&checkDetail={check}"
    (red,) = (e for e in found if e.check_name == check)
    advice = failure.metadata["advice"].value
    assert red.metadata["advice"].value == advice and advice.startswith(f"* {check}: ")
    assert all(line.removeprefix("* ") in red.description for line in advice.splitlines())


def test_a_refusal_names_the_change_of_the_policy_that_passes(project: Make) -> None:
    """In Dagster, where the vault has the table, as in Python, which reads the source again."""
    made = project(gate={"linking_risk": 0.25}, perturb={"epsilon": 6})
    assert made.materialize(*STAGES).success
    with pytest.raises(GateRefused) as refused:
        make_release(made.policy, Locations.of(made.folder, {}))
    advice = refused.value.advice
    (made.folder / "people.csv").unlink()
    assert refused.value.advice == advice  # kept
    result = made.materialize("published")
    (red,) = (e for e in result.get_asset_check_evaluations() if e.check_name == "linking_risk")
    assert red.metadata["advice"].value.splitlines() == [f"* {line}" for line in advice]
    found = re.fullmatch(
        r"linking_risk: perturb.epsilon: (\d+), all else as .* is expected to pass.", advice[0]
    )
    assert found is not None, advice
    made = project(gate={"linking_risk": 0.25}, perturb={"epsilon": int(found[1])})
    assert made.run("small_release").success


def test_a_table_that_was_made_again_gives_no_advice(project: Make) -> None:
    made = project(gate={"linking_risk": 0.0}, perturb={"epsilon": 40})
    assert made.materialize(*STAGES).success
    assert made.materialize("raw", "deidentified").success
    result = made.materialize("published")
    (red,) = (e for e in result.get_asset_check_evaluations() if e.check_name == "linking_risk")
    assert NO_ADVICE in red.metadata["advice"].value


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
    assert {re.sub(r"\W", "_", name) for name in warned} == set(failed)
    measured_anew = sorted(name for name in warned if found[name]["value"] is not None)
    assert measured_anew == ["rare_texts.illness", "utility_fully_generalized"]
    for limit, status in (*((name, "passed") for name in measured_anew), ("k", "warned")):
        before = found[limit]["status"]
        found[limit]["status"] = status
        path.write_text(json.dumps(document))
        assert [v.limit for v in verify_release(path, against).with_status(Status.REFUSED)] == [
            "recorded gate"
        ], limit
        found[limit]["status"] = before


def test_the_same_columns_under_another_name_warn(project: Make, small_policy: Callable[..., Policy]) -> None:
    made = project()
    other = small_policy(name="other", publish={"to": "other"})
    make_release(other, Locations.of(made.folder, {}))
    result = made.run("small_release")
    assert result.success
    (found,) = (e for e in result.get_asset_check_evaluations() if e.check_name == "earlier_release")
    assert (found.passed, found.severity) == (False, dg.AssetCheckSeverity.WARN)
    document = json.loads((made.folder / "out" / "manifest.json").read_text())
    (verdict,) = (v for v in document["gate"]["verdicts"] if v["limit"] == "earlier_release")
    assert verdict["status"] == "warned"


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


def test_a_refused_check_says_what_to_do_and_where_the_numbers_are() -> None:
    said = described_verdict(Verdict("linking_risk", Status.REFUSED, 0.123, 0.01, "at most"))
    assert said.startswith("linking_risk (at most 0.01) refused. Next: ") and "0.123" not in said
    assert "anon-pipeline tune POLICY" in said and "anon-pipeline vault measured POLICY" in said
    assert described_verdict(Verdict("contract", Status.PASSED)) == "contract passed"
    passed = Verdict("k", Status.PASSED, 6, 3, "at least", recomputable=True)
    assert described_verdict(passed) == "k: 6 (at least 3) passed"
    assert described_verdict(passed, published=False) == "k (at least 3) passed"
    warned = described_verdict(Verdict("utility_released", Status.WARNED, 0.5, 0.8, "at least"))
    assert "Next: take a smaller k" in warned and "vault measured" not in warned


@pytest.mark.parametrize("linking_risk", [1.0, 0.0], ids=["passes", "refuses"])
def test_great_expectations_is_red_where_it_does_not_find_what_the_gate_finds(
    project: Make, monkeypatch: pytest.MonkeyPatch, linking_risk: float
) -> None:
    made = project(gate={"linking_risk": linking_risk})
    assert made.materialize(*STAGES).success
    other = SuiteResult((Outcome("k", True), Outcome("linking_risk", linking_risk == 0.0)))
    monkeypatch.setattr("anon_pipeline.orchestration.gate_checks.suite_of", lambda *_: other)
    result = made.materialize("published")
    red = {
        e.check_name: e.description
        for e in result.get_asset_check_evaluations()
        if not e.passed and e.severity is dg.AssetCheckSeverity.ERROR
    }
    assert red.pop(GX_CHECK) == other.lines[1].as_text()
    assert set(red) == (set() if linking_risk else {"linking_risk"})
    assert not result.success
    assert made.released() == []
