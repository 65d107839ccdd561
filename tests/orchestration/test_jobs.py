"""Partitions, jobs and schedule say what the policy says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

import dagster as dg

Make = Callable[..., "Project"]  # noqa: F821 - conftest's
WEEKLY = {"cron": "0 3 * * 1", "timezone": "Europe/Dublin", "partitions": "weekly", "start": "2026-01-05"}


def _ticks(made: object, when: datetime) -> list[dg.RunRequest]:
    repository = made.definitions.get_repository_def()  # type: ignore[attr-defined]
    schedule = repository.get_schedule_def("small_schedule")
    context = dg.build_schedule_context(scheduled_execution_time=when, repository_def=repository)
    return list(schedule.evaluate_tick(context).run_requests)


def _tick(made: object, when: datetime) -> dg.RunRequest | dg.SkipReason:
    repository = made.definitions.get_repository_def()  # type: ignore[attr-defined]
    schedule = repository.get_schedule_def("small_schedule")
    context = dg.build_schedule_context(scheduled_execution_time=when, repository_def=repository)
    data = schedule.evaluate_tick(context)
    return data.run_requests[0] if data.run_requests else dg.SkipReason(data.skip_message)


def test_a_tick_makes_the_latest_complete_partition(project: Make) -> None:
    made = project(schedule=WEEKLY)
    request = _tick(made, datetime(2026, 2, 2, 3, tzinfo=ZoneInfo("Europe/Dublin")))
    assert isinstance(request, dg.RunRequest)
    assert (request.partition_key, request.run_key) == ("2026-01-26", "2026-01-26")


def test_before_the_first_partition_is_complete_a_tick_is_skipped(project: Make) -> None:
    made = project(schedule=WEEKLY)
    assert isinstance(_tick(made, datetime(2026, 1, 7, 3, tzinfo=ZoneInfo("Europe/Dublin"))), dg.SkipReason)


def test_a_schedule_without_partitions_makes_the_release(project: Make) -> None:
    made = project(schedule={"cron": "30 5 * * *"})
    request = _tick(made, datetime(2026, 2, 2, 5, 30, tzinfo=ZoneInfo("UTC")))
    assert isinstance(request, dg.RunRequest)
    assert request.partition_key is None


def test_a_tick_makes_every_listed_partition(project: Make) -> None:
    made = project(schedule={"cron": "0 3 * * 1", "partitions": "listed", "keys": ["south", "north"]})
    first, second = (_ticks(made, datetime(2026, 2, day, 3, tzinfo=ZoneInfo("UTC"))) for day in (2, 9))
    assert [request.partition_key for request in first] == ["south", "north"]
    assert not {request.run_key for request in first} & {request.run_key for request in second}


def test_partitions_without_a_time_are_made_by_hand(project: Make) -> None:
    made = project(schedule={"partitions": "listed", "keys": ["south", "north"]})
    assert list(made.definitions.schedules or []) == []


def test_no_schedule_in_the_policy_no_schedule_in_dagster(project: Make) -> None:
    assert list(project().definitions.schedules or []) == []


def test_the_release_job_has_everything_and_the_gate_job_the_gate_alone(project: Make) -> None:
    made = project()
    steps = {node.name for node in made.definitions.resolve_job_def("small_release").graph.nodes}
    assert len(steps) == 7 + 3
    assert {node.name for node in made.definitions.resolve_job_def("small_gate").graph.nodes} == {
        "small__published"
    }


def test_both_jobs_run_in_one_process(project: Make) -> None:
    made = project()
    for job in ("small_release", "small_gate"):
        assert made.definitions.resolve_job_def(job).executor_def is dg.in_process_executor


def test_the_gate_job_makes_nothing(project: Make) -> None:
    made = project()
    assert made.run("small_release").success
    before = made.released()
    result = made.run("small_gate")
    assert result.success
    assert len(result.get_asset_check_evaluations()) == 35 + 1  # limits, the suite
    assert not [event for event in result.all_events if event.is_step_materialization]
    assert made.released() == before


def test_partitions_are_kept_apart(project: Make) -> None:
    made = project(schedule=WEEKLY)
    for key in ("2026-01-05", "2026-01-12"):
        assert made.run("small_release", partition=key).success
    assert {path.parent.name for path in made.released()} == {"2026-01-05", "2026-01-12"}
    vault = made.folder / "vault" / "small" / "raw"
    assert sorted(path.name for path in vault.iterdir()) == ["2026-01-05.parquet", "2026-01-12.parquet"]


def test_a_key_that_the_schedule_does_not_have_is_refused(project: Make) -> None:
    """As `dagster job execute --tags` would run it: Dagster itself maps 2026-01-08 to a neighbor's files.

    A run that is refused changes nothing, so that all of them start from the same two releases.
    """
    made = project(schedule=WEEKLY)
    for week in ("2026-01-05", "2026-01-12"):
        assert made.run("small_release", partition=week).success
    before = {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()}
    for stage in ("raw", "perturbed", "published"):
        selection = dg.AssetSelection.assets(dg.AssetKey(["small", stage])).without_checks()
        job = dg.define_asset_job("some", selection, executor_def=dg.in_process_executor)
        resolved = dg.Definitions.merge(made.definitions, dg.Definitions(jobs=[job])).resolve_job_def("some")
        for key in ("2026-01-08", "2099-01-05"):
            result = resolved.execute_in_process(
                instance=made.instance, raise_on_error=False, tags={"dagster/partition": key}
            )
            assert not result.success, (stage, key)
            after = {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()}
            assert after == before, (stage, key)
