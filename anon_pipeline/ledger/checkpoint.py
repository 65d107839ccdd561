"""What all events up to one add up to, kept so that a step need not read them again. Pure.

The event that follows a checkpoint names its digest, so it cannot be changed without changing the chain.

Decision: docs/adr/0015-checkpoints-in-the-chain.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from anon_pipeline.ledger.budget import Earlier, Entry, release_states
from anon_pipeline.ledger.chain import Event, Head, head_of


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """The releases by the events up to `head`, one list per property, so that a hundred thousand load fast.

    at: place of each release in the lists, by its id.
    seq: number of each release's last event.
    hash: hash of it; the event is read from the database when a step needs it, and must have this hash.
    group: number of each release's group in ``groups``: dataset, partition, ε, and the kind of partition
        where it is known (before version 4 it never is, so a checkpoint of then keeps its text).
    begun: digest of the table that may be at the destination; None if none can be there.
    drawn_at: when a release's noise was drawn last, by its id; those of version 0.1.0 are not in it.
    """

    head: Head
    at: dict[str, int]
    seq: list[int]
    hash: list[str]
    group: list[int]
    groups: list[tuple[str | None, ...]]
    event: list[str]
    published_at: list[str | None]
    begun: list[str | None]
    drawn_at: dict[str, str] = field(default_factory=dict)

    def earlier(self, release_ids: Iterable[str]) -> dict[str, Earlier]:
        """Return what the events before add up to, of those of these releases that it knows."""
        places = {key: self.at[key] for key in release_ids if key in self.at}
        return {
            key: Earlier(self.published_at[i], self.begun[i], self.drawn_at.get(key))
            for key, i in places.items()
        }

    def entries(self) -> Iterator[tuple[str, Entry]]:
        """Yield id and entry of every release."""
        for release_id, group, event, at in zip(
            self.at, self.group, self.event, self.published_at, strict=True
        ):
            dataset, partition, epsilon, *kind = self.groups[group]
            known = kind[0] if kind else None
            drawn = self.drawn_at.get(release_id)
            yield release_id, Entry(str(dataset), partition, str(epsilon), event, at, known, drawn)


def checkpoint_of(events: Sequence[Event]) -> Checkpoint:
    """Make the checkpoint of events that were verified, at least one."""
    found = release_states(events)
    last = [state.last for state in found.values()]
    groups: dict[tuple[str | None, ...], int] = {}
    group = [groups.setdefault(_group(event), len(groups)) for event in last]
    return Checkpoint(
        head_of(events),
        {release_id: i for i, release_id in enumerate(found)},
        [event.seq for event in last],
        [event.hash for event in last],
        group,
        list(groups),
        [event.event for event in last],
        [state.published_at for state in found.values()],
        [state.begun for state in found.values()],
        {name: state.drawn_at for name, state in found.items() if state.drawn_at is not None},
    )


def _group(event: Event) -> tuple[str | None, ...]:
    group = (event.dataset, event.partition, event.epsilon)
    return group if event.partition_kind is None else (*group, event.partition_kind)


_LISTS = ("seq", "hash", "group", "event", "published_at", "begun")


def checkpoint_text(checkpoint: Checkpoint) -> str:
    """Return a checkpoint as the text that is kept; without draws it is the text of version 0.1.0."""
    drawn = {"drawn_at": checkpoint.drawn_at} if checkpoint.drawn_at else {}
    document = {
        "head": [checkpoint.head.seq, checkpoint.head.hash],
        "id": list(checkpoint.at),
        "groups": checkpoint.groups,
        **{name: getattr(checkpoint, name) for name in _LISTS},
        **drawn,
    }
    return json.dumps(document, separators=(",", ":"))


def checkpoint_digest(text: str) -> str:
    """Return the digest that the following event names."""
    return hashlib.sha256(text.encode()).hexdigest()


def parse_checkpoint(text: str) -> Checkpoint:
    """Read a checkpoint whose digest was compared with the chain."""
    found = json.loads(text)
    return Checkpoint(
        head=Head(*found["head"]),
        at={release_id: i for i, release_id in enumerate(found["id"])},
        groups=[tuple(group) for group in found["groups"]],
        **{name: found[name] for name in _LISTS},
        drawn_at=found.get("drawn_at", {}),
    )
