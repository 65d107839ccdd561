"""What the events add up to: the state of each release, and the ε that a dataset has spent. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from anon_pipeline.catalog.releases import PARTITION_KINDS, group_of
from anon_pipeline.ledger.chain import Event
from anon_pipeline.policy.partition_names import can_be_listed
from anon_pipeline.policy.sections import Budget


class Entry(NamedTuple):
    """What of a release the budget looks at.

    event: the last one, which is its state.
    published_at: when it was published last; None if it never was.
    partition_kind: see `Event`.
    drawn_at: when its noise was drawn last; None for releases of version 0.1.0, which did not mark it.
    """

    dataset: str
    partition: str | None
    epsilon: str
    event: str
    published_at: str | None
    partition_kind: str | None = None
    drawn_at: str | None = None

    @property
    def counts(self) -> bool:
        """Whether its ε is spent: its noise was drawn, it was published once, or it may still be.

        A draw counts whatever becomes of it. Otherwise a refused one could be drawn anew for nothing until
        the gate accepts one, and an accepted release then reveals more than ε allows.
        """
        return self.drawn_at is not None or self.published_at is not None or self.event == "opened"


class Earlier(NamedTuple):
    """What a release's events before some event add up to, see `State`."""

    published_at: str | None = None
    begun: str | None = None
    drawn_at: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """One release as its events have left it.

    last: its last event, which is its state.
    published_at: when it was published last; None if it never was.
    begun: digest of the table that may be at the destination; None if none can be there.
    drawn_at: when its noise was drawn last; None for releases of version 0.1.0.
    """

    last: Event
    published_at: str | None
    begun: str | None
    drawn_at: str | None = None

    @property
    def epsilon(self) -> Fraction:
        """What it spends, exactly."""
        return Fraction(self.last.epsilon)

    @property
    def name(self) -> str:
        """The state: open, published, failed, withdrawn or forgotten, with what is unusual about it."""
        if self.is_opened_again:
            return "published, being written again"
        name = "open" if self.last.event == "opened" else self.last.event
        return name if self.last.note is None else f"{name}, {self.last.note}"

    @property
    def is_opened_again(self) -> bool:
        """Whether it is published, and its rows are about to be written in another order."""
        return self.last.event == "opened" and self.published_at is not None

    @property
    def entry(self) -> Entry:
        """What the budget looks at."""
        last = self.last
        return Entry(
            last.dataset,
            last.partition,
            last.epsilon,
            last.event,
            self.published_at,
            last.partition_kind,
            self.drawn_at,
        )

    @property
    def counts(self) -> bool:
        """Whether its ε is spent, see `Entry`."""
        return self.entry.counts


@dataclass(frozen=True, slots=True)
class Spent:
    """ε spent so far; of it by open releases whose noise is not marked as drawn, and by unpublished draws."""

    epsilon: Fraction
    open_epsilon: Fraction
    open_releases: int
    unpublished_epsilon: Fraction = Fraction(0)
    unpublished: int = 0


def release_states(events: Iterable[Event], earlier: Mapping[str, Earlier] | None = None) -> dict[str, State]:
    """Fold events into the state of each release, by its id, in the order of opening.

    Args:
        events: in their order.
        earlier: of releases by the events before these.
    """
    found: dict[str, State] = {}
    for event in events:
        before = found.get(event.release_id)
        published, begun, drawn = (
            (before.published_at, before.begun, before.drawn_at)
            if before
            else (earlier or {}).get(event.release_id, Earlier())
        )
        if event.event == "drawn":  # its digest is of no table
            drawn = event.at
        elif event.event == "failed":
            begun = None
        else:
            published = event.at if event.event == "published" else published
            begun = event.data_digest or begun
        found[event.release_id] = State(event, published, begun, drawn)
    return found


def sum_spent(
    releases: Iterable[Entry], budget: Budget, *, dataset: str, partition: str | None, now: datetime
) -> Spent:
    """Add up what the releases of a dataset have spent; what is doubtful counts.

    Withdrawn releases count, because they were seen; so do draws that were refused, failed or given up. Open
    releases count whatever their age, because they may still be published; so do those that a clock put into
    the future. The others count from when they were drawn, or published, whichever is later.

    Args:
        budget: ``per: record`` adds up one partition, and one of each other group of listed partitions;
            ``per: dataset`` all; ``window`` in days.
        partition: of the release that asks.
        now: the clock, with its zone.
    """
    start = window_of(budget, now)
    spending = [
        entry
        for entry in releases
        if entry.dataset == dataset and entry.counts and is_in_window(entry, start)
    ]
    if budget.per == "record":
        spending = _of_the_records(spending, partition)
    counted: Counter[tuple[str, bool, bool]] = Counter(
        (entry.epsilon, _open_undrawn(entry), _is_unpublished(entry)) for entry in spending
    )
    still_open = [(epsilon, n) for (epsilon, is_open, _), n in counted.items() if is_open]
    drawn = [(epsilon, n) for (epsilon, _, unpublished), n in counted.items() if unpublished]
    every = [(epsilon, n) for (epsilon, _, _), n in counted.items()]
    return Spent(
        _sum(every), _sum(still_open), sum(n for _, n in still_open), _sum(drawn), sum(n for _, n in drawn)
    )


def _of_the_records(entries: Sequence[Entry], partition: str | None) -> list[Entry]:
    """Return the releases of the records of a partition.

    Its own, those without partitions, and of each other group of listed partitions one.
    """
    own = group_of(partition) if partition is not None and can_be_listed(partition) else None
    found = [entry for entry in entries if entry.partition in (partition, None)]
    return found + most_of_each_group(
        entry
        for entry in entries
        if entry.partition is not None
        and is_listed(entry.partition_kind, entry.partition)
        and group_of(entry.partition) != own
    )


def most_of_each_group(entries: Iterable[Entry]) -> list[Entry]:
    """Return, of each group of listed partitions, the releases of the partition that has spent most.

    A record is in one partition of each group, nobody knows in which.
    """
    groups: dict[str, dict[str | None, list[Entry]]] = {}
    for entry in entries:
        group = groups.setdefault(group_of(entry.partition or ""), {})
        group.setdefault(entry.partition, []).append(entry)
    return [
        entry
        for partitions in groups.values()
        for entry in max(partitions.values(), key=lambda one: sum(Fraction(each.epsilon) for each in one))
    ]


def is_listed(kind: str | None, partition: str) -> bool:
    """Tell whether a partition is one that its policy listed; one of an unknown kind is, unless it is a date.

    Args:
        kind: None where nobody knows it, as of releases that were adopted by another policy.
    """
    if kind is None:
        return can_be_listed(partition)
    return kind in PARTITION_KINDS and PARTITION_KINDS[kind].listed


def _open_undrawn(entry: Entry) -> bool:
    return entry.event == "opened" and entry.drawn_at is None and entry.published_at is None


def _is_unpublished(entry: Entry) -> bool:
    return entry.drawn_at is not None and entry.published_at is None


def _sum(counted: Iterable[tuple[str, int]]) -> Fraction:
    return sum((Fraction(epsilon) * n for epsilon, n in counted), start=Fraction(0))


def window_of(budget: Budget, now: datetime) -> datetime | None:
    """Return when a budget's window begins; None if it has none."""
    return None if budget.window is None else now - timedelta(days=budget.window)


def is_in_window(entry: Entry, start: datetime | None) -> bool:
    """Tell whether a release lies in a window; what is open and not published does, whatever its age."""
    times = [at for at in (entry.published_at, entry.drawn_at) if at is not None]
    still_open = entry.event == "opened" and entry.published_at is None
    if start is None or still_open or not times:
        return True
    return max(map(datetime.fromisoformat, times)) > start


def decimal_text(number: Fraction | int) -> str:
    """Return a number as decimal text, without rounding where 50 digits hold it.

    >>> decimal_text(Fraction(3, 10)), decimal_text(Fraction(20))
    ('0.3', '20')
    """
    quotient = Context(prec=50).divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"{quotient.normalize():f}"


def exact_text(number: Fraction | int) -> str:
    """Return a number as decimal text where that is exact, else as a fraction.

    >>> exact_text(Fraction(3, 10)), exact_text(Fraction(2, 3))
    ('0.3', '2/3')
    """
    text = decimal_text(number)
    return text if Fraction(text) == number else str(number)
