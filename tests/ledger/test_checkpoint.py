"""The checkpoint: a step that does not read the past decides as one that does, and nobody can make it lie."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.ledger import page as page_module
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.ledger.chain import Event, Head, head_of, seal_event
from anon_pipeline.ledger.checkpoint import (
    checkpoint_digest,
    checkpoint_of,
    checkpoint_text,
    parse_checkpoint,
)
from anon_pipeline.ledger.requests import Asked
from anon_pipeline.ledger.store import CHECKPOINT, EVENTS, HEAD, Store

Ask = Callable[..., Asked]


@pytest.fixture
def quick(book: Ledger) -> Ledger:
    """A ledger that makes a checkpoint after each five events."""
    return replace(book, every=5)


def publish(book: Ledger, asked: Asked) -> str:
    release_id = book.open(asked)
    book.begin(release_id, asked, f"digest {release_id}", f"rows {release_id}")
    book.enter_published(release_id, f"digest {release_id}")
    return release_id


def tamper(store: Store, *statements: str) -> None:
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


def body_of(store: Store) -> str:
    with store.reading() as connection:
        return str(connection.exec_driver_sql("SELECT body FROM anon_pipeline_checkpoint").scalar_one())


def test_a_checkpoint_is_made_after_so_many_events_and_named_by_the_next(quick: Ledger, asked: Ask) -> None:
    for _ in range(4):
        publish(quick, asked())
    events = quick.events()
    assert [event.seq for event in events if event.checkpoint] == [6, 11]
    assert events[10].checkpoint == checkpoint_digest(body_of(quick.store))
    assert quick.verify() is None


def test_a_step_reads_only_what_came_after(
    quick: Ledger, asked: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(4):
        publish(quick, asked())
    read: list[int | None] = []
    original = page_module.events_and_head

    def noting(connection: object, **options: int) -> tuple[list[Event], Head]:
        events, head = original(connection, **options)  # type: ignore[arg-type]
        read.append(len(events))
        return events, head

    monkeypatch.setattr(page_module, "events_and_head", noting)
    quick.open(asked())
    assert read == [2]  # events 11 and 12


@pytest.mark.parametrize("every", [1, 2, 3, 500])
def test_every_decision_is_as_without_checkpoints(
    book: Ledger, asked: Ask, clock: Callable[[], object], every: int
) -> None:
    book = replace(book, every=every)
    first = publish(book, asked("1", partition="w1"))
    second = book.open(asked("0.5", partition="w1"))
    third = publish(book, asked("0.25", dataset="others"))
    clock.now += timedelta(days=40)  # type: ignore[attr-defined]
    for _ in range(3):
        publish(book, asked("0.1", partition="w2"))
    for limit, options in (
        (1.8, {}),  # 1 + 0.5 + 3 · 0.1
        (0.8, {"window": 30}),  # what is open counts whatever its age
        (0.3, {"per": "record", "partition": "w2"}),
        (1, {"per": "record", "partition": "w1"}),
        (0.25, {"dataset": "others"}),
    ):
        with pytest.raises(GateRefused, match="remaining 0"):
            book.open(asked("0.01", limit, **options))
    assert not book.enter_failed(first, begun=True)
    assert book.enter_failed(second)
    with pytest.raises(GateRefused, match=r"spent 1\.3"):
        book.open(asked("0.01", 1.3))
    with pytest.raises(GateRefused, match="with another epsilon"):
        book.begin(first, asked("9", partition="w1"), "digest")
    book.withdraw(third)
    with pytest.raises(GateRefused, match="was withdrawn"):
        book.begin(third, asked("0.25", dataset="others"), "digest")
    book.begin(first, asked("1", 1.3, partition="w1"), "again", f"rows {first}")
    book.enter_published(first, "again")
    with pytest.raises(GateRefused, match=r"spent 1\.3"):
        book.open(asked("0.01", 1.3, window=30))
    assert book.verify() is None
    assert len(release_states(book.events())) == 6


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept["published_at"].__setitem__(0, None),
        lambda kept: kept["event"].__setitem__(0, "failed"),
        lambda kept: kept["groups"].__setitem__(0, ["people", None, "0"]),
        lambda kept: kept["id"].__setitem__(0, "f" * 32),
    ],
)
def test_a_forged_checkpoint_stops_the_next_step(
    quick: Ledger, asked: Ask, change: Callable[[dict[str, list[object]]], None]
) -> None:
    for _ in range(3):
        publish(quick, asked())
    kept = json.loads(body_of(quick.store))
    change(kept)
    forged = json.dumps(kept, separators=(",", ":")).replace("'", "''")
    tamper(quick.store, f"UPDATE anon_pipeline_checkpoint SET body = '{forged}'")
    with pytest.raises(InputError, match="tampered with, at event 6: does not name the checkpoint"):
        quick.open(asked())
    broken = quick.verify()
    assert broken is not None
    assert broken.seq == 6


def test_a_forged_checkpoint_with_a_chain_made_to_fit_is_found_by_verify(quick: Ledger, asked: Ask) -> None:
    for _ in range(3):
        publish(quick, asked())
    events, kept = quick.events(), json.loads(body_of(quick.store))
    noted = events[-1].hash
    kept["groups"][0][2] = "0"
    forged = json.dumps(kept, separators=(",", ":"))
    chain = events[:5]
    for event in events[5:]:
        named = checkpoint_digest(forged) if event.checkpoint else None
        chain.append(seal_event(replace(event, checkpoint=named), head_of(chain)))
    tamper(quick.store)
    with quick.store.writing() as connection:
        connection.execute(sa.delete(EVENTS))
        connection.execute(sa.insert(EVENTS), [asdict(event) for event in chain])
        connection.execute(sa.update(HEAD).values(hash=chain[-1].hash))
        connection.execute(sa.update(CHECKPOINT).values(body=forged))
    quick.open(asked())  # nothing that a step reads shows it: whoever can do this can make a whole new chain
    broken = quick.verify()
    assert broken is not None
    assert (broken.seq, "does not cover the events before it" in broken.reason) == (6, True)
    assert noted not in {event.hash for event in quick.events()}


@pytest.mark.parametrize(
    ("statements", "at"),
    [
        (["UPDATE anon_pipeline_events SET epsilon = '0' WHERE seq = 8"], 8),
        (["DELETE FROM anon_pipeline_events WHERE seq = 3"], 3),
        (["DELETE FROM anon_pipeline_events WHERE seq = 9"], 9),
        (["DELETE FROM anon_pipeline_head"], 10),
        (["UPDATE anon_pipeline_events SET checkpoint = NULL WHERE seq = 6"], 6),
        (["UPDATE anon_pipeline_checkpoint SET seq = 7"], 8),
        (["UPDATE anon_pipeline_head SET seq = 5, "
          "hash = (SELECT hash FROM anon_pipeline_events WHERE seq = 5)",
          "DELETE FROM anon_pipeline_events WHERE seq > 5"], 6),
    ],
)  # fmt: skip
def test_what_is_still_found_at_once(quick: Ledger, asked: Ask, statements: list[str], at: int) -> None:
    for _ in range(3):
        publish(quick, asked())
    tamper(quick.store, *statements)
    with pytest.raises(InputError, match=f"tampered with, at event {at}"):
        quick.open(asked())
    assert quick.verify() is not None


def test_an_old_event_that_a_step_asks_for_is_verified(quick: Ledger, asked: Ask) -> None:
    first = publish(quick, asked())
    for _ in range(2):
        publish(quick, asked())
    event = quick.events()[2]
    forged = replace(event, event="opened")
    tamper(
        quick.store,
        f"UPDATE anon_pipeline_events SET event = 'opened', hash = '{forged.digest()}' WHERE seq = 3",
    )
    with pytest.raises(InputError, match="at event 3: is not the event that the checkpoint has seen"):
        quick.enter_failed(first, begun=True)


def test_an_old_event_that_is_edited_changes_no_sum_and_is_found_by_verify_and_the_next_checkpoint(
    quick: Ledger, asked: Ask
) -> None:
    for _ in range(3):
        publish(quick, asked())
    tamper(quick.store, "UPDATE anon_pipeline_events SET epsilon = '0' WHERE seq = 2")
    with pytest.raises(GateRefused, match="spent 6"):
        quick.open(asked("1", 6))
    broken = quick.verify()
    assert broken is not None
    assert broken.seq == 2
    quick.open(asked())  # the tenth event: five after the checkpoint
    with pytest.raises(InputError, match="tampered with, at event 2"):
        quick.open(asked())


def test_without_its_checkpoint_a_step_verifies_all_and_makes_it_anew(quick: Ledger, asked: Ask) -> None:
    for _ in range(3):
        publish(quick, asked())
    tamper(quick.store, "DELETE FROM anon_pipeline_checkpoint")
    with pytest.raises(GateRefused, match="spent 6"):
        quick.open(asked("1", 6))
    quick.open(asked())
    assert quick.events()[-1].checkpoint == checkpoint_digest(body_of(quick.store))
    tamper_again = "UPDATE anon_pipeline_events SET epsilon = '0' WHERE seq = 1"
    with quick.store.writing() as connection:
        connection.exec_driver_sql("DELETE FROM anon_pipeline_checkpoint")
        connection.exec_driver_sql(tamper_again)
    with pytest.raises(InputError, match="tampered with, at event 1"):
        quick.open(asked())


def test_a_checkpoint_that_was_put_back_is_only_slower(quick: Ledger, asked: Ask) -> None:
    for _ in range(3):
        publish(quick, asked())
    old = body_of(quick.store)
    for _ in range(3):
        publish(quick, asked())
    assert body_of(quick.store) != old
    escaped = old.replace("'", "''")
    tamper(quick.store, f"UPDATE anon_pipeline_checkpoint SET seq = 5, body = '{escaped}'")
    assert quick.verify() is None
    with pytest.raises(GateRefused, match="spent 12"):
        quick.open(asked("1", 12))


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    events: list[Event] = []
    for i in range(draw(st.integers(1, 12))):
        new = Event(
            0, draw(st.sampled_from("abc")), f"time {i:02}",
            draw(st.sampled_from(["drawn", "opened", "published", "failed", "withdrawn"])),
            draw(st.sampled_from(["people", "others é"])), "small", draw(st.none() | st.just("w1")), "p", "m",
            draw(st.none() | st.sampled_from(["d1", "d2"])), 5, draw(st.sampled_from(["1", "0.1"])), "o",
            partition_kind=draw(st.none() | st.just("weekly")), memory=draw(st.none() | st.just("person")),
            note=draw(st.none() | st.just("closed")), rows_digest=draw(st.none() | st.just("r")),
            source_columns=draw(st.none() | st.just("c")),
        )  # fmt: skip
        events.append(seal_event(new, head_of(events)))
    return events


@given(histories())
def test_a_checkpoint_is_the_fold_of_its_events_and_survives_its_text(events: list[Event]) -> None:
    read, found = parse_checkpoint(checkpoint_text(checkpoint_of(events))), release_states(events)
    assert checkpoint_text(read) == checkpoint_text(checkpoint_of(events))
    assert dict(read.entries()) == {key: state.entry for key, state in found.items()}
    assert read.earlier(["a", "b", "c", "x"]) == {
        k: (s.published_at, s.begun, s.drawn_at) for k, s in found.items()
    }
    assert [events[seq - 1].hash for seq in read.seq] == read.hash == [s.last.hash for s in found.values()]


@given(histories(), st.data())
def test_folding_on_is_folding_all(events: list[Event], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(events)))
    kept = checkpoint_of(events[:cut])
    later = release_states(events[cut:], kept.earlier(kept.at))
    assert later == {key: state for key, state in release_states(events).items() if key in later}


@given(histories(), st.none() | st.text(max_size=4))
def test_the_digest_is_that_of_the_canonical_json(events: list[Event], checkpoint: str | None) -> None:
    import hashlib

    event = replace(events[-1], checkpoint=checkpoint)
    document = {name: value for name, value in asdict(event).items() if name != "hash"}
    for name in ("checkpoint", "partition_kind", "memory", "note", "rows_digest", "source_columns"):
        if document[name] is None:
            del document[name]
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    assert event.digest() == hashlib.sha256(text.encode()).hexdigest()


def test_a_cell_of_another_type_breaks_the_chain_and_nothing_else(quick: Ledger, asked: Ask) -> None:
    if quick.store.engine.dialect.name != "sqlite":
        pytest.skip("only SQLite stores what a column is not")
    quick.open(asked())
    tamper(quick.store, "UPDATE anon_pipeline_events SET epsilon = x'00ff'")
    with pytest.raises(InputError, match="tampered with, at event 1"):
        quick.open(asked())


def test_what_is_not_paid_for_again_is_read_from_events_that_are_all_verified(
    quick: Ledger, asked: Ask
) -> None:
    for _ in range(3):
        publish(quick, asked())
    assert len(quick.tables(asked())) == 3
    tamper(quick.store, "UPDATE anon_pipeline_events SET data_digest = 'forged' WHERE seq = 3")
    with pytest.raises(InputError, match="tampered with, at event 3"):
        quick.tables(asked())
