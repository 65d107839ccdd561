"""What releases of the same people add up to without a budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from anon_pipeline.ledger import Asked, Ledger
from anon_pipeline.ledger.same_people import published_epsilon, uncompared_rows

Ask = Callable[..., Asked]


def publish(book: Ledger, asked: Asked, number: int, rows: str | None = None) -> str:
    release = f"{number:032x}"
    book.open(asked, release_id=release)
    book.begin(release, asked, f"digest {number}", rows)
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


def test_rows_that_nothing_compares_are_those_of_every_other_release_of_the_dataset(
    book: Ledger, asked: Ask
) -> None:
    def rows(of: Asked, but: str | None = None) -> frozenset[str | None]:
        return uncompared_rows(book, of, but=but, own_people=False)

    keyed = replace(asked(), release="other", memory="person")
    open_ = f"{9:032x}"
    book.open(asked(), release_id=open_)
    book.begin(open_, asked(), "digest 9", "open")
    assert rows(asked()) == frozenset()  # it may never be published
    first = publish(book, asked(), 1, "a")
    publish(book, asked(dataset="theirs"), 2, "b")
    publish(book, asked(dataset="bucketized:theirs"), 3, "c")
    publish(book, keyed, 4, "d")
    assert rows(asked()) == {"a", "d"}
    assert rows(asked(), but=first) == {"d"}
    assert rows(asked(dataset="theirs")) == {"b", "c"}
    book.withdraw(first)  # somebody may have it
    assert rows(asked()) == {"a", "d"}
    publish(book, asked(), 5)
    assert rows(asked()) == {"a", "d", None}
    assert rows(keyed) == {"a", None}  # the key compares the others


@pytest.mark.parametrize(
    ("key", "kind", "compared"),
    [
        (None, "none", "abcde"),
        ("2026-01-05", "daily", "bcde"),
        ("2026-01-06", "daily", "abcde"),
        ("2026-01-05", "weekly", "abcde"),
        ("d1.1", "listed", "abcd"),
        ("d2.1", "listed", "abcde"),
    ],
)
def test_partitions_of_one_kind_and_group_are_not_compared(
    book: Ledger, asked: Ask, key: str | None, kind: str, compared: str
) -> None:
    made = [
        ("2026-01-06", "daily", "a"),
        (None, "none", "b"),
        ("2026-01-01", "monthly", "c"),
        ("2026-01-05", "daily", "d"),
        ("d1.2", "listed", "e"),
    ]
    for number, (partition, own, rows) in enumerate(made, start=1):
        publish(book, replace(asked(partition=partition), partition_kind=own), number, rows)
    found = replace(asked(partition=key), partition_kind=kind)
    # the same key again may have others since; another key of the kind and group has people of its own
    wanted = {*compared} - ({"d"} if (key, kind) == ("2026-01-06", "daily") else set())
    assert uncompared_rows(book, found, but=None, own_people=True) == wanted
    assert uncompared_rows(book, found, but=None, own_people=False) == {*"abcde"}
