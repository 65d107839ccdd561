"""The ledger as it is in one transaction: verified, folded into states, ready for the next event.

A step verifies the events after the checkpoint, and that the chain names this checkpoint; after `EVERY`
events one verifies them all and makes the next.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NoReturn

import sqlalchemy as sa

from anon_pipeline.base.errors import InputError
from anon_pipeline.ledger.budget import Entry, State, release_states
from anon_pipeline.ledger.chain import Broken, Event, Head, broken_at, seal_event
from anon_pipeline.ledger.checkpoint import (
    Checkpoint,
    checkpoint_digest,
    checkpoint_of,
    checkpoint_text,
    parse_checkpoint,
)
from anon_pipeline.ledger.store import (
    append,
    count_events,
    event_at,
    events_and_head,
    read_checkpoint,
    read_head,
    write_checkpoint,
)

EVERY = 500
"""Events after which a checkpoint is made."""


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """The releases in one transaction, to which the events of one step are added.

    head: the last event before the step.
    last_at: its time.
    recent: states of the releases with events after the checkpoint; all of them where there is none.
    since: how many events there are after it.
    """

    connection: sa.Connection
    shown: str
    head: Head
    last_at: str
    recent: dict[str, State]
    since: int
    checkpoint: Checkpoint | None

    def state(self, release_id: str) -> State | None:
        """Return the state of a release, None if the ledger does not know it.

        Raises:
            InputError: its last event is not what it was when the checkpoint was made.
        """
        if release_id in self.recent or self.checkpoint is None or release_id not in self.checkpoint.at:
            return self.recent.get(release_id)
        kept, i = self.checkpoint, self.checkpoint.at[release_id]
        event = event_at(self.connection, kept.seq[i])
        if event is None or not event.hash == event.digest() == kept.hash[i]:
            _refuse(Broken(kept.seq[i], "is not the event that the checkpoint has seen"), self.shown)
        return State(event, kept.published_at[i], kept.begun[i], kept.drawn_at.get(release_id))

    def known_state(self, release_id: str) -> State:
        """Return the state of a release that the ledger must know.

        Raises:
            InputError: it does not.
        """
        state = self.state(release_id)
        if state is None:
            raise InputError(f"the ledger does not know the release {release_id}")
        return state

    def others(self, release_id: str) -> Iterator[Entry]:
        """Yield what the budget looks at, of all releases but one."""
        if self.checkpoint is not None:
            for key, entry in self.checkpoint.entries():
                if key != release_id and key not in self.recent:
                    yield entry
        for key, state in self.recent.items():
            if key != release_id:
                yield state.entry

    def unknown(self, release_ids: Iterable[str]) -> list[str]:
        """Return those of these releases that were never opened here."""
        earlier: Container[str] = () if self.checkpoint is None else self.checkpoint.at
        return [key for key in release_ids if key not in self.recent and key not in earlier]

    def add(self, event: Event, *, now: datetime, every: int = EVERY) -> str:
        """Append an event; its time never goes back, whatever the clock does.

        Args:
            event: without its number, time and links.
            now: the clock, in UTC.
            every: events after which a checkpoint is made first.
        Raises:
            InputError: a checkpoint is due, and an event before the last one has been changed.
        """
        head = read_head(self.connection)
        before = None if head == self.head else event_at(self.connection, head.seq)  # of this step
        at = max(now.isoformat(timespec="microseconds"), self.last_at if before is None else before.at)
        named = self._make_checkpoint() if before is None and self.since >= every else None
        added = seal_event(replace(event, at=at, checkpoint=named), head)
        append(self.connection, added)
        return added.hash

    def _make_checkpoint(self) -> str:
        """Verify all events, make their checkpoint, and return its digest."""
        events = read_all(self.connection, self.shown)
        text = checkpoint_text(checkpoint_of(events))
        write_checkpoint(self.connection, events[-1].seq, text)
        return checkpoint_digest(text)


def open_page(connection: sa.Connection, shown: str) -> Page:
    """Read what a step needs, and verify what it reads.

    Args:
        connection: in the transaction that nobody else writes in.
    Raises:
        InputError: it was tampered with.
    """
    kept = read_checkpoint(connection)
    if kept is None:
        checkpoint = None
        events, head = events_and_head(connection)
        broken = broken_at(events, head)
    else:
        events, head = events_and_head(connection, after=kept[0])
        broken = _misfit(events, *kept)
        checkpoint = None if broken else parse_checkpoint(kept[1])
        if checkpoint is not None:
            broken = broken_at(events, head, checkpoint.head)
            if broken is None and count_events(connection) != head.seq:
                broken = read_verified(connection)[1]
    if broken is not None:
        _refuse(broken, shown)
    earlier = {} if checkpoint is None else checkpoint.earlier({event.release_id for event in events})
    last_at = events[-1].at if events else ""
    return Page(connection, shown, head, last_at, release_states(events, earlier), len(events), checkpoint)


def read_verified(connection: sa.Connection) -> tuple[list[Event], Broken | None]:
    """Read all events and find where their chain breaks first, or that the checkpoint is not of them."""
    events, head = events_and_head(connection)
    broken, kept = broken_at(events, head), read_checkpoint(connection)
    if broken is None and kept is not None:
        seq, text = kept
        broken = _misfit(events[seq:], seq, text)
        if broken is None and checkpoint_text(checkpoint_of(events[:seq])) != text:
            broken = Broken(seq + 1, "it names a checkpoint that does not cover the events before it")
    return events, broken


def read_all(connection: sa.Connection, shown: str) -> list[Event]:
    """Read all events.

    Raises:
        InputError: they were tampered with.
    """
    events, broken = read_verified(connection)
    if broken is not None:
        _refuse(broken, shown)
    return events


def _misfit(events: list[Event], seq: int, text: str) -> Broken | None:
    """Tell whether the event after a checkpoint names another one, or is not there."""
    if events and events[0].checkpoint == checkpoint_digest(text):
        return None
    return Broken(seq + 1, "does not name the checkpoint that is kept: one of them was changed")


def _refuse(broken: Broken, shown: str) -> NoReturn:
    raise InputError(
        f"the ledger {shown} was tampered with, at event {broken.seq}: {broken.reason}. "
        f"Nothing is released until it is restored."
    )
