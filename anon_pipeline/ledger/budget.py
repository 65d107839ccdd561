"""What the events add up to: the state of each release, and the ε that a dataset has spent. Pure.

Belongs here: folding events into states, exact sums. Does not belong here: reading or writing events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from anon_pipeline.ledger.chain import Event
from anon_pipeline.policy.sections import Budget

__all__ = [
    "Entry",
    "Spent",
    "State",
    "decimal_text",
    "exact_text",
    "spent",
    "states",
    "window_of",
    "within",
]


class Entry(NamedTuple):
    """What of a release the budget looks at.

    event: the last one, which is its state.
    published_at: when it was published last; None if it never was.
    partition_kind: see `Event`.
    """

    dataset: str
    partition: str | None
    epsilon: str
    event: str
    published_at: str | None
    partition_kind: str | None = None

    @property
    def counts(self) -> bool:
        """Whether its ε is spent: it was published once, or it may still be."""
        return self.published_at is not None or self.event == "opened"


@dataclass(frozen=True, slots=True)
class State:
    """One release as its events have left it.

    last: its last event, which is its state.
    published_at: when it was published last; None if it never was.
    begun: digest of the table that may be at the destination; None if none can be there.
    """

    last: Event
    published_at: str | None
    begun: str | None

    @property
    def epsilon(self) -> Fraction:
        """What it spends, exactly."""
        return Fraction(self.last.epsilon)

    @property
    def name(self) -> str:
        """The state: open, published, failed, withdrawn or forgotten, with what is unusual about it."""
        name = "open" if self.last.event == "opened" else self.last.event
        return name if self.last.note is None else f"{name}, {self.last.note}"

    @property
    def entry(self) -> Entry:
        """What the budget looks at."""
        last = self.last
        kind = last.partition_kind
        return Entry(last.dataset, last.partition, last.epsilon, last.event, self.published_at, kind)

    @property
    def counts(self) -> bool:
        """Whether its ε is spent, see `Entry`."""
        return self.entry.counts


@dataclass(frozen=True, slots=True)
class Spent:
    """ε spent so far, of it by releases that are still open, and how many of these there are."""

    epsilon: Fraction
    open_epsilon: Fraction
    open_releases: int


def states(
    events: Iterable[Event], earlier: Mapping[str, tuple[str | None, str | None]] | None = None
) -> dict[str, State]:
    """Fold events into the state of each release, by its id, in the order of opening.

    Args:
        events: in their order.
        earlier: ``published_at`` and ``begun`` of releases by the events before these.
    """
    found: dict[str, State] = {}
    for event in events:
        before = found.get(event.release_id)
        published, begun = (
            (before.published_at, before.begun)
            if before
            else (earlier or {}).get(event.release_id, (None, None))
        )
        if event.event == "published":
            published = event.at
        begun = None if event.event == "failed" else event.data_digest or begun
        found[event.release_id] = State(event, published, begun)
    return found


def spent(
    releases: Iterable[Entry], budget: Budget, *, dataset: str, partition: str | None, now: datetime
) -> Spent:
    """Add up what the releases of a dataset have spent; what is doubtful counts.

    Withdrawn releases count, because they were seen; open ones count whatever their age, because they may
    still be published; so do those that a clock put into the future.

    Args:
        releases: of the ledger.
        budget: ``per: record`` adds up one partition, ``per: dataset`` all; ``window`` in days.
        dataset: name.
        partition: of the release that asks.
        now: the clock, with its zone.
    """
    start = window_of(budget, now)
    counted: Counter[tuple[str, bool]] = Counter(
        (entry.epsilon, entry.event == "opened")
        for entry in releases
        if entry.dataset == dataset
        and (budget.per == "dataset" or entry.partition == partition)
        and entry.counts
        and within(entry, start)
    )
    still_open = Counter({epsilon: n for (epsilon, is_open), n in counted.items() if is_open})
    total = sum((Fraction(epsilon) * n for (epsilon, _), n in counted.items()), start=Fraction(0))
    held = sum((Fraction(epsilon) * n for epsilon, n in still_open.items()), start=Fraction(0))
    return Spent(total, held, still_open.total())


def window_of(budget: Budget, now: datetime) -> datetime | None:
    """Return when a budget's window begins; None if it has none."""
    return None if budget.window is None else now - timedelta(days=budget.window)


def within(entry: Entry, start: datetime | None) -> bool:
    """Tell whether a release lies in a window; what is open does, whatever its age."""
    if start is None or entry.event == "opened" or entry.published_at is None:
        return True
    return datetime.fromisoformat(entry.published_at) > start


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
