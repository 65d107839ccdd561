"""The connection to a database that releases are delivered to: which ones may be, and what errors may say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from anon_pipeline.base.errors import InputError, PublishError, error_words
from anon_pipeline.publish.deliver.delivery import KEY
from anon_pipeline.sources.sql import engine_of

if TYPE_CHECKING:
    import sqlalchemy as sa

DATABASE: Final = f"{KEY}.database_env"
"""Key of the policy, for messages."""

_CONDITIONS: Final = {
    "SQLITE_BUSY": "another program holds it",
    "SQLITE_NOTADB": "it is no database of SQLite",
    "SQLITE_READONLY": "it may not be written",
    "SQLITE_FULL": "the disk is full",
}
_KINDS: Final = ("postgresql", "sqlite")
"""Databases in which making and dropping a table is part of the transaction."""


def engine_at(url: str) -> sa.Engine:
    """Return the engine of a database; a transaction begins when it is asked to, also before a table is made.

    Raises:
        InputError: no database, another kind of one, or no driver.
    """
    if _kind_of(url) not in (None, *_KINDS):  # before its driver is asked for
        raise InputError(
            f"{DATABASE}: must be a database that makes tables within a transaction ({' or '.join(_KINDS)})"
        )
    return _with_begin(engine_of(url, DATABASE))


def _kind_of(url: str) -> str | None:
    """Return the kind of database that a URL names; None: it is none."""
    import sqlalchemy as sa  # noqa: PLC0415

    try:
        return sa.make_url(url).get_backend_name()
    except (sa.exc.ArgumentError, ValueError):
        return None


def refuse_no_file(url: sa.URL) -> None:
    """Refuse a database of SQLite in memory, and one whose file is not there."""
    if url.get_backend_name() != "sqlite":
        return
    file = str(url.database or "").removeprefix("file:")
    if not any(Path(one).is_file() for one in (file, unquote(file)) if one):
        raise PublishError(
            f"{DATABASE}: must name a file that is there (sqlite:///shop.db), got a path without one. "
            f"Correct the path, or create an empty file (touch shop.db)."
        )


def is_ledger(url: sa.URL, ledger: str) -> bool:
    """Tell whether a database of SQLite is the ledger's; one of a server may hold both."""
    import sqlalchemy as sa  # noqa: PLC0415

    if url.get_backend_name() != "sqlite" or not ledger.startswith("sqlite"):
        return False
    own, other = (str(one.database or "").removeprefix("file:") for one in (url, sa.make_url(ledger)))
    return Path(own).resolve() == Path(other).resolve()


def _with_begin(engine: sa.Engine) -> sa.Engine:
    """Let a transaction begin when it is asked to, also before a table is made."""
    import sqlalchemy as sa  # noqa: PLC0415

    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _no_implicit_begin)
        sa.event.listen(engine, "begin", _begin)
        return engine
    return engine.execution_options(isolation_level="READ COMMITTED")


def _no_implicit_begin(connection: Any, _: object) -> None:
    """Leave it to `_begin` when a transaction begins: sqlite3 would begin one only at the first write."""
    connection.isolation_level = None


def _begin(connection: sa.Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


@contextmanager
def withhold_errors(said: str) -> Iterator[None]:
    """Withhold what drivers and databases say of errors, which quotes logins, statements and cells."""
    kind = ""
    try:
        yield
    except (InputError, PublishError):
        raise
    except Exception as error:  # noqa: BLE001 - each driver has errors of its own
        kind = _condition(error)
    if kind:
        raise PublishError(f"{DATABASE}: {said}: {kind}")


def _condition(error: Exception) -> str:
    """Say what kind of error this is: SQLite's own names of errors are a fixed list, without values."""
    name = str(getattr(getattr(error, "orig", None), "sqlite_errorname", ""))
    return next((words for start, words in _CONDITIONS.items() if name.startswith(start)), error_words(error))
