"""Keeping events: one transaction at a time, in SQLite or PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from anon_pipeline.base.disk import disk
from anon_pipeline.base.errors import InputError
from anon_pipeline.ledger.chain import Event, Head
from anon_pipeline.ledger.migrate import is_up_to_date, upgrade
from anon_pipeline.policy.locations import plain_ledger

_PATIENCE = 60  # seconds that one waits for another that writes
_LOCK = 4_915_370_427_203_111_211  # PostgreSQL's advisory lock of this ledger: any number of our own
_WRITES = "anon_pipeline_writes"

_METADATA = sa.MetaData()
EVENTS = sa.Table(
    "anon_pipeline_events",
    _METADATA,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    *(sa.Column(name, sa.Text, nullable=False) for name in ("release_id", "at", "event")),
    *(sa.Column(name, sa.Text, nullable=False) for name in ("dataset", "release")),
    sa.Column("partition", sa.Text),
    *(sa.Column(name, sa.Text, nullable=False) for name in ("policy_digest", "making")),
    sa.Column("data_digest", sa.Text),
    sa.Column("k", sa.BigInteger, nullable=False),
    *(sa.Column(name, sa.Text, nullable=False) for name in ("epsilon", "owner", "prev", "hash")),
    *(sa.Column(name, sa.Text) for name in ("checkpoint", "partition_kind", "memory", "note", "rows_digest")),
    sa.Column("source_columns", sa.Text),
)
_COLUMNS = tuple(EVENTS.c[field.name] for field in fields(Event))
HEAD = sa.Table(
    "anon_pipeline_head",
    _METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
)
CHECKPOINT = sa.Table(
    "anon_pipeline_checkpoint",
    _METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
)


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """A database with the ledger's tables, up to date."""

    engine: sa.Engine
    shown: str

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Open a transaction that only reads, and sees one state, whoever writes meanwhile."""
        options = {} if self.engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
        with (
            _as_input_error(self.shown),
            self.engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Open the one transaction that may write now; others wait until it ends.

        The transaction, and what is written in it before it is committed, are points of `disk`.

        Raises:
            InputError: the database cannot be reached or written, or another has written for too long.
        """
        with (
            _as_input_error(self.shown),
            disk().point("commit ledger"),
            _alone(self.engine) as connection,
            disk().point("write ledger"),
        ):
            yield connection


def events_and_head(connection: sa.Connection, *, after: int | None = None) -> tuple[list[Event], Head]:
    """Read all events in their order, or those after a number, and the stored head."""
    wanted = sa.select(*_COLUMNS).order_by(EVENTS.c.seq)
    if after is not None:
        wanted = wanted.where(EVENTS.c.seq > after)
    events = [Event(*row) for row in connection.execute(wanted)]
    return events, read_head(connection)


def read_head(connection: sa.Connection) -> Head:
    """Read the stored head of the chain."""
    kept = connection.execute(sa.select(HEAD.c.seq, HEAD.c.hash)).first()
    return Head() if kept is None else Head(kept.seq, kept.hash)


def event_at(connection: sa.Connection, seq: int) -> Event | None:
    """Read one event."""
    row = connection.execute(sa.select(*_COLUMNS).where(EVENTS.c.seq == seq)).first()
    return None if row is None else Event(*row)


def count_events(connection: sa.Connection) -> int:
    """Count the events."""
    return connection.execute(sa.select(sa.func.count()).select_from(EVENTS)).scalar_one()


def published_elsewhere(connection: sa.Connection, source_columns: str | None, *, dataset: str) -> bool:
    """Tell whether another dataset has a published release whose source has these columns."""
    same = sa.select(EVENTS.c.seq).where(
        EVENTS.c.event == "published",
        EVENTS.c.dataset != dataset,
        EVENTS.c.source_columns == source_columns,
    )
    return source_columns is not None and connection.execute(same.limit(1)).first() is not None


def published_in(connection: sa.Connection, datasets: Collection[str]) -> list[Event]:
    """Read the publications of some datasets, in their order."""
    wanted = sa.select(*_COLUMNS).where(EVENTS.c.event == "published", EVENTS.c.dataset.in_(datasets))
    return [Event(*row) for row in connection.execute(wanted.order_by(EVENTS.c.seq))]


def events_of(connection: sa.Connection, release_id: str) -> list[Event]:
    """Read the events of a release, in their order."""
    wanted = sa.select(*_COLUMNS).where(EVENTS.c.release_id == release_id).order_by(EVENTS.c.seq)
    return [Event(*row) for row in connection.execute(wanted)]


def published_of(connection: sa.Connection, dataset: str) -> bool:
    """Tell whether a dataset has a published release."""
    found = sa.select(EVENTS.c.seq).where(EVENTS.c.event == "published", EVENTS.c.dataset == dataset)
    return connection.execute(found.limit(1)).first() is not None


def read_checkpoint(connection: sa.Connection) -> tuple[int, str] | None:
    """Read the checkpoint's number and text, as they are, if there is one."""
    row = connection.execute(sa.select(CHECKPOINT.c.seq, CHECKPOINT.c.body)).first()
    return None if row is None else (row.seq, row.body)


def write_checkpoint(connection: sa.Connection, seq: int, body: str) -> None:
    """Write a checkpoint over the one before, in the transaction that is open."""
    connection.execute(sa.delete(CHECKPOINT))
    connection.execute(sa.insert(CHECKPOINT).values(id=1, seq=seq, body=body))


def append(connection: sa.Connection, event: Event) -> None:
    """Write a sealed event, and the new head, in the transaction that is open."""
    connection.execute(sa.insert(EVENTS).values(**asdict(event)))
    head = {"seq": event.seq, "hash": event.hash}
    if connection.execute(sa.update(HEAD).where(HEAD.c.id == 1).values(**head)).rowcount == 0:
        connection.execute(sa.insert(HEAD).values(id=1, **head))


def store_at(url: str, *, make: bool = True) -> Store:
    """Open the ledger's database; make or upgrade its tables where they are missing or old.

    Args:
        url: ``sqlite:////absolute/path`` or ``postgresql://host/database``, without a password.
        make: make a SQLite file that is not there.
    Raises:
        InputError: not such a URL, not reachable, not there, or made by a newer version.
    """
    parsed = _parse(url)
    shown = parsed.render_as_string(hide_password=True)
    if parsed.get_backend_name() == "sqlite":
        _file(parsed, make=make)
    store = Store(_engine(parsed), shown)
    with store.reading() as connection:
        current = is_up_to_date(connection, shown)
    if not current:
        with store.writing() as connection:
            upgrade(connection, shown)
    return store


def is_missing_file(url: str) -> bool:
    """Tell whether a URL names a SQLite file that is not there."""
    try:
        parsed = _parse(url)
    except InputError:
        return False
    named = parsed.get_backend_name() == "sqlite" and parsed.database not in (None, "", ":memory:")
    return named and not Path(str(parsed.database)).exists()


def _parse(url: str) -> URL:
    plain_ledger(url)
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = None
    known = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
    driver = None if parsed is None else known.get(parsed.drivername.partition("+")[0])
    if parsed is None or driver is None:
        raise InputError("the ledger must be a URL that begins with sqlite:// or postgresql://")
    return parsed.set(drivername=driver)


def _file(url: URL, *, make: bool) -> None:
    """Make the folder of a SQLite file, and the file; refuse a database in memory, which would forget."""
    if not url.database or url.database == ":memory:":
        raise InputError("the ledger must be a file: sqlite:////absolute/path/ledger.sqlite, got none")
    path = Path(url.database)
    if not make and not path.is_file():
        raise InputError(f"the ledger {path} does not exist. The first release makes it.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the ledger's folder must be writable, got {type(error).__name__}") from None
    _private_file(path)


def _private_file(path: Path) -> None:
    """Make the file if it is not there, for its owner alone: SQLite gives its journal the same mode.

    One that is there keeps its mode: others may have been let in. What fails here, SQLite says better.
    """
    if str(path).startswith("file:"):
        return
    with suppress(OSError):
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        os.fchmod(handle, 0o600)
        os.close(handle)


@lru_cache(maxsize=8)
def _engine(url: URL) -> sa.Engine:
    """Return the engine of a database, one for each URL: it keeps compiled statements, and no connection."""
    lite = url.get_backend_name() == "sqlite"
    options: dict[str, Any] = {"poolclass": NullPool}
    options["connect_args"] = {"timeout" if lite else "connect_timeout": _PATIENCE}
    if not lite:  # a stricter one, by a server's default, would see what was there before the lock was had
        options["isolation_level"] = "READ COMMITTED"
    try:
        engine = sa.create_engine(url, **options)
    except ModuleNotFoundError:
        raise InputError(
            "a ledger in PostgreSQL needs the extra: pip install 'anon-pipeline[postgres]'"
        ) from None
    if lite:
        sa.event.listen(engine, "connect", _no_implicit_begin)
        sa.event.listen(engine, "begin", _begin)
    return engine


def _no_implicit_begin(connection: Any, _: object) -> None:
    """Leave it to `_begin` when a transaction begins: sqlite3 would begin one only at the first write."""
    connection.isolation_level = None


def _begin(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def _alone(engine: sa.Engine) -> Iterator[sa.Connection]:
    with engine.connect().execution_options(**{_WRITES: True}) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_PATIENCE}s'")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        yield connection


@contextmanager
def _as_input_error(shown: str) -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        kind = type(getattr(error, "orig", None) or error).__name__
        raise InputError(f"the ledger {shown} must be reachable and writable, got {kind}") from None
