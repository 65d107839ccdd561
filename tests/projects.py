"""A project on disk with a small source, and its definitions, for runs in process."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest

from anon_pipeline.orchestration.component import build_release
from anon_pipeline.policy import Policy
from anon_pipeline.stages.private import STAGES

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
        _copy(instance, copy)
        yield copy


def _copy(instance: Any, to: Any) -> None:
    for storage in ("run_storage", "event_log_storage"):
        own, new = (getattr(one, storage)._held_conn.connection for one in (instance, to))
        own.driver_connection.backup(new.driver_connection)


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


@dataclass(frozen=True)
class Kept:
    """Projects whose stages are made: by what they were made from, their folders and instances."""

    made: dict[str, tuple[Path, dg.DagsterInstance]]
    open_: ExitStack


@pytest.fixture(scope="session")
def kept_stages() -> Iterator[Kept]:
    """What `staged` has made."""
    with ExitStack() as open_:
        yield Kept({}, open_)


@pytest.fixture
def staged(
    project: Callable[..., Project], kept_stages: Kept, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Project]:
    """Make a project with all stages materialized; equal ones are made once, and their runs are known."""

    def make(people: pd.DataFrame | None = None, *, checks: bool = True, **changes: object) -> Project:
        made = project(people, **changes)
        keys = sorted((name, value) for name, value in os.environ.items() if name.startswith("ANON_"))
        source = (made.folder / "people.csv").read_bytes()
        asked = repr((made.policy.model_dump_json(), hashlib.sha256(source).hexdigest(), keys, checks))
        if asked in kept_stages.made:
            folder, instance = kept_stages.made[asked]
            shutil.copytree(folder, made.folder, symlinks=True, dirs_exist_ok=True)
            _copy(instance, made.instance)
        else:
            assert made.materialize(*STAGES, checks=checks).success
            folder = tmp_path_factory.mktemp("staged") / "kept"
            shutil.copytree(made.folder, folder, symlinks=True)
            kept_stages.made[asked] = folder, kept_stages.open_.enter_context(copied(made.instance))
        return made

    return make
