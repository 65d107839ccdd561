"""A divided release as one asset: real processes that divide, release and collect, in a run of Dagster."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
import yaml

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.limits import accepted_risks
from anon_pipeline.orchestration import divided_release
from anon_pipeline.orchestration.component import build_release
from anon_pipeline.orchestration.divided_release import Divided
from anon_pipeline.orchestration.names import check_names
from anon_pipeline.orchestration.release_elsewhere import Elsewhere
from anon_pipeline.policy import TYPE
from tests.projects import QUIET, Project
from tests.reviewed_policies import BY_MISSING_REVIEW

CANARY = "Quillfeather-4711"
KEY = dg.AssetKey(["small", "published"])
Make = Callable[..., Any]


@pytest.fixture
def divided(
    project: Make, small_people: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Project, dg.Definitions]]:
    """Make a project with a release that is divided; what it starts knows nothing of this process."""
    monkeypatch.setattr(accepted_risks, "by_missing_review", BY_MISSING_REVIEW)

    def make(parts: int = 2, **changes: Any) -> tuple[Project, dg.Definitions]:
        people = small_people(1_200).assign(person=lambda table: [f"{CANARY} {row}" for row in table.index])
        made = project(people, **{"one_record_per_person": True, **changes})
        attributes = made.policy.model_dump(mode="json", exclude_unset=True)
        policy = made.folder / "policy.yaml"
        policy.write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}, sort_keys=False))
        how = Divided(policy, parts=parts, jobs=2)
        return made, build_release(made.policy, made.folder, divided=how)

    return make


def execute(made: Project, definitions: dg.Definitions) -> dg.ExecuteInProcessResult:
    job = definitions.resolve_job_def("small_release")
    return job.execute_in_process(instance=made.instance, raise_on_error=False, run_config=QUIET)


def lines_of(made: Project, result: dg.ExecuteInProcessResult) -> str:
    return "\n".join(str(entry.to_json()) for entry in made.instance.all_logs(result.run_id))


def failure_of(result: dg.ExecuteInProcessResult) -> str:
    (event,) = [event for event in result.all_events if event.is_step_failure]
    return str(event.step_failure_data.user_failure_data.description)


def test_it_is_one_asset_with_the_checks_of_all_partitions(divided: Make) -> None:
    made, definitions = divided(schedule={"cron": "0 3 1 * *"})
    assert [one.name for one in definitions.schedules] == ["small_schedule"]
    result = execute(made, definitions)
    assert result.success
    (event,) = result.get_asset_materialization_events()
    assert event.asset_key == KEY
    found = {name: value.value for name, value in event.materialization.metadata.items()}
    (collection,) = made.folder.glob("out_divided/*/collection.json")
    together = json.loads(collection.read_text())["together"]
    assert found["records"] == found["dagster/row_count"] == together["released"]
    assert found["records_released_share"] == together["released"] / 1_200
    assert (found["class_count"], found["class_size_least"]) == (together["classes"], together["smallest"])
    assert found["partitions"] == 2
    assert found["folder"] == f"out_divided/{collection.parent.name}"
    assert found["report"] == "report.html"
    checks = {check.check_name: check for check in result.get_asset_check_evaluations()}
    assert set(checks) == set(check_names(made.policy).values())
    assert checks["k"].passed
    assert checks["k"].description == "passed in all 2 partitions"
    assert checks["repeated_noise"].severity is dg.AssetCheckSeverity.WARN
    assert "the schedule draws new noise for the same source each time" in str(
        checks["repeated_noise"].description
    )
    assert not checks["accepted_reviewed"].passed
    assert checks["accepted_reviewed"].severity is dg.AssetCheckSeverity.WARN
    assert "warned in 2 of 2 partitions: d" in str(checks["accepted_reviewed"].description)
    said = lines_of(made, result)
    assert "2 of 2 partitions published" in said
    assert "need these variables" not in said
    assert CANARY not in said
    assert not list(made.folder.glob("partitions/*"))


def test_a_table_that_cannot_be_divided_fails_the_run(divided: Make) -> None:
    made, definitions = divided(parts=999)
    result = execute(made, definitions)
    assert not result.success
    said = failure_of(result)
    assert said.startswith("The release was not made (exit code 2). error: --into must be from 2 to")
    assert not result.get_asset_materialization_events()


def test_the_folders_are_those_of_dagsters_resource(divided: Make, tmp_path: Path) -> None:
    from anon_pipeline.orchestration.resources import FOLDERS, Folders, with_resources
    from anon_pipeline.policy.locations import Locations

    made, definitions = divided()
    elsewhere = {name: str(tmp_path / name.lower()) for name in ("RELEASES", "VAULT")}
    named = {f"ANON_PIPELINE_{name}": place for name, place in elsewhere.items()}
    folders = Folders.of(Locations.of(made.folder, named))
    result = execute(made, with_resources(definitions, {FOLDERS: folders}))
    assert result.success
    assert list(tmp_path.glob("releases/out_divided/*/collection.json"))
    assert list(tmp_path.glob("vault/*"))
    assert not (made.folder / "vault").exists()


class Child:
    """What stands for the process: its exit code and what it prints."""

    def __init__(self, code: int, document: object, *, interrupt: bool = False) -> None:
        self.code, self.interrupt, self.ended = code, interrupt, False
        self.returncode: int | None = None  # until somebody has waited
        self.reader, writer = os.pipe()
        os.write(writer, b"" if document is None else json.dumps(document).encode())
        os.close(writer)
        self.stdout = os.fdopen(self.reader)
        self.stderr = self._lines()

    def _lines(self) -> Iterator[str]:
        yield "… counting\n"
        if self.interrupt:
            raise KeyboardInterrupt

    def __call__(self, command: Sequence[str], **options: Any) -> Child:
        self.command, self.environment = command, options["env"]
        return self

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()

    def wait(self) -> int:
        self.returncode = self.code
        return self.code

    def terminate(self) -> None:
        self.ended = True


def release(key: str, *, published: bool = True, **statuses: str) -> dict[str, Any]:
    verdicts = [{"limit": limit, "status": status} for limit, status in statuses.items()]
    return {"partition": key, "published": published, "verdicts": verdicts}


@pytest.mark.parametrize(
    ("code", "document", "said"),
    [
        (1, None, "the release was refused"),
        (3, {"releases": []}, "the release was refused"),
        (70, None, r"was not made \(exit code 70\)"),
        (0, {"releases": [], "collected": None}, "was not made"),
        (0, {"releases": [], "collected": "nowhere", "partitions": ["d1.1"]}, "must have each partition"),
    ],
)
def test_what_was_not_made_is_no_release(
    code: int, document: object, said: str, divided: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, definitions = divided()
    monkeypatch.setattr(divided_release.subprocess, "Popen", Child(code, document))
    monkeypatch.setenv("DAGSTER_PIPES_CONTEXT", "x")
    result = execute(made, definitions)
    assert not result.success
    assert re.search(said, failure_of(result))
    assert not result.get_asset_materialization_events()


def test_a_refused_partition_is_named_by_its_checks(divided: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made, definitions = divided()
    releases = [
        release("d1.1", k="passed", identifiers="passed"),
        *(release(f"d1.{part}", published=False, k="refused", identifiers="passed") for part in range(2, 9)),
    ]
    child = Child(1, {"releases": releases})
    monkeypatch.setattr(divided_release.subprocess, "Popen", child)
    result = execute(made, definitions)
    assert failure_of(result).startswith("partitions were refused: d1.2, d1.3, d1.4, ")
    checks = {check.check_name: check for check in result.get_asset_check_evaluations()}
    assert checks["k"].severity is dg.AssetCheckSeverity.ERROR
    assert checks["k"].description == (
        "refused in 7 of 8 partitions: d1.2, d1.3, d1.4, d1.5, d1.6 and 2 more. What was measured: "
        "anon-pipeline vault measured POLICY --partition KEY --out FILE, with the policy of the partitions"
    )
    assert child.command[-5:] == ["--jobs", "2", "--json", "--into", "2"]
    assert child.ended
    assert not any(name.startswith("DAGSTER_PIPES_") for name in child.environment)
    assert f"need these variables: ANON_PIPELINE_SOURCES={made.folder}" in lines_of(made, result)


def test_it_ends_with_the_step(divided: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made, definitions = divided()
    child = Child(0, None, interrupt=True)
    monkeypatch.setattr(divided_release.subprocess, "Popen", child)
    result = execute(made, definitions)
    assert not result.success
    assert sum(event.is_step_start for event in result.all_events) == 1
    assert child.ended


def test_a_run_that_is_ended_does_not_begin_again(divided: Make) -> None:
    """Dagster begins a step with a retry policy again after an interrupt, and a division costs its ε."""
    _, definitions = divided()
    (asset,) = definitions.assets
    assert asset.op.retry_policy is None
    assert asset.op.pool == "anon_pipeline_small"


def test_a_policy_that_was_changed_is_refused(divided: Make) -> None:
    made, definitions = divided()
    policy = made.folder / "policy.yaml"
    policy.write_text(policy.read_text().replace("suppression_limit: 0.", "suppression_limit: 0.0"))
    assert "the policy was changed since Dagster has read it" in failure_of(execute(made, definitions))


def test_what_cannot_be_divided_here_is_refused(small_policy: Make, tmp_path: Path) -> None:
    how = Divided(tmp_path / "policy.yaml")
    weekly = {"cron": "0 3 * * 1", "partitions": "weekly", "start": "2026-01-05"}
    with pytest.raises(PolicyError, match=r"schedule\.partitions: must be left out"):
        build_release(small_policy(schedule=weekly), tmp_path, divided=how)
    with pytest.raises(PolicyError, match=r"recoder: must choose classes for the whole table"):
        build_release(small_policy(anonymize={"recoder": "local"}), tmp_path, divided=how)
    asset = small_policy(source={"path": None, "asset": "people"})
    with pytest.raises(PolicyError, match=r"source\.asset: is read by Dagster's own process"):
        build_release(asset, tmp_path, divided=how)
    with pytest.raises(InputError, match="give one of links, elsewhere and divided"):
        build_release(small_policy(), tmp_path, divided=how, elsewhere=Elsewhere(["x"]))
