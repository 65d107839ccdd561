"""What has been spent: exactly, and never too little."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest

from anon_pipeline.base.errors import GateRefused
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.budget import decimal_text, exact_text, release_states
from anon_pipeline.ledger.requests import Asked

Ask = Callable[..., Asked]


def publish(book: Ledger, asked: Asked) -> str:
    release_id = book.open(asked)
    book.begin(release_id, asked, f"digest {release_id}", "rows")
    book.enter_published(release_id, f"digest {release_id}")
    return release_id


def test_tenths_add_up_exactly(book: Ledger, asked: Ask) -> None:
    for _ in range(10):  # 0.1 ten times is 0.9999999999999999 in floats, and 3 · 0.1 is above 0.3
        publish(book, asked("0.1", 1))
    with pytest.raises(GateRefused) as refused:
        book.open(asked("0.1", 1))
    assert str(refused.value) == (
        "budget: the releases of people may spend ε = 1 per dataset: spent 1, requested 0.1, remaining 0."
    )


def test_a_budget_is_refused_by_the_smallest_amount(book: Ledger, asked: Ask) -> None:
    publish(book, asked("1"))
    with pytest.raises(GateRefused, match=r"spent 1, requested 2\.0000001, remaining 2"):
        book.open(asked("2.0000001", 3))
    assert book.open(asked("2", 3))


def test_a_refusal_enters_nothing(book: Ledger, asked: Ask) -> None:
    with pytest.raises(GateRefused):
        book.open(asked("2", 1))
    assert book.events() == []


def test_open_releases_count_as_spent_until_they_are_closed(book: Ledger, asked: Ask) -> None:
    left = book.open(asked("2", 3))
    with pytest.raises(
        GateRefused, match=r"2 of this is held by releases that are still open \(1\)"
    ) as refused:
        book.open(asked("2", 3))
    assert "anon-pipeline ledger close ID --as failed" in str(refused.value)
    assert book.enter_failed(left)
    assert book.open(asked("2", 3))


def test_withdrawn_releases_stay_spent(book: Ledger, asked: Ask) -> None:
    book.withdraw(publish(book, asked("2", 3)))
    with pytest.raises(GateRefused):
        book.open(asked("2", 3))


def test_a_release_that_was_published_once_is_never_given_back(book: Ledger, asked: Ask) -> None:
    published = publish(book, asked("2", 3))
    assert not book.enter_failed(published, begun=True)
    assert release_states(book.events())[published].counts
    with pytest.raises(GateRefused):
        book.open(asked("2", 3))


def test_publishing_the_same_noise_again_spends_nothing_more(book: Ledger, asked: Ask) -> None:
    published = publish(book, asked("2", 2))
    book.begin(published, asked("2", 2), "the same, shuffled anew", "rows")
    book.enter_published(published, "the same, shuffled anew")
    state = release_states(book.events())[published]
    assert (state.last.event, state.last.data_digest) == ("published", "the same, shuffled anew")
    assert [event.event for event in book.events()[2:]] == ["published", "opened", "published"]


def test_per_record_each_partition_has_the_budget_for_itself(book: Ledger, asked: Ask) -> None:
    for week in ("w1", "w2"):
        publish(book, asked("2", 3, per="record", partition=week))
    with pytest.raises(GateRefused, match="per record: spent 2"):
        book.open(asked("2", 3, per="record", partition="w2"))
    with pytest.raises(GateRefused, match="per dataset: spent 4"):
        book.open(asked("2", 5, per="dataset", partition="w3"))


def test_other_datasets_do_not_count(book: Ledger, asked: Ask) -> None:
    publish(book, asked("2", 2, dataset="others"))
    assert book.open(asked("2", 2))


def test_releases_without_a_budget_are_counted_for_those_with_one(book: Ledger, asked: Ask) -> None:
    publish(book, asked("2"))
    with pytest.raises(GateRefused):
        book.open(asked("2", 3))


def test_a_window_forgets_what_is_older(book: Ledger, asked: Ask, clock: Callable[[], object]) -> None:
    publish(book, asked("2", 2, window=30))
    clock.now += timedelta(days=30, microseconds=-1)  # type: ignore[attr-defined]
    with pytest.raises(GateRefused, match="per dataset within 30 days: spent 2"):
        book.open(asked("2", 2, window=30))
    clock.now += timedelta(microseconds=1)  # type: ignore[attr-defined]
    assert book.open(asked("2", 2, window=30))


def test_an_open_release_counts_whatever_its_age(
    book: Ledger, asked: Ask, clock: Callable[[], object]
) -> None:
    book.open(asked("2", 2, window=30))
    clock.now += timedelta(days=300)  # type: ignore[attr-defined]
    with pytest.raises(GateRefused):
        book.open(asked("2", 2, window=30))


def test_time_never_goes_back_and_the_future_counts(
    book: Ledger, asked: Ask, clock: Callable[[], object]
) -> None:
    clock.now += timedelta(days=10_000)  # type: ignore[attr-defined]
    publish(book, asked("2", 3, window=1))
    clock.now -= timedelta(days=10_500)  # type: ignore[attr-defined]
    with pytest.raises(GateRefused, match="spent 2"):
        book.open(asked("2", 3, window=1))
    publish(book, asked("1", 3, window=1))
    times = [event.at for event in book.events()]
    assert times == sorted(times)


def test_decimal_text_is_exact() -> None:
    assert decimal_text(Fraction("0.1") * 3) == "0.3"
    assert decimal_text(Fraction(1200)) == "1200"
    assert decimal_text(0) == "0"
    assert Fraction(decimal_text(Fraction("1e-17") + 1)) == Fraction("1e-17") + 1


def test_exact_text_never_rounds() -> None:
    assert exact_text(Fraction(2, 3)) == "2/3"
    assert exact_text(Fraction("0.3")) == "0.3"
    assert exact_text(Fraction(1, 10**60)) == "0." + "0" * 59 + "1"
    for number in (Fraction(10**60 + 1, 10**60), Fraction(1, 7), Fraction(0)):
        assert Fraction(exact_text(number)) == number


@pytest.fixture
def listed(asked: Ask) -> Ask:
    """What a listed partition asks for, under a budget per record."""

    def make(partition: str, budget: float, epsilon: str = "1") -> Asked:
        wanted = asked(epsilon, budget, per="record", partition=partition)
        return replace(wanted, partition_kind="listed")

    return make


def test_partitions_of_one_group_hold_other_records(book: Ledger, listed: Ask) -> None:
    for key in ("north", "south", "2026a.01", "2026a.02"):
        publish(book, listed(key, 2))
    with pytest.raises(GateRefused, match="spent 2, requested 1"):
        book.open(listed("north", 2))  # once itself, and once in one of the other group


def test_of_another_group_the_partition_that_has_spent_most_counts(book: Ledger, listed: Ask) -> None:
    """Nobody knows in which of 40 partitions a record was: 40 releases of ε = 1 are not 40 for a record."""
    for number in range(40):
        publish(book, listed(f"first.{number:02}", 100))
    publish(book, listed("first.07", 100, "2.5"))
    publish(book, listed("second.01", 100))
    publish(book, listed("third.01", 100, "0.5"))
    with pytest.raises(GateRefused, match=r"spent 5, requested 1, remaining 0\.75"):  # 3.5 + 1 + 0.5
        book.open(listed("fourth.01", 5.75))
    assert book.open(listed("fourth.01", 6))
    with pytest.raises(GateRefused, match="spent 5,"):  # the open one counts, and second.01 does not
        book.open(listed("second.02", 5, "0.75"))


def test_listed_partitions_whose_kind_nobody_knows_count(book: Ledger, listed: Ask) -> None:
    """Those of a division that was adopted by the policy of the whole table, for example."""
    for number in (1, 2):
        publish(book, replace(listed(f"first.{number}", 2, "2"), partition_kind=None))
    with pytest.raises(GateRefused, match="spent 2, requested 1, remaining 0"):
        book.open(listed("second.1", 2))
    assert book.open(listed("second.1", 3))


def test_dates_of_an_unknown_kind_are_no_listed_partitions(book: Ledger, asked: Ask) -> None:
    publish(book, asked("2", 2, per="record", partition="2026-01-05"))
    assert book.open(asked("2", 2, per="record", partition="2026-01-06"))
