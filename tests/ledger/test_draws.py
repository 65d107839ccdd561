"""Draws in the ledger: booked for ever, opened again for nothing, and old ledgers count as they did."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.ledger.checkpoint import checkpoint_of, checkpoint_text, parse_checkpoint
from anon_pipeline.ledger.draws import finished_draws, reopen
from anon_pipeline.ledger.fence import close
from anon_pipeline.ledger.recovery import unknown_releases
from anon_pipeline.ledger.requests import Asked
from anon_pipeline.ledger.store import EVENTS

Ask = Callable[..., Asked]
DRAW, ID = "c" * 64, "a" * 32


def drawn(book: Ledger, asked: Asked, release_id: str = ID) -> str:
    return book.open(asked, release_id=release_id, draw=DRAW)


def give_up(book: Ledger, release_id: str = ID) -> None:
    seen = release_states(book.events())[release_id].last.hash
    close(book, release_id, seen=seen, there=lambda: False)


def kinds(book: Ledger) -> list[str]:
    return [event.event for event in book.events()]


def test_a_draw_is_marked_in_the_step_that_books_it(book: Ledger, asked: Ask) -> None:
    assert drawn(book, asked()) == ID
    first, second = book.events()
    assert (first.event, first.data_digest, second.event, second.data_digest) == (
        "drawn",
        DRAW,
        "opened",
        None,
    )
    assert first.at == second.at
    state = release_states(book.events())[ID]
    assert (state.name, state.begun, state.drawn_at) == ("open", None, first.at)
    assert book.verify() is None


def test_a_draw_beyond_the_budget_enters_nothing(book: Ledger, asked: Ask) -> None:
    with pytest.raises(GateRefused, match="spent 0, requested 2"):
        drawn(book, asked("2", 1))
    assert book.events() == []


def test_an_id_is_of_one_draw(book: Ledger, asked: Ask) -> None:
    drawn(book, asked())
    with pytest.raises(InputError, match="must be of no other release"):
        drawn(book, asked())
    assert len(book.events()) == 2


@pytest.mark.parametrize("end", ["failed", "closed", "open", "withdrawn"])
def test_a_draw_stays_spent_whatever_becomes_of_it(book: Ledger, asked: Ask, end: str) -> None:
    drawn(book, asked("2", 3))
    if end == "withdrawn":
        book.begin(ID, asked("2", 3), "digest")
        book.enter_published(ID, "digest")
        book.withdraw(ID)
    elif end != "open":
        assert book.enter_failed(ID)
        if end == "closed":
            give_up(book)
    with pytest.raises(GateRefused, match="spent 2, requested 2, remaining 1"):
        drawn(book, asked("2", 3), "b" * 32)


def test_a_release_of_0_1_0_that_failed_gives_back_as_it_did(book: Ledger, asked: Ask) -> None:
    assert book.enter_failed(book.open(asked("2", 3)))
    assert drawn(book, asked("2", 3))


def test_a_draw_that_failed_is_opened_again_for_nothing(book: Ledger, asked: Ask) -> None:
    drawn(book, asked("2", 2))
    for _ in range(3):
        assert book.enter_failed(ID)
        assert reopen(book, ID, asked("2", 2), DRAW)
    assert kinds(book) == ["drawn", "opened", *["failed", "opened"] * 3]
    assert len(release_states(book.events())) == 1


def test_a_draw_that_is_published_withdrawn_or_given_up_is_over(book: Ledger, asked: Ask) -> None:
    ids = [f"{i:032x}" for i in range(4)]
    for release_id in ids:
        drawn(book, asked(), release_id)
    book.begin(ids[0], asked(), "digest")
    book.enter_published(ids[0], "digest")
    book.begin(ids[1], asked(), "digest")
    book.enter_published(ids[1], "digest")
    book.withdraw(ids[1])
    give_up(book, ids[2])
    assert finished_draws(book, [*ids, "f" * 32]) == {*ids[:3]}  # what is unknown may be another ledger's
    before = len(book.events())
    assert [reopen(book, release_id, asked(), DRAW) for release_id in (*ids[:3], "f" * 32)] == [False] * 4
    assert len(book.events()) == before
    with pytest.raises(GateRefused, match="was closed as failed"):
        book.begin(ids[2], asked(), "digest")
    for release_id in ids[:3]:
        with pytest.raises(InputError, match="changed since it was looked up"):
            give_up(book, release_id)


def test_another_key_under_a_booked_id_is_refused(book: Ledger, asked: Ask) -> None:
    drawn(book, asked())
    with pytest.raises(InputError, match="must be the one that the ledger has booked"):
        reopen(book, ID, asked(), "d" * 64)


def test_a_draw_is_used_for_what_it_was_opened_for(book: Ledger, asked: Ask) -> None:
    drawn(book, asked())
    with pytest.raises(GateRefused, match="opened in the ledger with another partition"):
        reopen(book, ID, asked(partition="w2"), DRAW)


def test_what_another_run_is_writing_is_left_as_it_is(book: Ledger, asked: Ask) -> None:
    drawn(book, asked())
    book.begin(ID, asked(), "digest")
    before = kinds(book)
    assert reopen(book, ID, asked(), DRAW)
    assert kinds(book) == before


def test_noise_that_was_drawn_without_this_ledger_is_booked_when_it_is_written(
    book: Ledger, asked: Ask
) -> None:
    book.begin(ID, asked("2", 3), "digest")
    assert kinds(book) == ["drawn", "opened"]
    assert book.enter_failed(ID, begun=True)
    assert not reopen(book, ID, asked("2", 3), DRAW)  # whose key the ledger has never seen
    with pytest.raises(GateRefused, match="spent 2"):
        drawn(book, asked("2", 3), "b" * 32)


@pytest.mark.parametrize(("days", "fits"), [(6.9, False), (7.1, True)])
def test_a_refused_draw_counts_in_its_window(
    book: Ledger, asked: Ask, clock: Any, days: float, fits: bool
) -> None:
    limited = asked("2", 3, window=7)
    drawn(book, limited)
    book.enter_failed(ID)
    clock.now += timedelta(days=days)
    if fits:
        assert drawn(book, limited, "b" * 32)
        with pytest.raises(GateRefused, match="spent 2"):  # the first one, after the second
            reopen(book, ID, limited, DRAW)
    else:
        with pytest.raises(GateRefused, match="spent 2"):
            drawn(book, limited, "b" * 32)
        assert reopen(book, ID, limited, DRAW)


def test_an_open_draw_counts_whatever_its_age(book: Ledger, asked: Ask, clock: Any) -> None:
    drawn(book, asked("2", 3, window=7))
    clock.now += timedelta(days=400)
    with pytest.raises(GateRefused, match="spent 2"):
        drawn(book, asked("2", 3, window=7), "b" * 32)


def test_the_clock_set_back_inside_a_step_does_not_turn_the_chain(
    book: Ledger, asked: Ask, clock: Any
) -> None:
    def backwards() -> Any:
        clock.now -= timedelta(seconds=1)
        return clock.now

    drawn(replace(book, now=backwards), asked())
    times = [event.at for event in book.events()]
    assert times == sorted(times)


@pytest.mark.parametrize("every", [1, 2, 3, 500])
def test_a_checkpoint_knows_the_draws(book: Ledger, asked: Ask, every: int) -> None:
    """A step that reads the checkpoint decides as one that reads all events."""
    quick = replace(book, every=every)
    for i in range(6):
        drawn(quick, asked("1", 9), f"{i:032x}")
        quick.enter_failed(f"{i:032x}")
    with pytest.raises(GateRefused, match="spent 6, requested 4, remaining 3"):
        quick.open(asked("4", 9))
    assert finished_draws(quick, [f"{i:032x}" for i in range(7)]) == set()
    assert unknown_releases(quick, [f"{i:032x}" for i in range(7)]) == [f"{6:032x}"]
    assert quick.verify() is None


def test_the_checkpoint_of_a_ledger_of_0_1_0_reads_as_it_was_written(book: Ledger, asked: Ask) -> None:
    for end in ("published", "failed"):
        release_id = book.open(asked())
        book.begin(release_id, asked(), "digest")
        book.enter_published(release_id, "digest") if end == "published" else book.enter_failed(
            release_id, begun=True
        )
    text = checkpoint_text(checkpoint_of(book.events()))
    assert "drawn" not in text
    assert checkpoint_text(parse_checkpoint(text)) == text
    drawn(book, asked())
    later = checkpoint_text(checkpoint_of(book.events()))
    assert json.loads(later)["drawn_at"] == {ID: book.events()[-1].at}
    assert checkpoint_text(parse_checkpoint(later)) == later


def test_a_mark_that_is_taken_away_or_put_on_is_found(book: Ledger, asked: Ask) -> None:
    drawn(book, asked("2", 3))
    book.enter_failed(ID)
    with book.store.writing() as connection:
        for trigger in ("UPDATE", "DELETE"):
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql(f"DROP TRIGGER anon_pipeline_no_{trigger}")
        if connection.dialect.name != "sqlite":
            connection.exec_driver_sql("DROP TRIGGER anon_pipeline_no_change ON anon_pipeline_events")
        connection.execute(sa.update(EVENTS).where(EVENTS.c.seq == 1).values(event="failed"))
    for step in (
        lambda: drawn(book, asked("2", 3), "b" * 32),
        lambda: reopen(book, ID, asked("2", 3), DRAW),
        lambda: finished_draws(book, [ID]),
    ):
        with pytest.raises(InputError, match="tampered with, at event 1"):
            step()
