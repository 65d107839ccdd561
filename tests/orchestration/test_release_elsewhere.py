"""A release that another process makes: real processes, which a Pipes client starts in a run of Dagster."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.limits import accepted_risks
from anon_pipeline.orchestration.chain import chain
from anon_pipeline.orchestration.component import build_release
from anon_pipeline.orchestration.names import GX_CHECK, check_names
from anon_pipeline.orchestration.release_elsewhere import PIPES, Elsewhere, published_elsewhere
from anon_pipeline.orchestration.resources import with_resources
from anon_pipeline.policy import TYPE, Policy
from tests.projects import QUIET
from tests.reviewed_policies import BY_MISSING_REVIEW

ROOT = Path(__file__).resolve().parents[2]
KEY = dg.AssetKey(["small", "published"])
COMMAND_LINE = "from anon_pipeline.cli import main; main()"
WEEKLY = {"cron": "0 3 * * 1", "timezone": "Europe/Dublin", "partitions": "weekly", "start": "2026-01-05"}
SECRET = "CANARY-7f3a"
Make = Callable[..., Any]


@dataclass(frozen=True)
class Run:
    """A run in Dagster, and all that its event log says."""

    result: dg.ExecuteInProcessResult
    lines: str

    @property
    def published(self) -> list[dg.AssetMaterialization]:
        """Materializations of the release."""
        events = self.result.get_asset_materialization_events()
        return [event.materialization for event in events if event.asset_key == KEY]

    @property
    def downstream(self) -> bool:
        """Whether the asset downstream was made."""
        return any(e.asset_key.path == ["after"] for e in self.result.get_asset_materialization_events())

    @property
    def checks(self) -> dict[str, dg.AssetCheckEvaluation]:
        """The gate's checks that have a result."""
        return {check.check_name: check for check in self.result.get_asset_check_evaluations()}

    @property
    def failure(self) -> str:
        """The text of the failed step."""
        (event,) = [
            e for e in self.result.all_events if e.is_step_failure and e.step_key == "small__published"
        ]
        return str(event.step_failure_data.user_failure_data.description)


@dg.asset(deps=[KEY])
def after() -> None:
    """Downstream of the release."""


@pytest.fixture
def run(project: Make, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Run]]:
    """Make a project whose release is made by a program; what it starts knows nothing of this process."""
    monkeypatch.setattr(accepted_risks, "by_missing_review", BY_MISSING_REVIEW)

    def make(
        made: Any,
        program: str = COMMAND_LINE,
        *,
        partition: str | None = None,
        policy: Policy | None = None,
        **options: Any,
    ) -> Run:
        write_policy(made.folder / "policy.yaml", policy or made.policy)
        elsewhere = Elsewhere(command_of(made.folder, program), **options)
        definitions = definitions_of(made, elsewhere)
        result = definitions.resolve_job_def("all").execute_in_process(
            instance=made.instance, raise_on_error=False, run_config=QUIET, partition_key=partition
        )
        lines = [str(entry.to_json()) for entry in made.instance.all_logs(result.run_id)]
        return Run(result, "\n".join(lines))

    yield make


def write_policy(path: Path, policy: Policy) -> None:
    attributes = policy.model_dump(mode="json", exclude_unset=True)
    path.write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}, sort_keys=False))


def command_of(folder: Path, program: str) -> list[str]:
    return [sys.executable, "-c", program, "run", str(folder / "policy.yaml"), "--project", str(folder)]


def definitions_of(made: Any, elsewhere: Elsewhere) -> dg.Definitions:
    """Return the release's definitions with an asset downstream, and a job of both."""
    release = build_release(made.policy, made.folder, elsewhere=elsewhere)
    client = dg.PipesSubprocessClient(env={"PYTHONPATH": str(ROOT)}, cwd=str(made.folder))
    both = dg.define_asset_job("all", dg.AssetSelection.all(), executor_def=dg.in_process_executor)
    added = dg.Definitions(assets=[after], jobs=[both])
    return dg.Definitions.merge(with_resources(release, {PIPES: client}), added)


def words(text: str | None) -> str:
    """Return a text without its numbers: noise is drawn anew."""
    return re.sub(r"[\d.]+", "#", text or "")


def test_a_release_is_shown_as_one_that_dagster_makes_itself(project: Make, run: Make) -> None:
    made = project()
    done = run(made)
    assert done.result.success
    assert done.downstream
    inside = made.run("small_release")
    theirs = {
        check.check_name: check for check in inside.get_asset_check_evaluations() if check.asset_key == KEY
    }
    assert set(done.checks) == set(theirs) == {*check_names(made.policy).values(), GX_CHECK}
    checks = dict(done.checks)
    first = checks.pop("earlier_release")
    assert (first.passed, theirs["earlier_release"].passed) == (True, False)  # the first one is out by then
    for name, check in checks.items():
        assert (check.passed, check.severity) == (theirs[name].passed, theirs[name].severity), name
        assert words(check.description) == words(theirs[name].description), name
        assert types(check.metadata) == types(theirs[name].metadata), name
    (published,), (other,) = done.published, inside.asset_materializations_for_node("small__published")
    assert types(published.metadata) == types(other.metadata)
    same = ("guarantee", "noise", "level/age", "dagster/column_schema", "dagster/column_lineage", "folder")
    for name in same:
        assert published.metadata[name] == other.metadata[name], name
    assert words(published.metadata["left"].value) == words(other.metadata["left"].value)
    for stage in ("raw", "k_anonymized", "suppressed", "gate"):
        assert f'"user_message": "{stage}"' in done.lines


def types(metadata: Any) -> dict[str, type]:
    return {name: type(value) for name, value in metadata.items()}


def test_a_refused_release_has_failed_checks_and_stops_what_is_downstream(project: Make, run: Make) -> None:
    made = project(gate={"linking_risk": 0.0})
    done = run(made)
    assert not done.result.success
    assert (done.published, done.downstream, made.released()) == ([], False, [])
    refused = done.checks["linking_risk"]
    assert (refused.passed, refused.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert "Next: " in str(refused.description)
    assert done.checks["k"].passed
    assert "value" not in done.checks["k"].metadata  # nobody has the file
    assert set(done.checks) == {*check_names(made.policy).values(), GX_CHECK}
    assert done.failure == "The gate refused the release: linking_risk. The checks say what to do."


def test_a_mistake_in_the_data_is_told_without_the_data(
    project: Make, run: Make, small_people: Make, capfd: pytest.CaptureFixture[str]
) -> None:
    people = small_people().astype({"age": object})
    people.loc[3, "age"] = SECRET
    made = project(people)
    done = run(made)
    assert not done.result.success
    assert (done.published, done.checks, done.downstream) == ([], {}, False)
    assert done.failure.startswith("The process that makes the release did not end well")
    printed = capfd.readouterr().err
    (told,) = re.findall(r"^error: (.+)$", printed, re.MULTILINE)[:1]
    assert f"error: {told}" in done.lines
    assert SECRET not in done.lines + printed


OWN_WRITER = """
from dagster_pipes import PipesDefaultMessageWriter, open_dagster_pipes
from anon_pipeline.cli import main
pipes = open_dagster_pipes(message_writer=PipesDefaultMessageWriter())
try:
    main()
finally:
    pipes.close()
"""


def test_a_partition_is_passed_on_also_to_a_program_with_a_writer_of_its_own(
    project: Make, run: Make
) -> None:
    made = project(schedule=WEEKLY)
    done = run(made, OWN_WRITER, partition="2026-01-05")
    assert done.result.success
    assert "closed with exception" not in done.lines
    (published,) = done.published
    assert published.partition == "2026-01-05"
    assert {check.metadata["partition"].value for check in done.checks.values()} == {"2026-01-05"}
    (manifest,) = [path for path in made.released() if path.name == "manifest.json"]
    assert json.loads(manifest.read_text())["partition"] == "2026-01-05"


def test_a_key_that_the_schedule_does_not_have_starts_nothing(project: Make, run: Make) -> None:
    made = project(schedule=WEEKLY)
    write_policy(made.folder / "policy.yaml", made.policy)
    job = definitions_of(made, Elsewhere(["no-such-program"])).resolve_job_def("all")
    failed = job.execute_in_process(
        instance=made.instance,
        raise_on_error=False,
        run_config=QUIET,
        tags={"dagster/partition": "2026-01-06"},
    )
    (event,) = [event for event in failed.all_events if event.is_step_failure]
    assert "the partition must be one of the schedule's" in str(event.step_failure_data.user_failure_data)


KILLED = f"""
import os, signal
from anon_pipeline.publish import release
release.write_release = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
{COMMAND_LINE}
"""


def test_a_process_that_is_killed_has_published_nothing(project: Make, run: Make) -> None:
    made = project()
    done = run(made, KILLED)
    assert not done.result.success
    assert (done.published, done.downstream) == ([], False)
    assert done.checks["k"].passed  # told before anything was written, as in Dagster
    assert "did not end well (DagsterPipesExecutionError)" in done.failure
    assert [path.name for path in made.released() if path.name == "manifest.json"] == []


LIES = """
from dagster_pipes import open_dagster_pipes
with open_dagster_pipes() as pipes:
    pipes.report_asset_materialization(metadata={"records": 240, "CANARY-7f3a": "CANARY-7f3a"})
"""
COPIES = """
import json, os, sys
from dagster_pipes import open_dagster_pipes
with open_dagster_pipes() as pipes:
    for check in json.load(open("checks.json")):
        pipes.report_asset_check(**check)
    pipes.report_asset_materialization(metadata=json.load(open("release.json")))
"""


def test_a_release_without_checks_is_not_believed(project: Make, run: Make) -> None:
    done = run(project(), LIES)
    assert not done.result.success
    assert (done.published, done.checks, done.downstream) == ([], {}, False)
    assert "checks without a result: " in done.failure
    assert SECRET not in done.failure


def test_a_program_that_reports_nothing_is_no_release(project: Make, run: Make) -> None:
    done = run(project(), "pass")
    assert not done.result.success
    assert (done.published, done.downstream) == ([], False)
    assert "no release was published." in done.failure


def test_a_report_of_a_release_that_is_not_there_is_not_believed(project: Make, run: Make) -> None:
    made = project()
    write_forged_report(made)
    done = run(made, COPIES)
    assert (done.published, done.checks) == ([], {})
    assert "the folder of the release has no manifest" in done.failure
    unseen = run(made, COPIES, shared=False)  # who says that it is out of reach takes the report's word
    assert unseen.result.success
    assert "was not compared: it is out of reach" in unseen.lines


def test_a_failed_check_blocks_though_the_process_ended_well(project: Make, run: Make) -> None:
    made = project()
    write_forged_report(made, failed="k")
    done = run(made, COPIES, shared=False)
    assert not done.result.success
    assert (done.published, done.downstream, done.checks["k"].passed) == ([], False, False)
    assert done.failure == "The gate refused the release: k. The checks say what to do."


def test_passed_checks_publish_nothing_if_the_process_failed(project: Make, run: Make) -> None:
    made = project()
    write_forged_report(made)
    done = run(made, f"{COPIES}\nsys.exit(2)", shared=False)
    assert not done.result.success
    assert (done.published, done.downstream) == ([], False)
    assert "did not end well" in done.failure


def test_messages_that_are_none_of_ours_end_in_a_named_failure(project: Make, run: Make) -> None:
    odd = """
from dagster_pipes import open_dagster_pipes
with open_dagster_pipes() as pipes:
    pipes.report_custom_message({"CANARY-7f3a": 1})
    pipes.report_asset_check("CANARY-7f3a", passed=True, metadata={"CANARY-7f3a": ["CANARY-7f3a"]})
    odd = {"raw_value": {"a": 1}, "type": "json"}
    pipes.report_asset_check("k", passed=True, metadata={"data_digest": odd})
"""
    done = run(project(), odd)
    assert not done.result.success
    assert (done.published, done.checks) == ([], {})
    assert "1 checks are none of this policy's" in done.failure
    assert SECRET not in done.lines


def test_a_report_of_another_release_than_the_one_in_its_folder_is_not_believed(
    project: Make, run: Make
) -> None:
    made = project()
    assert made.run("small_release").success
    write_forged_report(made)
    done = run(made, COPIES)
    assert (done.published, done.checks) == ([], {})
    assert "the manifest has another data_digest." in done.failure


def write_forged_report(made: Any, *, failed: str | None = None) -> None:
    """Write a report that has all that a release needs, of data that nobody has."""
    digest = {"data_digest": "0" * 64, "policy_digest": made.policy.digest}
    names = [*check_names(made.policy).values(), GX_CHECK]
    checks = [{"check_name": name, "passed": name != failed, "metadata": digest} for name in names]
    (made.folder / "checks.json").write_text(json.dumps(checks))
    (made.folder / "release.json").write_text(json.dumps({"data_digest": f"{'0' * 16}…"}))


def test_a_process_with_another_policy_makes_nothing(
    project: Make, run: Make, small_policy: Make, capfd: pytest.CaptureFixture[str]
) -> None:
    made = project()
    done = run(made, policy=small_policy(gate={"k": 2}, anonymize={"k": 2}))
    assert not done.result.success
    assert made.released() == []
    assert "the policy must be the one that Dagster has loaded" in done.lines
    assert not (made.folder / ".anon_pipeline").exists()


class Silent(dg.PipesClient):
    """A client that fails before it has a session, with a text that quotes data."""

    def run(self, **_: Any) -> Any:  # type: ignore[override]
        """Fail."""
        raise RuntimeError(SECRET)


def test_what_a_client_says_is_not_repeated(project: Make) -> None:
    made = project()
    release = build_release(made.policy, made.folder, elsewhere=Elsewhere(["x"]))
    failed = execute(made, with_resources(release, {PIPES: Silent()}))
    assert "did not end well (RuntimeError)" in failed
    assert SECRET not in failed


def execute(made: Any, definitions: dg.Definitions) -> str:
    """Run a release that fails; return the events of its step as text."""
    result = definitions.resolve_job_def("small_release").execute_in_process(
        instance=made.instance, raise_on_error=False, run_config=QUIET
    )
    assert not result.success
    return "\n".join(str(entry.to_json()) for entry in made.instance.all_logs(result.run_id))


def test_a_client_has_what_the_project_says_of_its_arguments(project: Make) -> None:
    made, asked = project(), {}

    class Pods(Silent):
        def run(self, **arguments: Any) -> Any:  # type: ignore[override]
            """Note the arguments."""
            asked.update(arguments)
            raise RuntimeError

    def in_pod(command: Sequence[str]) -> dict[str, Any]:
        return {"image": "releases:1", "command": command}

    elsewhere = Elsewhere(["anon-pipeline", "run", "p.yaml"], client="pods", arguments=in_pod)
    release = build_release(made.policy, made.folder, elsewhere=elsewhere)
    execute(made, dg.Definitions.merge(release, dg.Definitions(resources={"pods": Pods()})))
    assert (asked["image"], asked["command"]) == ("releases:1", ["anon-pipeline", "run", "p.yaml"])


def test_a_resource_that_is_no_client_is_refused(project: Make) -> None:
    made = project()
    release = build_release(made.policy, made.folder, elsewhere=Elsewhere(["x"]))
    assert "the resource anon_pipes must be a Pipes client, got str" in execute(
        made, with_resources(release, {PIPES: "no client"})
    )


def test_an_asset_of_dagster_cannot_be_the_source(small_policy: Make) -> None:
    policy = small_policy(source={"path": None, "asset": "people"})
    with pytest.raises(PolicyError, match=r"source\.asset: is read by Dagster's own process"):
        published_elsewhere(policy, Elsewhere(["x"]))


def test_a_session_of_dagsters_process_is_not_elsewhere(small_policy: Make) -> None:
    for more, refused in (({}, True), ({"url_env": "OWN_SPARK"}, False)):
        policy = small_policy(source={"path": None, "spark": {"table": "people", **more}})
        if refused:
            with pytest.raises(PolicyError, match=r"source\.spark: must have url_env"):
                published_elsewhere(policy, Elsewhere(["x"]))
        else:
            published_elsewhere(policy, Elsewhere(["x"]))


@pytest.mark.parametrize("command", ["anon-pipeline run policy.yaml", []])
def test_a_command_is_a_list(small_policy: Make, command: Any) -> None:
    with pytest.raises(InputError, match="must be a list"):
        published_elsewhere(small_policy(), Elsewhere(command))


def test_the_declaration_is_that_of_published(project: Make) -> None:
    made = project(schedule=WEEKLY)
    inside = made.definitions.resolve_assets_def(KEY)
    definitions = build_release(made.policy, made.folder, elsewhere=Elsewhere(["x"]))
    outside = definitions.resolve_assets_def(KEY)
    assert [schedule.name for schedule in definitions.schedules or ()] == ["small_schedule"]
    assert [job.name for job in definitions.jobs or ()] == ["small_release"]
    specs = [next(iter(each.specs)) for each in (inside, outside)]
    for name in ("key", "group_name", "owners", "kinds", "tags", "partitions_def"):
        assert getattr(specs[0], name) == getattr(specs[1], name), name
    assert list(inside.check_specs) == list(outside.check_specs)
    assert all(spec.blocking for spec in outside.check_specs)
    assert (inside.op.pool, inside.op.retry_policy) == (outside.op.pool, outside.op.retry_policy)
    assert outside.op.pool == "anon_pipeline_small"


def test_several_releases_share_a_client_and_need_no_chain(small_policy: Make, tmp_path: Path) -> None:
    one, two = small_policy(), small_policy(name="two", publish={"to": "two"})
    releases = [build_release(policy, tmp_path, elsewhere=Elsewhere(["x"])) for policy in (one, two)]
    merged = dg.Definitions.merge(*releases)
    assert {spec.key.to_user_string() for spec in merged.resolve_all_asset_specs()} == {
        "small/published",
        "two/published",
    }
    with pytest.raises(InputError, match="has no chain here"):
        build_release(one, tmp_path, chain(one), elsewhere=Elsewhere(["x"]))


def test_it_cannot_be_made_without_its_checks(project: Make) -> None:
    made = project()
    release = build_release(made.policy, made.folder, elsewhere=Elsewhere(["x"]))
    job = dg.define_asset_job("bare", dg.AssetSelection.assets(KEY).without_checks())
    definitions = dg.Definitions.merge(release, dg.Definitions(jobs=[job]))
    with pytest.raises(dg.DagsterInvalidDefinitionError) as refused:
        definitions.resolve_job_def("bare")
    assert "does not support subsetting" in str(refused.value.__cause__)
