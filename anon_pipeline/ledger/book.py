"""What happens to a release, written down: opened, published, failed, withdrawn; refused beyond its budget.

Each step reads and verifies what it needs (`page`), decides and appends, in one transaction that no other
writer shares.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from typing import Any

from anon_pipeline.base.errors import InputError
from anon_pipeline.ledger.budget import State
from anon_pipeline.ledger.chain import Broken, Event, Kind
from anon_pipeline.ledger.kinds import refuse_another_kind
from anon_pipeline.ledger.owner import current_owner
from anon_pipeline.ledger.page import EVERY, Page, open_page, read_all, read_verified
from anon_pipeline.ledger.requests import (
    Asked,
    raise_if_late,
    refuse_another,
    refuse_beyond_budget,
    refuse_other_rows,
    requested_in,
)
from anon_pipeline.ledger.required_memory import named_by
from anon_pipeline.ledger.store import (
    Store,
    events_and_head,
    events_of,
    published_elsewhere,
    published_in,
    published_of,
    store_at,
)
from anon_pipeline.ledger.tables import paid_tables, refuse_another_table, tables_of


@dataclass(frozen=True, slots=True, eq=False)
class Ledger:
    """The ledger of a deployment.

    store: its database.
    run: of the orchestrator, for the owner of what is opened.
    now: the clock, in UTC.
    every: events after which a step verifies all and makes a checkpoint.
    """

    store: Store
    run: str = ""
    now: Callable[[], datetime] = field(default=partial(datetime.now, UTC))
    every: int = EVERY

    def open(self, asked: Asked, *, release_id: str | None = None, draw: str | None = None) -> str:
        """Open a release before its noise is drawn.

        Args:
            asked: with the ε that it spends.
            release_id: of the draw; None: a new one.
            draw: commitment of the draw whose key is sealed; its ε is then spent, whatever becomes of it.
                None for a release without noise.
        Raises:
            GateRefused: the budget does not hold what is asked.
            InputError: the ledger cannot be written, or has been tampered with.
        """
        release_id = release_id or uuid.uuid4().hex
        with self.page() as page:
            if page.state(release_id) is not None:
                raise InputError(f"the id {release_id} must be of no other release: the ledger knows it")
            self.refuse_what_does_not_fit(page, release_id, asked)
            if draw is not None:
                self.add(page, release_id, "drawn", asked, draw)
            self.add(page, release_id, "opened", asked)
        return release_id

    def begin(self, release_id: str, asked: Asked, data_digest: str, rows_digest: str | None = None) -> str:
        """Enter that a table is about to be written; from here on it may be at the destination.

        A release that had failed, or that this ledger does not know, is opened here, within its budget.
        One that somebody has closed is not. One that is published may be written again with the rows that it
        was published with first; a new order of them is entered, so that `enter_found` knows its table.

        Args:
            release_id: what `open` returned.
            asked: as when it was opened; without noise the limits of the gate may be others.
            rows_digest: of its rows, whatever their order; None where they are not known.
        Returns:
            The fencing token: the hash of the release's last event. It is good until the next one.
        Raises:
            GateRefused: withdrawn, closed, opened for something else, published with other rows, or beyond
                the budget.
        """
        with self.page() as page:
            state = page.state(release_id)
            if state is not None:
                refuse_another(state, asked)
            self.refuse_what_does_not_fit(page, release_id, asked)
            if state is None and Fraction(asked.epsilon):  # drawn without this ledger: it is booked now
                self.add(page, release_id, "drawn", asked)
            if state is not None and state.published_at is not None:
                first = tables_of(page, release_id).first
                refuse_other_rows(first, data_digest, rows_digest)
                if state.last.data_digest == data_digest:
                    return state.last.hash
                rows_digest = first.rows_digest
            return self.add(page, release_id, "opened", asked, data_digest, rows_digest=rows_digest)

    def enter_published(self, release_id: str, data_digest: str) -> None:
        """Enter that a table is at the destination, if that is not what the ledger says already.

        Raises:
            InputError: the ledger does not know the release, or has published another table under its id; or
                had it as failed or withdrawn: then it is entered all the same, because it is out.
        """
        with self.page() as page:
            late = self._enter_published(page, page.known_state(release_id), data_digest)
        raise_if_late(late)

    def enter_failed(self, release_id: str, *, begun: bool = False, token: str | None = None) -> bool:
        """Enter that nothing was written, if the release is open and that can be known.

        The ε of its noise stays spent, if the noise was drawn: see `budget.Entry.counts`.

        Args:
            begun: also when writing had begun: the caller has looked at the destination.
            token: what `begin` returned; nothing is entered if something has happened to the release since.
        Returns:
            Whether the release is failed now.
        """
        with self.page() as page:
            state = page.state(release_id)
            if state is None or state.published_at is not None or state.last.event != "opened":
                return state is not None and state.last.event == "failed"
            if (state.begun is not None and not begun) or token not in (None, state.last.hash):
                return False
            self.add(page, release_id, "failed", requested_in(state.last))
            return True

    def withdraw(self, release_id: str) -> None:
        """Enter that a published release was taken back; its ε stays spent.

        Raises:
            InputError: it is not published.
        """
        with self.page() as page:
            state = page.known_state(release_id)
            last, out = state.last, state.last.data_digest
            if state.is_opened_again:
                out = tables_of(page, release_id).last.data_digest
            elif last.event != "published":
                raise InputError(f"only a published release can be withdrawn, {release_id} is {state.name}")
            rows = last.rows_digest
            self.add(page, release_id, "withdrawn", requested_in(last), out, rows_digest=rows)

    def enter_found(self, manifest: Mapping[str, Any] | None) -> bool:
        """Enter as published what a manifest at a destination shows: a crash may have kept it from us.

        Args:
            manifest: of the destination, None where there is none.
        Returns:
            Whether the ledger knows the release; yes where the manifest names none.
        Raises:
            InputError: the ledger had it as failed, it is entered as published now; or the id is published,
                and the manifest names another table: nothing is entered.
        """
        release_id, digest = named_by(manifest)
        if release_id is None or digest is None:
            return True
        with self.page() as page:
            state = page.state(release_id)
            if state is None or state.last.event == "withdrawn":
                return state is not None
            late = self._enter_published(page, state, digest)
        raise_if_late(late)
        return True

    def events(self) -> list[Event]:
        """Read all events, in their order."""
        with self.store.reading() as connection:
            return events_and_head(connection)[0]

    def events_of(self, release_id: str) -> list[Event]:
        """Read the events of a release, in their order; the chain is not verified."""
        with self.store.reading() as connection:
            return events_of(connection, release_id)

    def knows(self, release_id: str) -> bool:
        """Tell whether a release was ever opened here."""
        return any(event.release_id == release_id for event in self.events())

    def tables(self, asked: Asked) -> frozenset[tuple[str, str]]:
        """Return id and table's digest of what was published by releases that add up with what is asked.

        What is among them is not paid for again, so all events are verified, not those of the step alone.

        Args:
            asked: its dataset, and its partition where the budget is per record.
        Raises:
            InputError: the ledger has been tampered with.
        """
        with self.store.reading() as connection:
            events = read_all(connection, self.store.shown)
        return paid_tables(events, asked)

    def has_columns_elsewhere(self, asked: Asked) -> bool:
        """Tell whether a release of another dataset was published of a source with the same columns.

        It is asked for advice only, so the chain is not verified.
        """
        with self.store.reading() as connection:
            return published_elsewhere(connection, asked.source_columns, dataset=asked.dataset)

    def published_in(self, datasets: Collection[str]) -> list[Event]:
        """Return the publications of some datasets, also of releases that were withdrawn.

        It is asked for advice only, so the chain is not verified.
        """
        with self.store.reading() as connection:
            return published_in(connection, datasets)

    def has_published(self, asked: Asked) -> bool:
        """Tell whether a release of the dataset was ever published; the chain is not verified."""
        with self.store.reading() as connection:
            return published_of(connection, asked.dataset)

    def verify(self, *, contains: str | None = None) -> Broken | None:
        """Find where the chain breaks first, see `read_and_verify`."""
        return self.read_and_verify(contains=contains)[1]

    def read_and_verify(self, *, contains: str | None = None) -> tuple[list[Event], Broken | None]:
        """Read all events, and find where their chain breaks first, or that the checkpoint is not of them.

        Args:
            contains: hash of an event that was noted elsewhere, which must still be there: whoever can
                write to the database can make a whole new chain.
        """
        with self.store.reading() as connection:
            events, broken = read_verified(connection)
        if broken is None and contains is not None and contains not in {event.hash for event in events}:
            broken = Broken(0, "the hash that was noted must be the hash of an event: it is of none")
        return events, broken

    @contextmanager
    def page(self) -> Iterator[Page]:
        """Open the ledger's one transaction that may write now, see `store.Store.writing`."""
        with self.store.writing() as connection:
            yield open_page(connection, self.store.shown)

    def refuse_what_does_not_fit(self, page: Page, release_id: str, asked: Asked) -> None:
        """Refuse what is beyond the budget, and partitions of another kind than the dataset's."""
        refuse_another_kind(page.others(release_id), asked, now=self.now())
        refuse_beyond_budget(page.others(release_id), asked, now=self.now())

    def _enter_published(self, page: Page, state: State, data_digest: str) -> State | None:
        """Enter that a table is out; return the state it had if that was failed or withdrawn.

        The rows that its ε pays for are those that were begun, and stay those of the first table.

        Raises:
            InputError: it was published with another table: one id never stands for two.
        """
        last = state.last
        if (last.event, last.data_digest) == ("published", data_digest):
            return None
        if state.published_at is not None:
            refuse_another_table(tables_of(page, last.release_id), data_digest)
        late = last.event in ("failed", "withdrawn")
        note = f"after {last.event}" if late else None
        paid = last.data_digest == data_digest or state.published_at is not None
        rows = last.rows_digest if paid else None
        self.add(
            page, last.release_id, "published", requested_in(last), data_digest, rows_digest=rows, note=note
        )
        return state if late else None

    def add(  # noqa: PLR0913 - what happened to which release, and its table
        self,
        page: Page,
        release_id: str,
        kind: Kind,
        asked: Asked,
        data_digest: str | None = None,
        *,
        rows_digest: str | None = None,
        note: str | None = None,
    ) -> str:
        """Append an event to a page; return its hash. ``note``: what is unusual about it."""
        event = Event(
            0,
            release_id,
            "",
            kind,
            asked.dataset,
            asked.release,
            asked.partition,
            asked.policy_digest,
            asked.making,
            data_digest,
            asked.k,
            asked.epsilon,
            current_owner(self.run),
            partition_kind=asked.partition_kind,
            memory=asked.memory,
            note=note or asked.note_of(kind),
            rows_digest=rows_digest,
            source_columns=asked.source_columns,
        )
        return page.add(event, now=self.now(), every=self.every)


def ledger_at(url: str, *, run: str = "", make: bool = True) -> Ledger:
    """Open the ledger of a deployment, see `store.store_at`."""
    return Ledger(store_at(url, make=make), run)
