"""Engines of Dagster's databases, made once for each database instead of for each event that is stored.

Belongs here: that. Does not belong here: what Dagster is asked to do (`crash_dagster`, `leak_dagster`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest
import sqlalchemy as sa
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage

__all__ = ["reuse_engines"]

_KEPT = 8
"""Databases whose engines are kept: a run has one of its own, and shares the others."""


def reuse_engines(patch: pytest.MonkeyPatch, *, connected: bool = False) -> Callable[[], None]:
    """Keep the engines of Dagster's SQLite databases, and with them the statements that they compiled.

    An engine opens a database anew each time and closes it afterwards, as it did: what is stored, and when,
    stays the same, and a child process or a restored folder meets no open database. None of them waits until
    the platter has it: most of the time of a run would be that, for what only a machine without power loses.
    Dagster disposes of an engine after each event, which would close its connections: here that does nothing.

    Args:
        connected: keep the databases open, too, for work that neither forks nor restores a folder.
    Returns:
        What closes all of them.
    """
    engines: list[sa.Engine] = []

    @lru_cache(_KEPT)
    def made(url: str, arguments: tuple[tuple[str, Any], ...]) -> sa.Engine:
        pool = sa.SingletonThreadPool if connected else sa.NullPool
        engine = sa.create_engine(
            url, poolclass=pool, **({"connect_args": dict(arguments)} if arguments else {})
        )
        sa.event.listen(engine, "connect", _spare_syncs)
        patch.setattr(engine, "dispose", lambda close=True: None)
        engines.append(engine)
        return engine

    def kept(url: str, *, poolclass: type[sa.Pool], connect_args: dict[str, Any] | None = None) -> sa.Engine:
        assert poolclass is sa.NullPool
        return made(url, tuple((connect_args or {}).items()))

    for module in (sqlite_event_log, sqlite_run_storage):
        patch.setattr(module, "create_engine", kept)

    def close() -> None:
        for engine in engines:
            engine.pool.dispose()

    return close


def _spare_syncs(connection: sqlite3.Connection, _: object) -> None:
    connection.execute("PRAGMA synchronous=OFF").close()
