"""What releases of the same people add up to without a budget."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from anon_pipeline.ledger import Asked, Ledger
from anon_pipeline.ledger.same_people import published_epsilon

Ask = Callable[..., Asked]


def publish(book: Ledger, asked: Asked, number: int) -> str:
    release = f"{number:032x}"
    book.open(asked, release_id=release)
    book.begin(release, asked, f"digest {number}", None)
    book.enter_published(release, f"digest {number}")
    return release


def test_what_was_published_adds_up_and_what_was_not_does_not(book: Ledger, asked: Ask) -> None:
    assert published_epsilon(book, asked(), but=None) == 0
    first = publish(book, asked("1/3"), 1)
    second = publish(book, asked("2"), 2)
    book.open(asked("4"), release_id=f"{3:032x}")
    assert published_epsilon(book, asked(), but=None) == Fraction(7, 3)
    assert published_epsilon(book, asked(), but=second) == Fraction(1, 3)
    book.withdraw(first)  # somebody may have it
    assert published_epsilon(book, asked(), but=None) == Fraction(7, 3)


@pytest.mark.parametrize(("partition", "expected"), [("2026-01-05", 3), ("2026-01-12", 5), (None, 7)])
def test_partitions_have_people_of_their_own(
    book: Ledger, asked: Ask, partition: str | None, expected: int
) -> None:
    """But for a release without partitions: nobody knows which of the people were in it."""
    publish(book, asked("2", partition="2026-01-05"), 1)
    publish(book, asked("4", partition="2026-01-12"), 2)
    publish(book, asked("1"), 3)
    publish(book, asked("8", dataset="others"), 4)
    assert published_epsilon(book, asked(partition=partition), but=None) == expected


def test_a_period_is_in_no_group_of_listed_partitions(book: Ledger, asked: Ask) -> None:
    """Keys without a dot are one group; a date has none either, and may be of the same people."""
    publish(book, asked("3", partition="north"), 1)
    publish(book, asked("1", partition="south"), 2)
    assert published_epsilon(book, asked(partition="2026-01-05"), but=None) == 3
    assert published_epsilon(book, asked(partition="south"), but=None) == 1
