"""A backfill as Dagster's daemon makes it: a run for each partition, each judged by itself."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pandas as pd
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill
from dagster._core.test_utils import create_test_daemon_workspace_context, instance_for_test
from dagster._core.workspace.load_target import PythonFileTarget
from dagster._daemon.backfill import execute_backfill_iteration

from anon_pipeline.policy import Policy
from tests.cli.projects import write_policy

WEEKS = ("2026-01-05", "2026-01-12", "2026-01-19")
WEEKLY = {"cron": "0 3 * * 1", "timezone": "UTC", "partitions": "weekly", "start": WEEKS[0]}
IN_THIS_PROCESS = {
    "run_launcher": {
        "module": "dagster._core.launcher.sync_in_memory_run_launcher",
        "class": "SyncInMemoryRunLauncher",
    },
    "run_coordinator": {"module": "dagster._core.run_coordinator", "class": "DefaultRunCoordinator"},
}
LOCATION = """from pathlib import Path

import dagster as dg

from anon_pipeline import load_policy
from anon_pipeline.orchestration.component import build_release

FOLDER = Path(__file__).parent
defs = dg.Definitions.merge(
    build_release(load_policy(FOLDER / "policy.yaml"), FOLDER),
    dg.Definitions(executor=dg.in_process_executor),
)
"""
FEWER_THAN_K = 2
MOST = 20  # iterations of the daemon


def test_each_partition_is_a_run_and_a_refused_one_stops_no_other(
    tmp_path: Path, small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame]
) -> None:
    policy = small_policy(schedule=WEEKLY, source={"path": "{partition}.csv"})
    write_policy(tmp_path / "policy.yaml", policy)
    (tmp_path / "location.py").write_text(LOCATION)
    for week in WEEKS:
        people = small_people() if week != WEEKS[1] else small_people().head(FEWER_THAN_K)
        people.to_csv(tmp_path / f"{week}.csv", index=False)
    with instance_for_test(overrides=IN_THIS_PROCESS) as instance:
        assert backfill(instance, tmp_path / "location.py") is BulkActionStatus.COMPLETED_FAILED
        runs = {run.tags["dagster/partition"]: run.status for run in instance.get_runs()}
        assert len(instance.get_runs()) == len(WEEKS)
    failed, done = dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.SUCCESS
    assert runs == dict(zip(WEEKS, (done, failed, done), strict=True))
    published = sorted(path.parent.name for path in (tmp_path / "out").rglob("manifest.json"))
    assert published == [WEEKS[0], WEEKS[2]]


def backfill(instance: dg.DagsterInstance, location: Path) -> BulkActionStatus:
    """Ask for a backfill of all stages, and be the daemon until it has ended."""
    target = PythonFileTarget(
        python_file=str(location), attribute=None, working_directory=None, location_name="ours"
    )
    with create_test_daemon_workspace_context(target, instance=instance) as workspace:
        graph = workspace.create_request_context().asset_graph
        asked = PartitionBackfill.from_asset_partitions(
            backfill_id="weeks",
            asset_graph=graph,
            partition_names=list(WEEKS),
            asset_selection=list(graph.materializable_asset_keys),
            backfill_timestamp=time.time(),
            tags={},
            dynamic_partitions_store=instance,
            all_partitions=False,
            title=None,
            description=None,
            run_config=None,
        )
        instance.add_backfill(asked)
        for _ in range(MOST):
            list(execute_backfill_iteration(workspace, logging.getLogger(__name__)))
            found = instance.get_backfill("weeks")
            assert found is not None
            if found.status is not BulkActionStatus.REQUESTED:
                return found.status
    raise AssertionError("the backfill did not end")
