"""Several at once, and a server that goes away: the budget holds, and nothing is entered by half."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path

import pytest
import sqlalchemy as sa

from anon_pipeline.base.errors import InputError
from anon_pipeline.ledger import page as page_module
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.ledger.chain import Event, Head
from anon_pipeline.ledger.requests import Asked
from anon_pipeline.ledger.store import store_at

Ask = Callable[..., Asked]
ROOT = Path(__file__).resolve().parents[2]

OPENER = """
import sys
from dataclasses import replace
from anon_pipeline.base.errors import GateRefused
from anon_pipeline.ledger import Asked, ledger_at
from anon_pipeline.policy.sections import Budget
book = replace(ledger_at(sys.argv[1]), every=4)
asked = Asked("people", "small", None, "policy", "making", 5, sys.argv[2], Budget(epsilon=float(sys.argv[3])))
print("ready", flush=True)
sys.stdin.readline()
opened = 0
try:
    while True:
        release_id = book.open(asked)
        opened += 1
        if opened % 2:
            book.begin(release_id, asked, "digest")
            book.enter_published(release_id, "digest")
except GateRefused:
    print(opened, flush=True)
"""


@pytest.mark.parametrize(("epsilon", "budget"), [("0.3", 4), ("0.1", 1.2), ("0.7", 2.1)])
def test_of_four_processes_as_many_opens_succeed_as_the_budget_holds(
    url: str, epsilon: str, budget: float
) -> None:
    command = [sys.executable, "-c", OPENER, url, epsilon, str(budget)]
    four = [subprocess.Popen(command, stdin=-1, stdout=-1, text=True, cwd=ROOT) for _ in range(4)]
    assert [one.stdout.readline() for one in four] == ["ready\n"] * 4  # type: ignore[union-attr]
    said = []
    for one in four:
        one.stdin.write("go\n")  # type: ignore[union-attr]
        one.stdin.flush()  # type: ignore[union-attr]
    for one in four:
        said.append(int(one.communicate()[0]))
    held = Fraction(str(budget)) // Fraction(epsilon)
    assert sum(said) == held
    book = Ledger(store_at(url))
    found = release_states(book.events())
    assert len(found) == held
    assert sum(state.epsilon for state in found.values() if state.counts) <= Fraction(str(budget))
    assert any(event.checkpoint for event in book.events())
    assert book.verify() is None


def drop_others(book: Ledger) -> None:
    """End every other connection to the database, as a server that restarts does."""
    with book.store.engine.connect() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture
def server(postgres_url: str) -> Ledger:
    """An empty ledger in PostgreSQL."""
    return Ledger(store_at(postgres_url))


def test_who_reads_while_another_writes_sees_one_state(
    server: Ledger, asked: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = replace(server, every=2)
    for _ in range(3):
        book.open(asked())
    original = page_module.events_and_head

    def interrupted(connection: sa.Connection, **options: int) -> tuple[list[Event], Head]:
        found = original(connection, **options)
        monkeypatch.undo()
        for _ in range(2):  # the second makes a checkpoint of what this reader has not seen
            book.open(asked())
        return found

    monkeypatch.setattr(page_module, "events_and_head", interrupted)
    events, broken = book.read_and_verify()
    assert (len(events), broken) == (3, None)
    assert len(book.events()) == 5


def test_a_connection_that_drops_before_the_event_is_written_enters_nothing(
    server: Ledger, asked: Ask
) -> None:
    def dropping() -> datetime:
        drop_others(server)
        return Ledger(server.store).now()

    with pytest.raises(InputError, match="must be reachable and writable, got AdminShutdown"):
        replace(server, now=dropping).open(asked("2", 2))
    assert server.events() == []
    assert server.open(asked("2", 2))  # the lock has gone with the connection
    assert server.verify() is None


@pytest.mark.parametrize("step", ["open", "begin", "published", "failed"])
def test_a_connection_that_drops_before_the_commit_enters_nothing(
    server: Ledger, asked: Ask, step: str
) -> None:
    release_id = server.open(asked("1", 3))
    before = server.events()
    steps: dict[str, Callable[[Ledger], object]] = {
        "open": lambda book: book.open(asked("1", 3)),
        "begin": lambda book: book.begin(release_id, asked("1", 3), "digest"),
        "published": lambda book: book.enter_published(release_id, "digest"),
        "failed": lambda book: book.enter_failed(release_id),
    }
    engine = sa.create_engine(
        server.store.engine.url, poolclass=sa.NullPool
    )  # not the server's: this one drops
    dropping = Ledger(replace(server.store, engine=engine))

    @sa.event.listens_for(engine, "commit")
    def drop(_: sa.Connection) -> None:
        drop_others(server)

    with pytest.raises(InputError, match="must be reachable and writable"):
        steps[step](dropping)
    assert server.events() == before
    steps[step](server)
    assert len(server.events()) == len(before) + 1
    assert server.verify() is None
