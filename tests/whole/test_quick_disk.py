"""What is written without waiting outlives its process; scripts read before make the same tables."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import sqlalchemy as sa

from anon_pipeline.ledger.migrate import upgrade
from anon_pipeline.ledger.store import store_at
from tests.adversarial.dagster_engines import reuse_engines
from tests.forked import killed
from tests.quick_disk import read_scripts_once


def test_what_a_killed_process_has_committed_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dagster._core.storage.runs.sqlite import sqlite_run_storage

    reuse_engines(monkeypatch)
    engine = sqlite_run_storage.create_engine(f"sqlite:///{tmp_path / 'runs.db'}", poolclass=sa.NullPool)

    def write() -> None:
        with engine.begin() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 0
            connection.exec_driver_sql("CREATE TABLE runs AS SELECT 7 AS number")
        os.kill(os.getpid(), signal.SIGKILL)

    assert killed(write)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT number FROM runs").scalar() == 7


def test_what_a_killed_process_has_entered_in_a_ledger_is_there(tmp_path: Path) -> None:
    engine = store_at(f"sqlite:///{tmp_path / 'ledger.sqlite'}").engine

    def write() -> None:
        with engine.begin() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 0
            connection.exec_driver_sql("CREATE TABLE others AS SELECT 7 AS number")
        os.kill(os.getpid(), signal.SIGKILL)

    assert killed(write)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT number FROM others").scalar() == 7


def test_a_file_that_is_no_database_is_refused_by_its_first_statement(tmp_path: Path) -> None:
    (tmp_path / "none.sqlite").write_bytes(b"no database" * 100)
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'none.sqlite'}")
    with engine.connect() as connection, pytest.raises(sa.exc.DatabaseError, match="not a database"):
        connection.exec_driver_sql("SELECT 1 FROM sqlite_master")


def test_scripts_that_were_read_before_make_the_same_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    from alembic.script import ScriptDirectory

    def made() -> list[str]:
        engine = sa.create_engine("sqlite://")
        with engine.begin() as connection:
            upgrade(connection, "here")
            return list(connection.exec_driver_sql("SELECT sql FROM sqlite_master ORDER BY name").scalars())

    kept = made()
    monkeypatch.setattr(ScriptDirectory, "_load_revisions", lambda *_: pytest.fail("read again"))
    assert made() == kept
    monkeypatch.undo()
    read_scripts_once(monkeypatch)
    assert made() == kept
