"""A project on disk with a small source, and its definitions, for runs in process."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest

from anon_pipeline.orchestration.component import build_release
from anon_pipeline.policy import Policy

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass(frozen=True)
class Project:
    """A folder, the policy in it, its definitions, and an instance of its own."""

    folder: Path
    policy: Policy
    definitions: dg.Definitions
    instance: dg.DagsterInstance

    def run(self, job: str, partition: str | None = None) -> dg.ExecuteInProcessResult:
        """Run a job; a partition by its tag, since Dagster gives a job of checks alone no partitions."""
        tags = {} if partition is None else {"dagster/partition": partition}
        return self.definitions.resolve_job_def(job).execute_in_process(
            instance=self.instance, raise_on_error=False, run_config=QUIET, tags=tags
        )

    def materialize(
        self, *stages: str, checks: bool = True, partition: str | None = None
    ) -> dg.ExecuteInProcessResult:
        """Materialize some stages, with or without their checks."""
        selection = dg.AssetSelection.assets(*(dg.AssetKey([self.policy.name, stage]) for stage in stages))
        job = dg.define_asset_job("some", selection if checks else selection.without_checks())
        resolved = dg.Definitions.merge(self.definitions, dg.Definitions(jobs=[job])).resolve_job_def("some")
        return resolved.execute_in_process(
            instance=self.instance, raise_on_error=False, run_config=QUIET, partition_key=partition
        )

    def released(self) -> list[Path]:
        """Files at the destination."""
        return sorted(path for path in (self.folder / "out").rglob("*") if path.is_file())


def restore_or_make(folder: Path, make: Callable[[], object]) -> None:
    """Make what a folder holds the first time, and later put back the bytes of then, in the same place."""
    kept = folder.with_name(f"{folder.name}-kept")
    if kept.exists():
        shutil.rmtree(folder, ignore_errors=True)  # it may have been moved
        shutil.copytree(kept, folder, symlinks=True)
    else:
        folder.mkdir()
        make()
        shutil.copytree(folder, kept, symlinks=True)


@contextmanager
def copied(instance: dg.DagsterInstance) -> Iterator[dg.DagsterInstance]:
    """Open another instance in memory that has the runs and events of one, and ends for itself."""
    with dg.DagsterInstance.ephemeral() as copy:
        for storage in ("run_storage", "event_log_storage"):
            own, new = (getattr(one, storage)._held_conn.connection for one in (instance, copy))
            own.driver_connection.backup(new.driver_connection)
        yield copy


@pytest.fixture
def project(
    tmp_path: Path,
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., Project]]:
    """Make a project; changes go to the policy's sections. A step is tried again without waiting."""
    monkeypatch.setattr("anon_pipeline.orchestration.stage.RETRY_SECONDS", 0)
    with dg.DagsterInstance.ephemeral() as instance:

        def make(people: pd.DataFrame | None = None, **changes: object) -> Project:
            folder = tmp_path / "project"
            folder.mkdir(exist_ok=True)
            (small_people() if people is None else people).to_csv(folder / "people.csv", index=False)
            policy = small_policy(**changes)
            return Project(folder, policy, build_release(policy, folder), instance)

        yield make
