"""What a process reports through Pipes: the checks before anything is written, then what was published."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from click.testing import CliRunner
from dagster._core.definitions.metadata.external_metadata import metadata_value_from_external
from dagster_pipes import PipesContext

from anon_pipeline.cli import cli
from anon_pipeline.gate import GateReport, Status, Verdict
from anon_pipeline.gate.great_expectations import Outcome, SuiteResult
from anon_pipeline.orchestration.names import GX_CHECK, check_names
from anon_pipeline.orchestration.pipes_report import DESCRIPTION, PipesReport, as_message
from anon_pipeline.policy import TYPE, Policy
from anon_pipeline.policy.locations import Locations
from tests.pipes_messages import messages_in

Make = Callable[..., Any]
Start = Callable[..., Path]
SUITE = "anon_pipeline.orchestration.gate_checks.suite_of"
SECRET = "CANARY-7f3a"


def released(made: Any, *arguments: str) -> Any:
    """Run the release of a project by the command line."""
    attributes = made.policy.model_dump(mode="json", exclude_unset=True)
    (made.folder / "policy.yaml").write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    command = ["run", str(made.folder / "policy.yaml"), "--project", str(made.folder), *arguments]
    return CliRunner().invoke(cli, command)


def said(path: Path, method: str) -> list[Any]:
    """Return the parameters of each message of a kind."""
    return [found for name, found in messages_in(path.read_text()) if name == method]


def test_checks_come_before_what_was_published(project: Make, started: Start) -> None:
    path, made = started(), project()
    done = released(made)
    assert done.exit_code == 0, done.output
    methods = [name for name, _ in messages_in(path.read_text()) if name not in ("log",)]
    assert methods == [
        "opened",
        *["report_asset_check"] * (len(check_names(made.policy)) + 1),
        "report_asset_materialization",
        "closed",
    ]
    steps = [message["message"] for message in said(path, "log")]
    assert steps[0] == "source"
    assert steps[-1] == "gate"
    names = [check["check_name"] for check in said(path, "report_asset_check")]
    assert names == [*check_names(made.policy).values(), GX_CHECK]


def test_what_great_expectations_does_not_find_is_not_published(
    project: Make,
    started: Start,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SUITE, lambda *_: SuiteResult((Outcome("k", False),)))
    path, made = started(), project()
    done = released(made)
    assert done.exit_code != 0
    assert "Great Expectations does not find what the gate finds" in str(done.exception)
    assert [file.name for file in made.released()] == []
    checks = {check["check_name"]: check["passed"] for check in said(path, "report_asset_check")}
    assert checks[GX_CHECK] is False
    assert checks["k"] is True
    assert len(said(path, "report_asset_check")) == len(checks)  # each once
    assert said(path, "report_asset_materialization") == []


def test_without_great_expectations_nothing_is_published(
    project: Make,
    started: Start,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gone(*_: object) -> None:
        raise OSError(SECRET)

    monkeypatch.setattr(SUITE, gone)
    path, made = started(), project()
    done = released(made)
    assert "The stage Great Expectations crashed with OSError" in str(done.exception)
    assert made.released() == []
    assert SECRET not in path.read_text()
    assert said(path, "report_asset_check") == []


def gone(*_: object, **__: object) -> None:
    """Fail as a channel of messages that is gone."""
    raise OSError(SECRET)


def test_checks_that_cannot_be_told_stop_the_release(
    project: Make,
    started: Start,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PipesContext, "report_asset_check", gone)
    path, made = started(), project()
    done = released(made)
    assert "The stage report to Dagster crashed with OSError" in str(done.exception)
    assert [file.name for file in made.released()] == []
    assert SECRET not in path.read_text() + done.output


def test_a_release_that_cannot_be_told_is_published_with_a_warning(
    project: Make,
    started: Start,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PipesContext, "report_asset_materialization", gone)
    _, made = started(), project()
    done = released(made)
    assert done.exit_code == 0
    assert "warning: Dagster was not notified. The stage report to Dagster crashed" in done.stderr
    assert SECRET not in done.output
    assert "manifest.json" in [file.name for file in made.released()]


def test_one_cause_is_one_failed_check(
    small_policy: Callable[..., Policy],
    started: Start,
    tmp_path: Path,
) -> None:
    from anon_pipeline.orchestration.pipes_process import pipes_of_process

    policy, path = small_policy(), started()
    verdicts = tuple(
        Verdict(limit, Status.UNMEASURED, reason="no originals") for limit in check_names(policy)
    )
    with pipes_of_process() as pipes:
        assert pipes is not None
        report = PipesReport(pipes, policy, Locations.of(tmp_path), None, suite=SuiteResult(()))
        judged = GateReport(verdicts, policy_digest=policy.digest, data_digest="1" * 64)
        report.report_refused(judged, ["take a larger k."])
        report.report_refused(judged, [])
    (check,) = said(path, "report_asset_check")
    assert (check["passed"], check["severity"]) == (False, "ERROR")
    assert "no originals" in check["metadata"][DESCRIPTION]["raw_value"]


def test_all_kinds_of_metadata_arrive_as_they_are() -> None:
    dep = dg.TableColumnDep(asset_key=dg.AssetKey(["small", "a/b"]), column_name="age")
    metadata = {
        "text": dg.MetadataValue.text("a"),
        "list": dg.MetadataValue.md("* a"),
        "json": dg.MetadataValue.json({"a": [1]}),
        "schema": dg.TableSchema([dg.TableColumn("age", "int64", "generalize")]),
        "schema as value": dg.MetadataValue.table_schema(dg.TableSchema([dg.TableColumn("age")])),
        "lineage": dg.TableColumnLineage({"age": [dep]}),
        "lineage as value": dg.MetadataValue.column_lineage(dg.TableColumnLineage({"age": [dep]})),
        "count": 3,
        "share": 0.5,
        "bit": True,
        "plain": "a",
        "number": dg.MetadataValue.int(5),
    }
    sent = json.loads(json.dumps(as_message(metadata)))
    for name, value in metadata.items():
        message = (
            sent[name] if isinstance(sent[name], dict) else {"raw_value": sent[name], "type": "__infer__"}
        )
        arrived = metadata_value_from_external(message["raw_value"], message["type"])
        (expected,) = dg.AssetMaterialization("a", metadata={"x": value}).metadata.values()
        assert arrived == expected, name
