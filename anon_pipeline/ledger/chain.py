"""The events of the ledger and the hash chain over them: an edited, removed or inserted one shows.

Belongs here: the event, its canonical JSON, its hash, finding where a chain breaks. Does not belong here:
databases (`store`), what events mean (`budget`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

__all__ = ["GENESIS", "Broken", "Event", "Head", "Kind", "broken_at", "head_of", "sealed"]

Kind = Literal["opened", "published", "failed", "withdrawn"]

GENESIS = "0" * 64
"""What stands for the hash before the first event."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a release; the state of a release is its last event.

    seq: 1, 2, 3, … without a gap.
    release_id: 32 hexadecimal digits, drawn when the release is opened.
    at: ISO 8601 in UTC with microseconds; never before that of the event before.
    data_digest: of the table; None while nothing may be written yet.
    epsilon: what the release spends, as decimal text or as a fraction (``2/3``); ``0`` without fresh noise.
    owner: host/process/run.
    prev: hash of the event before.
    hash: SHA-256 of the canonical JSON of all the others.
    """

    seq: int
    release_id: str
    at: str
    event: Kind
    dataset: str
    release: str
    partition: str | None
    policy_digest: str
    making: str
    data_digest: str | None
    k: int
    epsilon: str
    owner: str
    prev: str = GENESIS
    hash: str = ""

    def digest(self) -> str:
        """Return the SHA-256 of this event's canonical JSON without its ``hash``."""
        fields = {name: value for name, value in asdict(self).items() if name != "hash"}
        text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain, kept beside it: number and hash of its last event."""

    seq: int = 0
    hash: str = GENESIS


@dataclass(frozen=True, slots=True)
class Broken:
    """Where a chain breaks first, and how."""

    seq: int
    reason: str


def sealed(event: Event, head: Head) -> Event:
    """Return an event as the next one of a chain: numbered, linked, hashed."""
    linked = replace(event, seq=head.seq + 1, prev=head.hash)
    return replace(linked, hash=linked.digest())


def head_of(events: Sequence[Event]) -> Head:
    """Return the end of a chain."""
    return Head(events[-1].seq, events[-1].hash) if events else Head()


def broken_at(events: Sequence[Event], head: Head) -> Broken | None:
    """Find the first event at which a chain does not hold.

    Args:
        events: in the order of ``seq``.
        head: the end of the chain, as it was kept beside it; without it the last events could be cut off.
    Returns:
        None if every event has its number, follows the one before, and says what it said when it was written.
    """
    before = Head()
    for event in events:
        if event.seq != before.seq + 1:
            return Broken(before.seq + 1, f"must follow, got event {event.seq}: removed, inserted or moved")
        if event.prev != before.hash:
            return Broken(event.seq, "must continue the event before, and does not: one of them was changed")
        if event.hash != event.digest():
            return Broken(event.seq, "must say what its hash says, and does not: it was edited")
        before = Head(event.seq, event.hash)
    if before != head:
        return Broken(before.seq + 1, f"the chain must end at event {head.seq}, as it was kept: it does not")
    return None
