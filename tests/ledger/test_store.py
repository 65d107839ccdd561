"""The database: one writer at a time, versions, and rows that cannot be changed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.exc import SQLAlchemyError

from anon_pipeline.base.errors import InputError
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.chain import Event, head_of, seal_event
from anon_pipeline.ledger.requests import Asked
from anon_pipeline.ledger.store import Store, store_at

Ask = Callable[..., Asked]
ROOT = Path(__file__).resolve().parents[2]

WRITER = """
import sys
from anon_pipeline.ledger import Asked, ledger_at
asked = Asked("people", "small", None, "policy", "making", 5, "0.1")
book = ledger_at(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for _ in range(50):
    book.open(asked)
"""


def writers(url: str) -> list[subprocess.Popen[str]]:
    command = [sys.executable, "-c", WRITER, url]
    return [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for _ in range(2)
    ]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_for_its_owner_alone_and_one_that_is_there_keeps_its_mode(
    tmp_path: Path, asked: Ask
) -> None:
    path = tmp_path / "ledger.sqlite"
    before = os.umask(0)
    try:
        Ledger(store_at(f"sqlite:///{path}")).open(asked())
        assert mode(path) == 0o600
        path.chmod(0o640)
        Ledger(store_at(f"sqlite:///{path}")).open(asked())
    finally:
        os.umask(before)
    assert mode(path) == 0o640


def test_two_processes_append_fifty_each_and_make_the_tables_once(url: str) -> None:
    both = writers(url)
    assert [w.stdout.readline() for w in both] == ["ready\n"] * 2  # type: ignore[union-attr]
    for writer in both:
        writer.stdin.write("go\n")  # type: ignore[union-attr]
        writer.stdin.flush()  # type: ignore[union-attr]
    assert [writer.wait() for writer in both] == [0, 0]
    for writer in both:
        writer.stdin.close()  # type: ignore[union-attr]
        writer.stdout.close()  # type: ignore[union-attr]
    book = Ledger(store_at(url))
    assert [event.seq for event in book.events()] == list(range(1, 101))
    assert len({event.owner for event in book.events()}) == 2
    assert book.verify() is None


def test_two_that_ask_at_once_do_not_share_what_is_left(url: str) -> None:
    program = WRITER.replace('"0.1"', '"0.1", Budget(epsilon=2)').replace(
        "import sys\n", "import sys\nfrom anon_pipeline.policy.sections import Budget\n"
    )
    command = [sys.executable, "-c", program, url]
    both = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=-1, stderr=-1, text=True, cwd=ROOT)
        for _ in range(2)
    ]
    said = [writer.communicate("go\n")[1] for writer in both]
    assert all("GateRefused" in text for text in said)
    assert len(Ledger(store_at(url)).events()) == 20  # 20 · 0.1 = 2, not one more


def rows(store: Store, *statements: str) -> None:
    """Change rows as somebody would who can write to the database: the triggers are theirs to drop."""
    sqlite = store.engine.dialect.name == "sqlite"
    drop = (
        ("DROP TRIGGER anon_pipeline_no_UPDATE", "DROP TRIGGER anon_pipeline_no_DELETE")
        if sqlite
        else ("DROP TRIGGER anon_pipeline_no_change ON anon_pipeline_events",)
    )
    with store.writing() as connection:
        for statement in (*drop, *statements):
            connection.exec_driver_sql(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE anon_pipeline_events SET epsilon = '0' WHERE seq = 1",
        "DELETE FROM anon_pipeline_events WHERE seq = 3",
    ],
)
def test_rows_cannot_be_changed_by_accident(book: Ledger, asked: Ask, statement: str) -> None:
    for _ in range(3):
        book.open(asked())
    with pytest.raises(SQLAlchemyError, match="append-only"), book.store.engine.begin() as connection:
        connection.exec_driver_sql(statement)
    assert book.verify() is None


@pytest.mark.parametrize(
    ("statement", "at"),
    [
        ("UPDATE anon_pipeline_events SET epsilon = '0' WHERE seq = 2", 2),
        ("DELETE FROM anon_pipeline_events WHERE seq = 2", 2),
        ("DELETE FROM anon_pipeline_events WHERE seq = 3", 3),
        ("DELETE FROM anon_pipeline_events", 1),
        ("DELETE FROM anon_pipeline_head", 4),
    ],
)
def test_a_changed_row_is_named_and_stops_every_release(
    book: Ledger, asked: Ask, statement: str, at: int
) -> None:
    for _ in range(3):
        book.open(asked())
    rows(book.store, statement)
    broken = book.verify()
    assert broken is not None
    assert broken.seq == at
    with pytest.raises(InputError, match=f"tampered with, at event {at}"):
        book.open(asked())


def test_a_whole_new_chain_is_found_by_a_hash_that_was_noted(book: Ledger, asked: Ask) -> None:
    book.open(asked())
    noted = book.events()[-1].hash
    assert book.verify(contains=noted) is None
    rows(book.store, "DELETE FROM anon_pipeline_events", "DELETE FROM anon_pipeline_head")
    book.open(asked("0.1"))
    assert book.verify() is None
    assert book.verify(contains=noted) is not None


HASHES_OF_VERSION_1 = (
    "9c8d7dea91925f23faba12778e4935e6359a52f12d9e515fd88ef3633da17831",
    "73e7454b681d5d0687f72f488cd53b9a372a20021997ea41a500173afa7db0dd",
)
"""Of the two events below, as the first version has computed them: what is upgraded keeps its chain."""


def events_of_version_1() -> list[Event]:
    digests = ((None, "opened"), ("d", "published"))
    events: list[Event] = []
    for digest, kind in digests:
        new = Event(0, "a" * 32, "2026-01-01T00:00:00.000000+00:00", kind, "people é", "small", None,
                    "p", "m", digest, 5, "2", "host/1/")  # fmt: skip
        events.append(seal_event(new, head_of(events)))
    return events


def test_the_hashes_are_those_of_version_1() -> None:
    assert tuple(event.hash for event in events_of_version_1()) == HASHES_OF_VERSION_1


@pytest.mark.parametrize(
    ("url_", "says"),
    [
        ("mysql://db/x", "must be a URL that begins with"),
        ("nonsense", "must be a URL that begins with"),
        ("sqlite://", "must be a file"),
        ("sqlite:///:memory:", "must be a file"),
        ("postgresql://me:CANARY@db/x", "must not hold a password"),
        ("postgresql://127.0.0.1:1/x", "must be reachable and writable, got OperationalError"),
    ],
)
def test_what_is_no_ledger_is_refused_by_name(url_: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as refused:
        store_at(url_)
    assert "CANARY" not in str(refused.value)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("not a database, and long enough to be seen as none" * 40)
    with pytest.raises(InputError, match="got DatabaseError"):
        store_at(f"sqlite:///{tmp_path}/ledger.sqlite")


def test_reading_does_not_make_a_ledger(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="The first release makes it"):
        store_at(f"sqlite:///{tmp_path}/ledger.sqlite", make=False)
    assert not list(tmp_path.iterdir())


def test_a_database_that_is_opened_again_is_read_anew(tmp_path: Path, asked: Ask) -> None:
    """What is kept from one opening to the next is how to ask, never what was answered, nor a connection."""
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    Ledger(store_at(url)).open(asked())
    assert len(Ledger(store_at(url)).events()) == 1
    (tmp_path / "ledger.sqlite").unlink()
    again = Ledger(store_at(url))
    assert again.events() == []
    again.open(asked())
    assert again.verify() is None
    (tmp_path / "ledger.sqlite").write_text("no database at all, whatever it was before")
    with pytest.raises(InputError, match="must be reachable and writable"):
        store_at(url)
