"""Tests do not wait until the disk has written what the system was given, and read Alembic's scripts once.

A process that is killed loses nothing that it has given to the system; only a loss of power would, and no
test can cause one. Whether files are synced, and in which order, is tested by the points of `Disk`, which
are still passed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

__all__ = ["read_scripts_once", "spare_syncs"]


def spare_syncs(patch: pytest.MonkeyPatch) -> None:
    """Let this process and its forks sync no file; tests that count syncs patch them themselves."""
    for name in ("fsync", "fdatasync"):
        if hasattr(os, name):
            patch.setattr(os, name, lambda handle: None)
    _spare_syncs_of_sqlite(patch)


def _spare_syncs_of_sqlite(patch: pytest.MonkeyPatch) -> None:
    """Let connections of SQLAlchemy to SQLite commit without a sync: ledgers, Dagster's instances on disk."""
    from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

    as_it_was = SQLiteDialect_pysqlite.on_connect

    def on_connect(self: SQLiteDialect_pysqlite) -> Callable[[sqlite3.Connection], None]:
        before = as_it_was(self)

        def connected(connection: sqlite3.Connection) -> None:
            if before is not None:
                before(connection)
            with suppress(sqlite3.Error):  # what is wrong with the file, the first statement says
                connection.execute("PRAGMA synchronous=OFF").close()

        return connected

    patch.setattr(SQLiteDialect_pysqlite, "on_connect", on_connect)


def read_scripts_once(patch: pytest.MonkeyPatch) -> None:
    """Let Alembic read a folder of migrations once: it loads all modules there for each new database."""
    from alembic.script import ScriptDirectory

    read = ScriptDirectory.from_config
    kept: dict[str, ScriptDirectory] = {}

    def once(config: Any) -> ScriptDirectory:
        place = str(config.get_main_option("script_location"))
        if place not in kept:
            kept[place] = read(config)
        return kept[place]

    patch.setattr(ScriptDirectory, "from_config", staticmethod(once))
