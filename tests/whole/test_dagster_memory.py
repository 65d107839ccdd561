"""Instances in memory, as tests have them, are Dagster's own: the same tables, and each by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as sa
from dagster._core.storage.event_log import in_memory as events
from dagster._core.storage.event_log.schema import SqlEventLogStorageMetadata
from dagster._core.storage.runs import in_memory as runs
from dagster._core.storage.runs.schema import RunStorageSqlMetadata
from dagster._core.storage.sql import create_engine, stamp_alembic_rev

from tests.dagster_memory import keep_dagster_in_memory
from tests.projects import QUIET


@dg.asset
def one() -> None:
    """Nothing."""


@pytest.fixture
def quick(dagsters_own: None) -> Iterator[None]:
    """Instances of tests, from the first on."""
    with pytest.MonkeyPatch.context() as patch:
        keep_dagster_in_memory(patch)
        yield


@pytest.fixture
def dagsters_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instances as Dagster makes them, whatever this process has made before."""
    for module, name, tables in (
        (events, "SqlEventLogStorageMetadata", SqlEventLogStorageMetadata),
        (runs, "RunStorageSqlMetadata", RunStorageSqlMetadata),
    ):
        monkeypatch.setattr(module, name, tables)
        monkeypatch.setattr(module, "create_engine", create_engine)
        monkeypatch.setattr(module, "stamp_alembic_rev", stamp_alembic_rev)


def schema(instance: dg.DagsterInstance) -> list[list[Any]]:
    """Return the tables of both storages and the version that each was made at."""
    found = []
    for storage in (instance.run_storage, instance.event_log_storage):
        with storage._engine.connect() as connection:  # type: ignore[attr-defined]
            tables = sa.text("SELECT type, name, sql FROM sqlite_master ORDER BY name")
            version = sa.text("SELECT version_num FROM alembic_version")
            found.append([tuple(row) for asked in (tables, version) for row in connection.execute(asked)])
    return found


@pytest.fixture
def expected(dagsters_own: None) -> list[list[Any]]:
    """The tables that Dagster makes itself."""
    with dg.DagsterInstance.ephemeral() as instance:
        return schema(instance)


def test_copied_tables_are_those_that_dagster_makes(expected: list[list[Any]], quick: None) -> None:
    assert all(len(tables) > 3 for tables in expected)
    for _ in range(3):
        with dg.DagsterInstance.ephemeral() as instance:
            assert schema(instance) == expected


def test_instances_know_nothing_of_each_other(quick: None) -> None:
    with dg.DagsterInstance.ephemeral() as first, dg.DagsterInstance.ephemeral() as second:
        assert dg.materialize([one], instance=first, run_config=QUIET).success
        assert (first.get_runs_count(), second.get_runs_count()) == (1, 0)
        assert first.get_latest_materialization_event(one.key) is not None
        assert second.get_latest_materialization_event(one.key) is None
    with dg.DagsterInstance.ephemeral() as third:
        assert third.get_runs_count() == 0


def test_foreign_keys_are_enforced_on_each_connection(quick: None) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        for connect in (instance.run_storage.connect, instance.event_log_storage._connect):  # type: ignore[attr-defined]
            with connect() as connection:
                assert connection.execute(sa.text("PRAGMA foreign_keys")).scalar() == 1
