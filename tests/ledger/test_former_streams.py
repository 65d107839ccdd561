"""What the ledger has of releases whose records could wait, and of their partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from anon_pipeline.ledger import Asked, Ledger
from anon_pipeline.ledger.former_streams import has_been_stream, published_partitions
from tests.ledger.test_same_people import publish

Ask = Callable[..., Asked]


def test_partitions_that_were_published_once_are_known(book: Ledger, asked: Ask) -> None:
    assert published_partitions(book, asked()) == set()
    first = publish(book, asked(partition="2026-01-05"), 1)
    publish(book, asked(partition="2026-01-12"), 2)
    publish(book, asked(), 3)
    publish(book, asked(partition="2026-01-19", dataset="others"), 4)
    publish(book, replace(asked(partition="2026-01-26"), release="other"), 5)
    book.open(asked(partition="2026-02-02"), release_id=f"{6:032x}")
    book.withdraw(first)  # somebody may have it
    assert published_partitions(book, asked()) == {"2026-01-05", "2026-01-12"}


def test_a_stream_is_known_once_a_partition_of_it_was_published(book: Ledger, asked: Ask) -> None:
    publish(book, asked(partition="2026-01-05"), 1)
    stream = replace(asked(partition="2026-01-12"), stream=True)
    book.open(stream, release_id=f"{2:032x}")
    assert not has_been_stream(book, asked())
    release = publish(book, stream, 3)
    assert has_been_stream(book, asked()) and has_been_stream(book, stream)
    assert not has_been_stream(book, asked(dataset="others"))
    assert not has_been_stream(book, replace(asked(), release="other"))
    book.withdraw(release)
    assert has_been_stream(book, asked()) and book.verify() is None
    assert [event.note for event in book.events()].count("stream") == 3
