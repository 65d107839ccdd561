"""One id pays for one table's rows: the same rows in another order are free, other rows are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.ledger.fence import close, hold_fence
from anon_pipeline.ledger.recovery import adopt
from anon_pipeline.ledger.requests import Asked

Ask = Callable[..., Asked]
ID, ROWS = "a" * 32, "1" * 64


def publish(book: Ledger, asked: Asked, digest: str = "digest", rows: str | None = ROWS) -> None:
    book.begin(ID, asked, digest, rows)
    book.enter_published(ID, digest)


def shown(digest: str) -> dict[str, Any]:
    return {"data_digest": digest, "facts": {"perturbed": {"release_id": ID}}}


@pytest.mark.parametrize("every", [1, 500])
def test_the_same_rows_in_another_order_are_published_for_nothing(
    book: Ledger, asked: Ask, every: int
) -> None:
    quick = replace(book, every=every)
    for digest in ("digest", "shuffled", "once more"):
        publish(quick, asked("2", 2), digest)
    assert [event.event for event in book.events()] == ["drawn", *["opened", "published"] * 3]
    assert [event.rows_digest for event in book.events()] == [None, *[ROWS] * 6]
    assert book.verify() is None


@pytest.mark.parametrize("every", [1, 500])
@pytest.mark.parametrize("epsilon", ["2", "0"])
def test_other_rows_under_an_id_that_is_published_are_refused(
    book: Ledger, asked: Ask, epsilon: str, every: int
) -> None:
    quick = replace(book, every=every)
    publish(quick, asked(epsilon))
    before = book.events()
    for rows in ("2" * 64, None):
        with pytest.raises(GateRefused, match=f"costs ε = {epsilon}"):
            quick.begin(ID, asked(epsilon), "other", rows)
    assert book.events() == before


def test_they_are_also_refused_after_the_order_has_changed(book: Ledger, asked: Ask) -> None:
    publish(book, asked())
    publish(book, asked(), "shuffled")
    with pytest.raises(GateRefused, match="with the rows that it was published with"):
        book.begin(ID, asked(), "other", "2" * 64)


def test_before_it_is_published_nothing_is_out_and_other_rows_may_be_written(
    book: Ledger, asked: Ask
) -> None:
    book.begin(ID, asked(), "digest", ROWS)
    book.enter_failed(ID, begun=True)
    publish(book, asked(), "other", "2" * 64)
    assert release_states(book.events())[ID].last.rows_digest == "2" * 64


def test_an_entry_without_a_digest_of_rows_allows_the_same_table_alone(book: Ledger, asked: Ask) -> None:
    """As events of 0.1.0 are, and releases that were adopted."""
    assert adopt(book, ID, asked(), "digest")
    book.begin(ID, asked(), "digest", ROWS)
    with pytest.raises(GateRefused, match="with the rows that it was published with"):
        book.begin(ID, asked(), "shuffled", ROWS)


def test_what_a_crash_kept_from_the_ledger_keeps_its_rows(book: Ledger, asked: Ask) -> None:
    book.begin(ID, asked(), "digest", ROWS)
    book.enter_found(shown("digest"))  # renamed, and then killed
    assert release_states(book.events())[ID].last.rows_digest == ROWS
    book.begin(ID, asked(), "shuffled", ROWS)
    book.enter_found(shown("shuffled"))  # the same once more
    with pytest.raises(GateRefused, match="with the rows that it was published with"):
        book.begin(ID, asked(), "other", "2" * 64)
    publish(book, asked(), "third")


def test_another_table_at_the_destination_does_not_change_the_rows_that_are_paid(
    book: Ledger, asked: Ask
) -> None:
    publish(book, asked())
    with pytest.raises(InputError, match="is a different one"):
        book.enter_found(shown("put there by somebody"))
    with pytest.raises(GateRefused, match="with the rows that it was published with"):
        book.begin(ID, asked(), "put there by somebody", "2" * 64)
    publish(book, asked(), "shuffled")


def test_a_table_that_nobody_had_begun_is_found_without_rows(book: Ledger, asked: Ask) -> None:
    book.begin(ID, asked(), "digest", ROWS)
    book.enter_found(shown("another"))
    assert release_states(book.events())[ID].last.rows_digest is None
    with pytest.raises(GateRefused):
        book.begin(ID, asked(), "digest", ROWS)


@pytest.mark.parametrize("every", [1, 500])
@pytest.mark.parametrize("how", ["begun", "adopted", "drawn alone"])
def test_a_manifest_never_gives_a_published_id_another_table(
    book: Ledger, asked: Ask, how: str, every: int
) -> None:
    """Else one ε pays for a table after the other: forge the digest of the next, publish it, and so on."""
    quick = replace(book, every=every)
    if how == "begun":
        publish(quick, asked("2", 2))
    elif how == "adopted":
        adopt(quick, ID, asked("2", 2), "digest")
    else:  # its manifest is out, by another ledger: entered once
        quick.open(asked("2", 2), release_id=ID, draw="c" * 64)
        assert quick.enter_failed(ID)
        with pytest.raises(InputError, match="has had it as failed"):
            quick.enter_found(shown("digest"))
    before = quick.events()
    for digest in ("other", "a third"):
        with pytest.raises(InputError, match="The ε was paid for the table with the data_digest digest"):
            quick.enter_found(shown(digest))
        with pytest.raises(InputError, match="Nothing was entered"):
            quick.enter_published(ID, digest)
        with pytest.raises(GateRefused, match="its ε has paid for one table"):
            quick.begin(ID, asked("2", 2), digest, "2" * 64)
    assert quick.enter_found(shown("digest"))
    assert quick.events() == before


@pytest.mark.parametrize("every", [1, 500])
def test_what_was_begun_once_before_another_table_went_out_is_not_its_table(
    book: Ledger, asked: Ask, every: int
) -> None:
    quick = replace(book, every=every)
    quick.begin(ID, asked(), "never out", "2" * 64)
    assert quick.enter_failed(ID, begun=True)
    publish(quick, asked())
    with pytest.raises(InputError, match="is a different one"):
        quick.enter_found(shown("never out"))


@pytest.mark.parametrize("every", [1, 500])
def test_a_new_order_that_was_not_written_leaves_the_table_before(
    book: Ledger, asked: Ask, every: int
) -> None:
    """A crash before the rename: the destination shows the table before, which is its table still."""
    quick = replace(book, every=every)
    publish(quick, asked("2", 2))
    token = quick.begin(ID, asked("2", 2), "shuffled", ROWS)
    again = release_states(quick.events())[ID]
    assert (again.name, again.counts) == ("published, being written again", True)
    assert not quick.enter_failed(ID, begun=True, token=token)
    with pytest.raises(InputError, match="is not open"):
        close(quick, ID, seen=token, there=lambda: False)
    quick.enter_found(shown("digest"))
    assert release_states(quick.events())[ID].name == "published"
    with pytest.raises(GateRefused, match="changed while it was being written"), hold_fence(quick, ID, token):
        raise AssertionError("renamed")
    quick.begin(ID, asked("2", 2), "once more", ROWS)
    quick.withdraw(ID)
    assert release_states(quick.events())[ID].last.data_digest == "digest"


def test_a_table_of_before_version_4_stays_the_first_one(book: Ledger, asked: Ask) -> None:
    """0.1.0 entered every digest that a manifest showed: its ε has paid for the first."""
    adopt(book, ID, asked(), "first")
    with book.page() as page:
        book.add(page, ID, "published", asked(), "second")
    book.begin(ID, asked(), "first", ROWS)
    with pytest.raises(GateRefused, match="its ε has paid for one table"):
        book.begin(ID, asked(), "second", ROWS)


def test_withdrawn_rows_stay_in_the_ledger_and_are_refused(book: Ledger, asked: Ask) -> None:
    publish(book, asked())
    book.withdraw(ID)
    assert release_states(book.events())[ID].last.rows_digest == ROWS
    with pytest.raises(GateRefused, match="was withdrawn"):
        book.begin(ID, asked(), "shuffled", ROWS)


def test_another_dataset_with_the_same_columns_is_found_once_it_is_published(
    book: Ledger, asked: Ask
) -> None:
    ours, theirs = (replace(asked(dataset=name), source_columns="c") for name in ("ours", "theirs"))
    book.begin(ID, theirs, "digest", ROWS)
    assert not book.has_columns_elsewhere(ours)  # it may never be published
    book.enter_published(ID, "digest")
    assert book.has_columns_elsewhere(ours)
    assert not book.has_columns_elsewhere(theirs)
    assert not book.has_columns_elsewhere(replace(ours, source_columns="d"))
    assert not book.has_columns_elsewhere(replace(ours, source_columns=None))
    book.withdraw(ID)
    assert book.has_columns_elsewhere(ours)  # somebody may have it


def test_releases_of_before_version_5_are_not_compared(book: Ledger, asked: Ask) -> None:
    publish(book, asked(dataset="theirs"))
    for columns in (None, "c"):
        assert not book.has_columns_elsewhere(replace(asked(dataset="ours"), source_columns=columns))
