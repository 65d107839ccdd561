"""One kind of partition for a dataset whose budget is per record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.kinds import can_be_of_kind, kind_of, refuse_unless_of_kind
from anon_pipeline.ledger.requests import Asked
from anon_pipeline.policy import Policy

KINDS = {
    "none": None,
    "daily": "2026-01-06",
    "weekly": "2026-01-05",
    "monthly": "2026-01-01",
    "listed": "north",
}


@pytest.fixture
def of_kind(asked: Callable[..., Asked]) -> Callable[..., Asked]:
    """What a release of a kind of partition asks for, under a budget of one release per record."""

    def make(kind: str | None, partition: str | None = None, per: str = "record", **options: object) -> Asked:
        key = partition or KINDS.get(kind or "none")
        return replace(asked("2", 2, per=per, partition=key, **options), partition_kind=kind)

    return make


Ask = Callable[..., Asked]


def publish(book: Ledger, asked: Asked) -> str:
    release_id = book.open(asked)
    book.begin(release_id, asked, "digest")
    book.enter_published(release_id, "digest")
    return release_id


@pytest.mark.parametrize("every", [1, 500])
@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_another_kind_in_the_dataset_is_refused(
    book: Ledger, of_kind: Ask, first: str, second: str, every: int
) -> None:
    """The same people in the whole file, a day, a week and a month of it would be published four times."""
    book = replace(book, every=every)
    publish(book, of_kind(first))
    if first == second:
        with pytest.raises(GateRefused, match="spent 2"):
            book.open(of_kind(second))
        return
    with pytest.raises(GateRefused, match=rf"one kind of partition .* got {second} and, .*, {first} \(1 in"):
        book.open(of_kind(second))
    with pytest.raises(GateRefused, match="one kind of partition"):
        book.begin("f" * 32, of_kind(second), "digest")
    publish(book, of_kind(second, dataset="others"))
    assert book.verify() is None


def test_partitions_of_one_kind_have_the_budget_each(book: Ledger, of_kind: Ask) -> None:
    for day in ("2026-01-05", "2026-01-06", "2026-01-07"):
        publish(book, of_kind("daily", day))


def test_what_is_open_counts_and_what_failed_or_left_the_window_does_not(
    book: Ledger, of_kind: Ask, clock: Callable[[], object]
) -> None:
    waiting = book.open(of_kind("daily"))
    with pytest.raises(GateRefused, match="one kind of partition"):
        book.open(of_kind("weekly"))
    book.enter_failed(waiting)
    withdrawn = publish(book, of_kind("weekly"))
    book.withdraw(withdrawn)
    with pytest.raises(GateRefused, match="one kind of partition"):
        book.open(of_kind("daily"))
    clock.now += timedelta(days=40)  # type: ignore[attr-defined]
    book.open(of_kind("daily", window=30))


def test_a_budget_per_dataset_takes_any_kind(book: Ledger, of_kind: Ask) -> None:
    publish(book, of_kind("weekly", per="dataset"))
    with pytest.raises(GateRefused, match="spent 2"):
        book.open(of_kind("daily", per="dataset"))


def test_of_older_events_the_key_must_fit(book: Ledger, of_kind: Ask) -> None:
    """Monday may be a day or a week: what cannot be told is taken."""
    publish(book, of_kind(None, "2026-01-05"))
    book.open(of_kind("weekly", "2026-01-12"))
    older = replace(book)
    publish(older, of_kind(None, "2026-01-06", dataset="old"))
    with pytest.raises(GateRefused, match="an unknown kind"):
        book.open(of_kind("weekly", "2026-01-12", dataset="old"))
    book.open(of_kind("daily", "2026-01-12", dataset="old"))
    publish(book, of_kind(None, None, dataset="whole"))
    with pytest.raises(GateRefused, match="one kind of partition"):
        book.open(of_kind("daily", "2026-01-12", dataset="whole"))


def test_a_release_keeps_the_kind_it_was_opened_with(book: Ledger, of_kind: Ask) -> None:
    monday = "2026-01-05"
    release_id = book.open(of_kind("daily", monday))
    with pytest.raises(GateRefused, match="opened in the ledger with another partition_kind"):
        book.begin(release_id, of_kind("weekly", monday), "digest")
    older = book.open(of_kind(None, monday, dataset="old"))
    book.begin(older, of_kind("weekly", monday, dataset="old"), "digest")


@pytest.mark.parametrize(
    ("kind", "partition", "fits"),
    [("none", None, True), ("none", "2026-01-05", False), ("daily", None, False), ("weekly", None, False),
     ("weekly", "2026-01-05", True), ("weekly", "2026-01-06", False), ("daily", "2026-01-06", True),
     ("monthly", "2026-02-01", True), ("monthly", "2026-02-02", False), ("daily", "w1", False),
     ("yearly", "2026-01-01", False)],
)  # fmt: skip
def test_which_keys_a_kind_has(kind: str, partition: str | None, fits: bool) -> None:
    assert can_be_of_kind(kind, partition) is fits


def test_a_budget_per_record_needs_a_partition_of_its_kind(small_policy: Callable[..., Policy]) -> None:
    weekly = {
        "schedule": {"cron": "0 3 * * 1", "partitions": "weekly"},
        "source": {"path": "{partition}.csv"},
    }
    policy = small_policy(budget={"epsilon": 2, "per": "record"}, **weekly)
    assert kind_of(policy) == "weekly"
    assert kind_of(small_policy()) == "none"
    refuse_unless_of_kind(policy, "2026-01-05")
    for wrong in (None, "2026-01-06", "all"):
        with pytest.raises(InputError, match=r"needs a weekly partition, as schedule.partitions says"):
            refuse_unless_of_kind(policy, wrong)
    refuse_unless_of_kind(small_policy(budget={"epsilon": 2}), "all")
