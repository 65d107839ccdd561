"""What the events add up to: the state of each release, and the ε that a dataset has spent. Pure.

Belongs here: folding events into states, exact sums. Does not belong here: reading or writing events.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction

from anon_pipeline.ledger.chain import Event
from anon_pipeline.policy.sections import Budget

__all__ = ["Spent", "State", "decimal_text", "exact_text", "spent", "states"]


@dataclass(frozen=True, slots=True)
class State:
    """One release as its events have left it.

    last: its last event, which is its state.
    opened_at: when it was opened first.
    published_at: when it was published last; None if it never was.
    begun: digest of the table that may be at the destination; None if none can be there.
    """

    last: Event
    opened_at: str
    published_at: str | None
    begun: str | None

    @property
    def epsilon(self) -> Fraction:
        """What it spends, exactly."""
        return Fraction(self.last.epsilon)

    @property
    def counts(self) -> bool:
        """Whether its ε is spent: it was published once, or it may still be."""
        return self.published_at is not None or self.last.event == "opened"


@dataclass(frozen=True, slots=True)
class Spent:
    """ε spent so far, of it by releases that are still open, and how many of these there are."""

    epsilon: Fraction
    open_epsilon: Fraction
    open_releases: int


def states(events: Iterable[Event]) -> dict[str, State]:
    """Fold events into the state of each release, by its id, in the order of opening."""
    found: dict[str, State] = {}
    for event in events:
        before = found.get(event.release_id)
        published = event.at if event.event == "published" else before and before.published_at
        begun = event.data_digest or (before.begun if before else None)
        found[event.release_id] = State(
            event,
            before.opened_at if before else event.at,
            published or None,
            None if event.event == "failed" else begun,
        )
    return found


def spent(
    releases: Iterable[State], budget: Budget, *, dataset: str, partition: str | None, now: datetime
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
    start = None if budget.window is None else now - timedelta(days=budget.window)
    counted = [
        state
        for state in releases
        if state.counts
        and state.last.dataset == dataset
        and (budget.per == "dataset" or state.last.partition == partition)
        and _within(state, start)
    ]
    still_open = [state for state in counted if state.last.event == "opened"]
    return Spent(_sum(counted), _sum(still_open), len(still_open))


def _within(state: State, start: datetime | None) -> bool:
    if start is None or state.last.event == "opened" or state.published_at is None:
        return True
    return datetime.fromisoformat(state.published_at) > start


def _sum(releases: Sequence[State]) -> Fraction:
    return sum((state.epsilon for state in releases), start=Fraction(0))


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
