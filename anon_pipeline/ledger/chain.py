"""The events of the ledger and the hash chain over them: an edited, removed or inserted one shows."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from json.encoder import encode_basestring_ascii
from typing import Any, Literal

Kind = Literal["drawn", "opened", "published", "failed", "withdrawn", "forgotten"]
"""What may happen. ``drawn``: the key of its noise was sealed; ``opened`` follows in the same step."""

GENESIS = "0" * 64
"""What stands for the hash before the first event."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a release; the state of a release is its last event.

    seq: 1, 2, 3, … without a gap.
    release_id: 32 hexadecimal digits, drawn when the release is opened.
    at: ISO 8601 in UTC with microseconds; never before that of the event before.
    data_digest: of the table; None while nothing may be written yet. Of ``drawn``: the draw's commitment, see
        `publish.draws.draw_keys.Draw`; None where the noise was drawn before this ledger learned of it.
    epsilon: what the release spends, as decimal text or as a fraction (``2/3``); ``0`` without fresh noise.
    owner: host/process/run.
    prev: hash of the event before.
    hash: SHA-256 of the canonical JSON of all the others.
    checkpoint: digest of the checkpoint that was made of all events before this one; None where none was
        made.
    partition_kind: ``daily``, ``weekly``, ``monthly``, ``none`` (a release of one piece); None in events
        before version 4.
    memory: the policy's ``record_key``, where the release was made with a memory.
    note: what is unusual about the event, such as ``adopted`` or ``closed by force``; of ``opened`` that it
        is of a stream, see `requests.STREAMED`.
    rows_digest: of the table's rows whatever their order, see `canonical`; once the release is published, of
        the rows that its ε pays for. None where they are not known, and in events before version 4.
    source_columns: digest of the names of the source's columns; None in events before version 5.

    What is None of the last six is left out of the canonical JSON: hashes of older events stay as they are.
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
    checkpoint: str | None = None
    partition_kind: str | None = None
    memory: str | None = None
    note: str | None = None
    rows_digest: str | None = None
    source_columns: str | None = None

    def digest(self) -> str:
        """Return the SHA-256 of this event's canonical JSON (keys sorted, ASCII) without its ``hash``."""
        names = _HASHED[tuple(getattr(self, name) is not None for name in _OPTIONAL)]
        text = ",".join([key + _json(getattr(self, name)) for key, name in names])
        return hashlib.sha256(f"{{{text}}}".encode()).hexdigest()


def _json(value: Any) -> str:
    """Return a cell as JSON; what SQLite holds of another type, a blob, as text that no hash fits."""
    if type(value) is str:
        return encode_basestring_ascii(value)
    return "null" if value is None else str(value)


_OPTIONAL = ("checkpoint", "partition_kind", "memory", "note", "rows_digest", "source_columns")


def _keys_to_hash(given: tuple[bool, ...]) -> tuple[tuple[str, str], ...]:
    """Return the canonical JSON's keys and names, without the optional ones that are None."""
    left_out = {"hash", *(name for name, there in zip(_OPTIONAL, given, strict=True) if not there)}
    return tuple(
        (f'"{name}":', name) for name in sorted(f.name for f in fields(Event)) if name not in left_out
    )


_HASHED = {given: _keys_to_hash(given) for given in itertools.product((False, True), repeat=len(_OPTIONAL))}


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain, stored with it: number and hash of its last event."""

    seq: int = 0
    hash: str = GENESIS


_START = Head()


@dataclass(frozen=True, slots=True)
class Broken:
    """Where a chain breaks first, and how."""

    seq: int
    reason: str


def seal_event(event: Event, head: Head) -> Event:
    """Return an event as the next one of a chain: numbered, linked, hashed."""
    linked = replace(event, seq=head.seq + 1, prev=head.hash)
    return replace(linked, hash=linked.digest())


def head_of(events: Sequence[Event]) -> Head:
    """Return the end of a chain."""
    return Head(events[-1].seq, events[-1].hash) if events else Head()


def broken_at(events: Sequence[Event], head: Head, after: Head = _START) -> Broken | None:
    """Find the first event at which a chain does not hold.

    Args:
        events: in the order of ``seq``.
        head: the end of the chain, as it was stored; without it the last events could be cut off.
        after: number and hash of the event that the first one follows.
    Returns:
        None if every event has its number, follows the one before, and says what it said when it was written.
    """
    before = after
    for event in events:
        if event.seq != before.seq + 1:
            return Broken(
                before.seq + 1,
                f"event {event.seq} is out of sequence: events were removed, inserted or moved",
            )
        if event.prev != before.hash:
            return Broken(event.seq, "does not link to the event before: one of them was changed")
        if event.hash != event.digest():
            return Broken(event.seq, "its content does not match its hash: it was edited")
        before = Head(event.seq, event.hash)
    if before != head:
        return Broken(
            before.seq + 1, f"the chain does not end at event {head.seq}, which was kept as its end"
        )
    return None
