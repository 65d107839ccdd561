"""What happens to a release, written down: drawn, opened, published, failed; refused beyond its budget.

Each step reads and verifies what it needs (`page`), decides and appends, in one transaction that no other
writer shares. Belongs here: which step may follow which. Does not belong here: databases (`store`),
destinations (`publish`).
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from anon_pipeline.errors import InputError
from anon_pipeline.ledger.asking import (
    Asked,
    asked_in,
    is_over,
    refuse_another,
    refuse_beyond_budget,
)
from anon_pipeline.ledger.budget import State, states
from anon_pipeline.ledger.chain import Broken, Event, Kind
from anon_pipeline.ledger.kinds import refuse_another_kind
from anon_pipeline.ledger.page import EVERY, Page, all_trusted, all_verified, page_in
from anon_pipeline.ledger.store import Store, events_and_head, store_at

__all__ = ["Ledger", "is_running", "ledger_at"]


def _clock() -> datetime:
    return datetime.now(UTC)


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
    now: Callable[[], datetime] = field(default=_clock)
    every: int = EVERY

    def open(self, asked: Asked, *, release_id: str | None = None, draw: str | None = None) -> str:
        """Open a release before its noise is drawn.

        Args:
            asked: with the ε that it spends.
            release_id: of the draw; None: a new one.
            draw: commitment of the draw whose key is sealed; its ε is then spent, whatever becomes of it.
                None for a release without noise.
        Returns:
            Its id.
        Raises:
            GateRefused: the budget does not hold what is asked.
            InputError: the ledger cannot be written, or has been tampered with.
        """
        release_id = release_id or uuid.uuid4().hex
        with self._page() as page:
            if page.state(release_id) is not None:
                raise InputError(f"the id {release_id} must be of no other release: the ledger knows it")
            self._refuse_what_does_not_fit(page, release_id, asked)
            if draw is not None:
                self._add(page, release_id, "drawn", asked, draw)
            self._add(page, release_id, "opened", asked)
        return release_id

    def again(self, release_id: str, asked: Asked, draw: str) -> bool:
        """Open the release of a draw again, for nothing, if it is booked, and not published or given up.

        All events are verified, not those of the step alone: what is found is not paid for again.

        Args:
            release_id: of the draw.
            asked: as when it was opened.
            draw: its commitment.
        Returns:
            Whether it is live, and open now.
        Raises:
            GateRefused: opened for something else; or it had failed, and its ε is beyond the budget by now.
            InputError: the ledger has booked another draw under this id, or has been tampered with.
        """
        with self._page() as page:
            events = all_trusted(page.connection, self.store.shown)
            state = states(events).get(release_id)
            booked = [e.data_digest for e in events if (e.release_id, e.event) == (release_id, "drawn")]
            if state is None or is_over(state) or booked == [None] or not booked:
                return False
            if booked != [draw]:
                raise InputError(
                    f"the draw {release_id} in the vault must be the one that the ledger has booked: it is "
                    f"another. Find out who can write to the vault, then: anon-pipeline ledger close "
                    f"{release_id} --as failed."
                )
            refuse_another(state, asked)
            self._refuse_what_does_not_fit(page, release_id, asked)
            if state.begun is None:  # what another run is writing stays as it has begun it
                self._add(page, release_id, "opened", asked)
            return True

    def over(self, release_ids: Iterable[str]) -> frozenset[str]:
        """Return those of some draws that must not be used any more: not booked here, published, given up."""
        with self._page() as page:
            found = {release_id: page.state(release_id) for release_id in release_ids}
        return frozenset(name for name, state in found.items() if state is None or is_over(state))

    def begin(self, release_id: str, asked: Asked, data_digest: str) -> None:
        """Enter that a table is about to be written; from here on it may be at the destination.

        A release that had failed, or that this ledger does not know, is opened here, within its budget.

        Args:
            release_id: what `open` returned.
            asked: as when it was opened, but for the limits of the gate.
            data_digest: of the table.
        Raises:
            GateRefused: withdrawn, opened for something else, or beyond the budget.
        """
        with self._page() as page:
            state = page.state(release_id)
            if state is not None:
                refuse_another(state, asked)
            self._refuse_what_does_not_fit(page, release_id, asked)
            if state is None and Fraction(asked.epsilon):  # drawn without this ledger: it is booked now
                self._add(page, release_id, "drawn", asked)
            if state is None or state.published_at is None:
                self._add(page, release_id, "opened", asked, data_digest)

    def published(self, release_id: str, data_digest: str) -> None:
        """Enter that a table is at the destination, if that is not what the ledger says already.

        Raises:
            InputError: the ledger does not know the release.
        """
        with self._page() as page:
            last = _known(page, release_id).last
            if (last.event, last.data_digest) != ("published", data_digest):
                self._add(page, release_id, "published", asked_in(last), data_digest)

    def failed(self, release_id: str, *, begun: bool = False) -> bool:
        """Enter that nothing was written, if the release is open and that can be known.

        The ε of its noise stays spent, if the noise was drawn: see `budget.Entry.counts`.

        Args:
            release_id: of the release.
            begun: also when writing had begun: the caller has looked at the destination.
        Returns:
            Whether the release is failed now.
        """
        with self._page() as page:
            state = page.state(release_id)
            if state is None or state.published_at is not None or state.last.event != "opened":
                return state is not None and state.last.event == "failed"
            if state.begun is not None and not begun:
                return False
            self._add(page, release_id, "failed", asked_in(state.last))
            return True

    def give_up(self, release_id: str) -> None:
        """Enter that a draw is never to be used again; its ε stays spent.

        Raises:
            InputError: it is no draw, or was published.
        """
        with self._page() as page:
            state = _known(page, release_id)
            if state.drawn_at is None or is_over(state):
                raise InputError(
                    f"only a draw that is not published can be given up, {release_id} is {state.name}"
                )
            self._add(page, release_id, "given_up", asked_in(state.last))

    def withdraw(self, release_id: str) -> None:
        """Enter that a published release was taken back; its ε stays spent.

        Raises:
            InputError: it is not published.
        """
        with self._page() as page:
            state = _known(page, release_id)
            last = state.last
            if last.event != "published":
                raise InputError(f"only a published release can be withdrawn, {release_id} is {state.name}")
            self._add(page, release_id, "withdrawn", asked_in(last), last.data_digest)

    def found(self, manifest: Mapping[str, Any] | None) -> None:
        """Enter as published what a manifest at a destination shows: a crash may have kept it from us.

        Args:
            manifest: of the destination, None where there is none.
        """
        release_id, digest = _named_by(manifest)
        if release_id is None or digest is None:
            return
        with self._page() as page:
            state = page.state(release_id)
            if state is None or state.last.event == "withdrawn":
                return
            if (state.last.event, state.last.data_digest) != ("published", digest):
                self._add(page, release_id, "published", asked_in(state.last), digest)

    def events(self) -> list[Event]:
        """Read all events, in their order."""
        with self.store.reading() as connection:
            return events_and_head(connection)[0]

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
            events = all_trusted(connection, self.store.shown)
        alone = asked.budget is not None and asked.budget.per == "record"
        return frozenset(
            (event.release_id, event.data_digest)
            for event in events
            if event.event == "published"
            and event.data_digest is not None
            and event.dataset == asked.dataset
            and (not alone or event.partition == asked.partition)
        )

    def verify(self, *, contains: str | None = None) -> Broken | None:
        """Find where the chain breaks first, see `verified`."""
        return self.verified(contains=contains)[1]

    def verified(self, *, contains: str | None = None) -> tuple[list[Event], Broken | None]:
        """Read all events, and find where their chain breaks first, or that the checkpoint is not of them.

        Args:
            contains: hash of an event that was noted elsewhere, which must still be there: whoever can
                write to the database can make a whole new chain.
        """
        with self.store.reading() as connection:
            events, broken = all_verified(connection)
        if broken is None and contains is not None and contains not in {event.hash for event in events}:
            broken = Broken(0, "the hash that was noted must be the hash of an event: it is of none")
        return events, broken

    @contextmanager
    def _page(self) -> Iterator[Page]:
        with self.store.writing() as connection:
            yield page_in(connection, self.store.shown)

    def _refuse_what_does_not_fit(self, page: Page, release_id: str, asked: Asked) -> None:
        """Refuse what is beyond the budget, and partitions of another kind than the dataset's."""
        refuse_another_kind(page.others(release_id), asked, now=self.now())
        refuse_beyond_budget(page.others(release_id), asked, now=self.now())

    def _add(
        self, page: Page, release_id: str, kind: Kind, asked: Asked, data_digest: str | None = None
    ) -> None:
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
            _owner(self.run),
            partition_kind=asked.partition_kind,
            memory=asked.memory,
        )
        page.add(event, now=self.now(), every=self.every)


def _owner(run: str) -> str:
    return f"{socket.gethostname()}/{os.getpid()}/{run}"


def is_running(owner: str) -> bool:
    """Tell whether the process that an event names as its owner runs on this machine."""
    host, process, _ = owner.split("/", 2)
    if host != socket.gethostname() or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True


def ledger_at(url: str, *, run: str = "", make: bool = True) -> Ledger:
    """Open the ledger of a deployment, see `store.store_at`."""
    return Ledger(store_at(url, make=make), run)


def _known(page: Page, release_id: str) -> State:
    state = page.state(release_id)
    if state is None:
        raise InputError(f"the ledger must know the release {release_id}: it does not")
    return state


def _named_by(manifest: Mapping[str, Any] | None) -> tuple[str | None, str | None]:
    """Return the release id and the data digest that a manifest names."""
    facts = (manifest or {}).get("facts")
    perturbed = facts.get("perturbed") if isinstance(facts, dict) else None
    found = perturbed.get("release_id") if isinstance(perturbed, dict) else None
    digest = (manifest or {}).get("data_digest")
    both = isinstance(found, str) and isinstance(digest, str)
    return (found, digest) if both else (None, None)
