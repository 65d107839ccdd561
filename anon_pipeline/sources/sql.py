"""A table, or what a query gives, of a database that SQLAlchemy reaches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import pandas as pd
import pyarrow as pa

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.catalog.extras import install_words
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.source import SqlSource
from anon_pipeline.sources.typed_cells import RECORDS_AT_ONCE, Cells
from anon_pipeline.sources.urls import url_in

if TYPE_CHECKING:
    import sqlalchemy as sa

WHERE = "source.sql"
_PARAMETER = ":partition"


def sql_frame(policy: Policy, folder: Path, partition: str | None) -> pd.DataFrame:
    """Read the table or query that ``source.sql`` names; see `read_source`.

    One statement in one transaction that only reads. In PostgreSQL it sees one version of the database
    (``repeatable read``), as in SQLite, whose file is opened for reading alone; in other databases it sees
    what they promise to one statement.

    Raises:
        InputError: no such variable or driver, no connection, a statement that fails, a limit that is not
            kept. No text of the database or driver is in it, which may quote the login, the query or a cell.
    """
    with _withhold_text():
        *_, whole = _grow_cells(policy, partition)
        return whole.frame()


def sql_portions(policy: Policy, folder: Path) -> Iterator[pa.Table]:
    """Yield the records of the table or query that ``source.sql`` names; see `portions`."""
    with _withhold_text():
        for cells in _grow_cells(policy, None):
            yield cells.take()


def _grow_cells(policy: Policy, partition: str | None) -> Iterator[Cells]:
    """Yield the records without any, and again each time that more are in them."""
    wanted = cast(SqlSource, policy.source.place)
    engine = reading_engine(url_in(wanted.url_env, f"{WHERE}.url_env"), f"{WHERE}.url_env")
    with withhold_text(
        f"{WHERE}: the database must be reachable, and accept the login of the URL", *_kinds()
    ):
        connection = engine.connect()
    with connection:
        named = {"partition": plain_partition(partition)} if partition is not None else {}
        yield from _read_records(connection, wanted, named, policy.source.limits)


def _withhold_text() -> AbstractContextManager[None]:
    return withhold_text(f"{WHERE}: table or query must be there, correct, and readable", *_kinds())


def _kinds() -> tuple[type[Exception], ...]:
    """Return what SQLAlchemy, drivers and the conversion of cells raise."""
    import sqlalchemy as sa  # noqa: PLC0415 - only this source and the ledger need it

    return (sa.exc.SQLAlchemyError, OSError, ValueError, LookupError, TypeError, ArithmeticError)


def reading_engine(url: str, key: str) -> sa.Engine:
    """Return an engine that reads one version of a database, and writes nothing.

    Args:
        url: with credentials; it is in no message.
        key: of the policy, for messages.
    Raises:
        InputError: not a URL of SQLAlchemy's, or a driver that is not installed.
    """
    return _one_version(engine_of(url, key, mode="ro"))


def engine_of(url: str, key: str, *, mode: Literal["ro", "rw"] = "rw") -> sa.Engine:
    """Return an engine for the database at a URL; a connection lasts as long as it is used.

    Args:
        url: with credentials; it is in no message.
        key: of the policy, for messages.
        mode: how a file of SQLite is opened; it must be there.
    Raises:
        InputError: not a URL of SQLAlchemy's, or a driver that is not installed.
    """
    import sqlalchemy as sa  # noqa: PLC0415

    driver = "of this kind of database"
    try:
        engine = sa.create_engine(database_url(url, mode), poolclass=sa.NullPool, hide_parameters=True)
    except ModuleNotFoundError as error:
        driver = install_words(str(error.name))
    except sa.exc.NoSuchModuleError:
        driver = "install the package that brings SQLAlchemy this kind of database"
    except (sa.exc.ArgumentError, ValueError):
        driver = ""
    else:
        return engine
    if driver:
        raise InputError(f"{key}: the driver of the database must be installed: {driver}")
    raise InputError(f"{key}: must hold a URL as SQLAlchemy writes it: dialect://user:password@host/database")


def database_url(url: str, mode: Literal["ro", "rw"]) -> sa.URL:
    """Return the URL of a database by which nothing is made where nothing is.

    Args:
        url: with credentials.
        mode: how a file of SQLite is opened; it must be there.
    Raises:
        sqlalchemy.exc.ArgumentError, ValueError: not a URL of SQLAlchemy's.
    """
    import sqlalchemy as sa  # noqa: PLC0415

    place = sa.make_url(url)
    if place.get_backend_name() == "sqlite" and not str(place.database).startswith("file:"):
        place = place.set(  # else a file that is not there would be made
            database=f"file:{Path(str(place.database)).absolute()}", query={"mode": mode, "uri": "true"}
        )
    if place.drivername == "postgresql":  # of its drivers the one that the extra brings
        place = place.set(drivername="postgresql+psycopg")
    return place


def _one_version(engine: sa.Engine) -> sa.Engine:
    """Let transactions read one version and write nothing, where the dialect has that."""
    if engine.dialect.name == "sqlite":
        _keep_off_the_disk(engine)
    if engine.dialect.name == "postgresql":
        return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return engine


def _keep_off_the_disk(engine: sa.Engine) -> None:
    """Let SQLite sort in memory: its temporary files would be plain text of personal data."""
    import sqlalchemy as sa  # noqa: PLC0415

    def in_memory(connection: Any, _: object) -> None:
        connection.execute("PRAGMA temp_store=MEMORY")

    sa.event.listen(engine, "connect", in_memory)


def _read_records(
    connection: sa.Connection, wanted: SqlSource, named: Mapping[str, str], limits: Limits
) -> Iterator[Cells]:
    import sqlalchemy as sa  # noqa: PLC0415

    if wanted.query is None:
        *schema, name = wanted.path_of_table
        table = sa.table(name, schema=".".join(schema) or None)
        statement: Any = sa.select(sa.text("*")).select_from(table)
    else:
        statement = sa.text(wanted.query)
        if _PARAMETER not in wanted.query:
            named = {}
    result = connection.execution_options(stream_results=True).execute(statement, dict(named))
    if not result.returns_rows:
        raise InputError(f"{WHERE}.query: must be a SELECT, got a statement that returns no records")
    cells = Cells(WHERE, list(result.keys()), limits)
    yield cells
    for rows in result.partitions(RECORDS_AT_ONCE):
        cells.add(list(zip(*rows, strict=True)))
        yield cells
