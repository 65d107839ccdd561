"""Releases with declared columns in Dagster: checks, schedules, failures without data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.release_kinds import EPSILON_DP
from anon_pipeline.epsilon_dp.dp_gate import MEANINGS
from anon_pipeline.orchestration.declared_component import (
    EpsilonDpRelease,
    SyntheticRelease,
    build_declared_release,
)
from anon_pipeline.policy.load_declared import declared_from


def policy(**changes: Any) -> Any:
    said: dict[str, Any] = {
        "name": "people",
        "source": {"path": "people.csv"},
        "one_record_per_person": True,
        "epsilon": 1,
        "columns": {"age": {"bounds": [18, 90], "otherwise": 18}},
        "column_means": {"k": 30},
    }
    return declared_from(said | changes, EPSILON_DP)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    pd.DataFrame({"age": [20 + at % 50 for at in range(900)]}).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def execute(definitions: dg.Definitions) -> dg.ExecuteInProcessResult:
    job = definitions.resolve_job_def("people_release")
    return job.execute_in_process(instance=dg.DagsterInstance.ephemeral(), raise_on_error=False)


def test_a_release_is_checked_and_published(project: Path) -> None:
    scheduled = policy(schedule={"cron": "0 3 * * *"}, budget={"epsilon": 5})
    result = execute(build_declared_release(scheduled, project))
    assert result.success
    checks = result.get_asset_check_evaluations()
    assert [(one.check_name, one.passed, one.blocking) for one in checks] == [
        (name, True, True) for name in MEANINGS
    ]
    (event,) = result.asset_materializations_for_node("people__published")
    assert event.metadata["records"].value == 900 and event.metadata["epsilon"].value == 1
    manifest = json.loads((project / "releases" / "people" / "manifest.json").read_text())
    assert event.tags is not None and event.tags["dagster/data_version"] == manifest["data_digest"]
    assert (project / "releases" / "people" / "manifest.json").is_file()


def test_a_refusal_fails_its_check_and_writes_nothing(project: Path) -> None:
    result = execute(build_declared_release(policy(gate={"expected_error": 0.0001}), project))
    assert not result.success
    failed = {one.check_name for one in result.get_asset_check_evaluations() if not one.passed}
    assert failed == {*MEANINGS}
    (failure,) = [event for event in result.all_events if event.event_type_value == "STEP_FAILURE"]
    assert "No noise was drawn, and no ε was spent" in str(failure.event_specific_data)
    assert not (project / "releases").exists()


def test_a_warning_publishes(project: Path) -> None:
    result = execute(build_declared_release(policy(epsilon=4), project))
    assert result.success and (project / "releases" / "people" / "manifest.json").is_file()
    (warned,) = (one for one in result.get_asset_check_evaluations() if not one.passed)
    assert (warned.check_name, warned.severity) == ("large_epsilon", dg.AssetCheckSeverity.WARN)


def test_an_error_before_the_noise_is_a_failure_without_checks(project: Path) -> None:
    result = execute(build_declared_release(policy(records=5), project))
    assert not result.success and result.get_asset_check_evaluations() == []


def test_definitions_have_a_job_a_schedule_and_keep_the_floor(project: Path) -> None:
    made = build_declared_release(
        policy(schedule={"cron": "0 3 * * *", "timezone": "Europe/Dublin"}), project
    )
    schedule = made.resolve_schedule_def("people_schedule")
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("0 3 * * *", "Europe/Dublin")
    assert not build_declared_release(policy(), project).schedules
    floor = "type: anon_pipeline.PolicyDefaults\nattributes: {epsilon_dp: 0.5}\n"
    (project / "policy.defaults.yaml").write_text(floor)
    with pytest.raises(PolicyError, match=r"at most 0\.5"):
        build_declared_release(policy(), project)


def test_the_component_is_described_with_the_schema_of_its_policy() -> None:
    assert EpsilonDpRelease.get_spec().tags == ["privacy", "differential-privacy"]
    schema = EpsilonDpRelease.get_model_cls().model_json_schema()
    assert {"columns", "histograms", "epsilon"} <= set(schema["properties"])
    assert SyntheticRelease.get_spec().tags == ["privacy", "synthetic-data"]
    assert {"columns", "method", "copies"} <= set(
        SyntheticRelease.get_model_cls().model_json_schema()["properties"]
    )
