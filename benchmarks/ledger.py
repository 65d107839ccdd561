"""What a step of the ledger takes: ``python -m benchmarks.ledger [EVENTS …]``.

Belongs here: making a long history, timing steps on it. Does not belong here: whether they are right (tests).

In SQLite, and in PostgreSQL where ``ANON_PIPELINE_TEST_POSTGRES`` names a server.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final
from uuid import uuid4

import sqlalchemy as sa

from anon_pipeline.ledger import Asked, Ledger, ledger_at
from anon_pipeline.ledger.chain import Event, Head, Kind, seal_event
from anon_pipeline.ledger.store import EVENTS, HEAD
from anon_pipeline.policy.sections import Budget

_TARGETS: Final = {10_000: 0.020, 100_000: 0.100}
_KINDS: Final[tuple[Kind, Kind, Kind]] = ("opened", "opened", "published")
_STEPS: Final = 15


def history(n: int) -> list[Event]:
    """Make a chain of n events: releases of one dataset that were opened, begun and published."""
    events: list[Event] = []
    head = Head()
    for i in range(n):
        at = f"2026-01-{i // 4000 + 1:02}T00:00:00.{i:06}+00:00"
        digest = None if i % 3 == 0 else f"{i // 3:064x}"
        event = Event(
            0, f"{i // 3:032x}", at, _KINDS[i % 3], "people", "people", f"w{i // 300}", "p" * 64, "m" * 64,
            digest, 5, "0.1", "host.example/12345/3f0c9a52",
        )  # fmt: skip
        events.append(seal_event(event, head))
        head = Head(events[-1].seq, events[-1].hash)
    return events


def _fill(book: Ledger, events: Sequence[Event]) -> None:
    with book.store.writing() as connection:
        connection.execute(sa.insert(EVENTS), [asdict(event) for event in events])
        connection.execute(sa.insert(HEAD).values(id=1, seq=events[-1].seq, hash=events[-1].hash))


def _seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _row(name: str, book: Ledger, n: int) -> bool:
    """Print a row; return whether the target is met."""
    _fill(book, history(n))
    asked = Asked("people", "people", "w1", "p" * 64, "m" * 64, 5, "0.1", Budget(epsilon=1e6, window=30))
    making = _seconds(lambda: book.open(asked))
    steps = [_seconds(lambda: book.open(asked)) for _ in range(_STEPS)]
    for _ in range(book.every - _STEPS - 5):  # the longest way from the last checkpoint
        book.open(asked)
    late = median(_seconds(lambda: book.open(asked)) for _ in range(3))
    verifying = _seconds(book.verify)
    target = _TARGETS.get(n)
    print(
        f"{name:12}{n:>9,}{median(steps) * 1e3:>10.1f}{late * 1e3:>14.1f}{making * 1e3:>18.0f}"
        f"{verifying * 1e3:>12.0f}{'' if target is None else f'{target * 1e3:.0f}':>10}",
        flush=True,
    )
    return target is None or max(late, median(steps)) <= target


@contextmanager
def _database(server: str) -> Iterator[str]:
    """Make a database on a server, and drop it."""
    name = f"ledger_{uuid4().hex}"
    place = sa.make_url(server).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(place, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    try:
        yield sa.make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


def main(arguments: Sequence[str]) -> int:
    """Print the table; return 1 if a target is missed."""
    headings = f"{'a step':>10}{'the slowest':>14}{'with checkpoint':>18}{'verify':>12}{'target':>10}"
    print(f"{'ms':12}{'events':>9}{headings}")
    met = []
    server = os.environ.get("ANON_PIPELINE_TEST_POSTGRES")
    for n in [int(text) for text in arguments] or list(_TARGETS):
        with tempfile.TemporaryDirectory() as folder:
            met.append(_row("SQLite", ledger_at(f"sqlite:///{Path(folder) / 'ledger.sqlite'}"), n))
        if server:
            with _database(server) as url:
                met.append(_row("PostgreSQL", ledger_at(url), n))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
