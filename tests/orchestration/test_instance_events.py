"""`run --report-to-dagster`: the instance is told what `published` would tell it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from click.testing import CliRunner

from anon_pipeline.cli import cli
from anon_pipeline.orchestration.names import GX_CHECK, check_names
from anon_pipeline.policy import TYPE

Make = Callable[..., Any]
KEY = dg.AssetKey(["small", "published"])


def told(folder: Path, made: Any, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Any:
    """Run the release of a project by the command line, with an instance of its own."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    attributes = made.policy.model_dump(mode="json", exclude_unset=True)
    (made.folder / "policy.yaml").write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    command = ["run", str(made.folder / "policy.yaml"), "--project", str(made.folder), *arguments]
    return CliRunner().invoke(cli, [*command, "--report-to-dagster"])


@pytest.mark.parametrize("linking_risk", [1.0, 0.0], ids=["published", "refused"])
def test_the_instance_knows_of_a_release_of_the_command_line(
    project: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linking_risk: float
) -> None:
    made = project(gate={"linking_risk": linking_risk})
    done = told(tmp_path, made, monkeypatch)
    assert (done.exit_code == 0) is bool(linking_risk), done.output
    in_dagster = made.run("small_release")
    with dg.DagsterInstance.get() as instance:
        event = instance.get_latest_materialization_event(KEY)
        assert (event is not None) is bool(linking_risk)
        for limit, name in {**check_names(made.policy), "": GX_CHECK}.items():
            key = dg.AssetCheckKey(KEY, name)
            record = instance.get_latest_asset_check_evaluation_record(key)
            found = record.event.dagster_event.asset_check_evaluation_data
            (theirs,) = (e for e in in_dagster.get_asset_check_evaluations() if e.asset_check_key == key)
            if (
                limit == "earlier_release" and event is not None
            ):  # the first one is out when Dagster's is made
                assert (found.passed, theirs.passed) == (True, False)
                continue
            assert (found.passed, found.severity) == (theirs.passed, theirs.severity), limit
            assert found.metadata.keys() == theirs.metadata.keys()
        if event is not None:
            (made_there,) = in_dagster.asset_materializations_for_node("small__published")
            assert event.asset_materialization.metadata.keys() == made_there.metadata.keys()


def test_without_an_instance_nothing_is_made(
    project: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = project()
    monkeypatch.setattr("os.path.isdir", lambda _: False)
    done = told(tmp_path, made, monkeypatch)
    assert "DAGSTER_HOME must be the folder of a Dagster instance" in str(done.exception)
    assert made.released() == []


def test_an_instance_that_does_not_answer_changes_nothing(
    project: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise OSError("CANARY-7f3a")

    monkeypatch.setattr("anon_pipeline.orchestration.instance_events.dg.DagsterInstance.get", gone)
    made = project()
    done = told(tmp_path, made, monkeypatch)
    assert done.exit_code == 0
    assert (
        "warning: Dagster was not notified. The stage report to Dagster crashed with OSError" in done.stderr
    )
    assert "CANARY" not in done.output
    assert len(made.released()) == 4


def test_a_suite_that_cannot_be_run_changes_no_release(
    project: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise OSError("CANARY-7f3a")

    monkeypatch.setattr("anon_pipeline.orchestration.gate_checks.suite_of", gone)
    made = project()
    done = told(tmp_path, made, monkeypatch)
    assert done.exit_code == 0
    assert "warning: Great Expectations has no result." in done.stderr
    assert "CANARY" not in done.output
    with dg.DagsterInstance.get() as instance:
        assert instance.get_latest_asset_check_evaluation_record(dg.AssetCheckKey(KEY, GX_CHECK)) is None
        assert instance.get_latest_materialization_event(KEY) is not None
