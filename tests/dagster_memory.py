"""Dagster's storage in memory for tests: connections stay open, and its tables are copied, not made again.

Each instance in memory makes its tables and runs Dagster's migrations, and each event opens a connection: a
fifth of the time of a run of a small table. Statements and tables stay Dagster's own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest
import sqlalchemy as sa


def keep_dagster_in_memory(patch: pytest.MonkeyPatch) -> None:
    """Speed up the runs and events of all instances in memory."""
    from dagster._core.storage.event_log import in_memory as events
    from dagster._core.storage.runs import in_memory as runs

    for module, tables in ((events, "SqlEventLogStorageMetadata"), (runs, "RunStorageSqlMetadata")):
        copied = _Tables(module, tables)
        patch.setattr(module, "create_engine", _pooled)
        patch.setattr(module, tables, copied)
        patch.setattr(module, "stamp_alembic_rev", copied.stamp)
    patch.setattr(events.InMemoryEventLogStorage, "_connect", _connect_alone)
    patch.setattr(runs.InMemoryRunStorage, "connect", _connect)


def _pooled(url: str, **_: object) -> sa.Engine:
    """Return an engine that opens a connection where all that it has are in use, from whatever thread."""
    engine = sa.create_engine(
        url, poolclass=sa.QueuePool, max_overflow=-1, connect_args={"check_same_thread": False}
    )
    sa.event.listen(
        engine, "connect", lambda connection, _: connection.execute("PRAGMA foreign_keys=ON").close()
    )
    return engine


@contextmanager
def _connect(self: Any) -> Iterator[sa.Connection]:
    with self._engine.begin() as connection:
        yield connection


@contextmanager
def _connect_alone(self: Any) -> Iterator[sa.Connection]:
    with self._db_lock, self._engine.begin() as connection:
        yield connection


class _Tables:
    """Makes the tables of a storage the first time as Dagster does, and copies them from then on."""

    def __init__(self, module: ModuleType, name: str) -> None:
        self._metadata: sa.MetaData = getattr(module, name)
        self._stamp: Callable[..., None] = module.stamp_alembic_rev
        self._made: sqlite3.Connection | None = None

    def create_all(self, connection: sa.Connection) -> None:
        if self._made is None:
            self._metadata.create_all(connection)
        else:
            self._made.backup(_driver(connection))

    def stamp(self, config: object, connection: sa.Connection, **options: object) -> None:
        """Enter the version of the tables; afterwards they are as an instance needs them."""
        if self._made is None:
            self._stamp(config, connection, **options)
            _driver(connection).commit()
            self._made = sqlite3.connect(":memory:", check_same_thread=False)
            _driver(connection).backup(self._made)


def _driver(connection: sa.Connection) -> sqlite3.Connection:
    found = connection.connection.driver_connection
    assert isinstance(found, sqlite3.Connection)
    return found
