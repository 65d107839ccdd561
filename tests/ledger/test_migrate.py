"""A ledger of an older version is upgraded and keeps its events; a newer one is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.chain import Event, Head, broken_at, head_of, seal_event
from anon_pipeline.ledger.migrate import VERSIONS, upgrade
from anon_pipeline.ledger.requests import Asked
from anon_pipeline.ledger.store import CHECKPOINT, EVENTS, HEAD, Store, events_and_head, store_at

Ask = Callable[..., Asked]


def at_version(url: str, version: str) -> Store:
    """A ledger as an older version has made it."""
    store = store_at(url)
    with store.writing() as connection:
        connection.execute(sa.text("DROP TABLE anon_pipeline_events"))
        connection.execute(sa.text("DROP TABLE anon_pipeline_head"))
        connection.execute(sa.text("DROP TABLE anon_pipeline_checkpoint"))
        connection.execute(sa.text("DROP TABLE anon_pipeline_ledger_version"))
        if store.engine.dialect.name == "postgresql":
            connection.execute(sa.text("DROP FUNCTION anon_pipeline_append_only"))
        upgrade(connection, "test", to=version)
    return store


def events_of_version_1() -> list[Event]:
    digests = ((None, "opened"), ("d", "published"))
    events: list[Event] = []
    for digest, kind in digests:
        new = Event(0, "a" * 32, "2026-01-01T00:00:00.000000+00:00", kind, "people é", "small", None,
                    "p", "m", digest, 5, "2", "host/1/")  # fmt: skip
        events.append(seal_event(new, head_of(events)))
    return events


@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_an_older_ledger_is_upgraded_and_keeps_its_events(url: str, asked: Ask, version: str) -> None:
    old, events = at_version(url, version), events_of_version_1()
    newer = {"checkpoint", "partition_kind", "memory", "note", "rows_digest", "source_columns"}
    names = [f.name for f in fields(Event) if f.name not in newer]
    columns, places = ", ".join(f'"{name}"' for name in names), ", ".join(f":{name}" for name in names)
    with old.writing() as connection:
        for event in events:
            insert = f"INSERT INTO anon_pipeline_events ({columns}) VALUES ({places})"
            connection.execute(sa.text(insert), asdict(event))
        if version != "0001":
            connection.execute(sa.insert(HEAD).values(id=1, seq=2, hash=events[-1].hash))
        assert sa.inspect(connection).has_table(HEAD.name) == (version != "0001")
    book = Ledger(store_at(url))
    assert book.events() == events
    assert book.verify() is None
    with pytest.raises(GateRefused, match="spent 2"):
        book.open(replace(asked("2", 3), dataset="people é"))
    book.open(asked("2"))
    assert book.verify() is None
    with pytest.raises(SQLAlchemyError, match="append-only"), book.store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE anon_pipeline_events SET epsilon = '0'")


def test_an_empty_ledger_of_version_1_is_upgraded(url: str, asked: Ask) -> None:
    at_version(url, "0001")
    book = Ledger(store_at(url))
    assert book.verify() is None
    book.open(asked())
    assert broken_at(*_read(book.store)) is None


def _read(store: Store) -> tuple[list[Event], Head]:
    with store.reading() as connection:
        return events_and_head(connection)


def test_a_newer_ledger_is_refused(url: str) -> None:
    with store_at(url).writing() as connection:
        connection.execute(sa.text("UPDATE anon_pipeline_ledger_version SET version_num = '0099'"))
    with pytest.raises(InputError, match=r"up to 0005, got a newer one\. Upgrade anon-pipeline"):
        store_at(url)


def test_every_migration_is_a_version_and_the_tables_are_those_of_the_code(url: str) -> None:
    from alembic.script import ScriptDirectory

    import anon_pipeline.ledger as package

    scripts = ScriptDirectory(str(Path(package.__file__).parent / "migrations"))
    assert tuple(s.revision for s in reversed(list(scripts.walk_revisions()))) == VERSIONS
    with store_at(url).reading() as connection:
        for table in (EVENTS, HEAD, CHECKPOINT):
            found = {c["name"]: c["nullable"] for c in sa.inspect(connection).get_columns(table.name)}
            assert found == {c.name: c.nullable for c in table.columns}
