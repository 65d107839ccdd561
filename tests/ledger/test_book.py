"""The steps of a release, and which may follow which."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import replace

import pytest

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.ledger.requests import Asked

Ask = Callable[..., Asked]


def kinds(book: Ledger) -> list[tuple[str, str | None]]:
    return [(event.event, event.data_digest) for event in book.events()]


def test_a_release_is_opened_begun_and_published(book: Ledger, asked: Ask) -> None:
    release_id = book.open(asked(partition="w1"))
    book.begin(release_id, asked(partition="w1"), "digest")
    book.enter_published(release_id, "digest")
    book.enter_published(release_id, "digest")
    assert kinds(book) == [("opened", None), ("opened", "digest"), ("published", "digest")]
    event = book.events()[-1]
    assert (event.dataset, event.release, event.partition, event.k) == ("people", "small", "w1", 5)
    assert (event.policy_digest, event.making, event.epsilon) == ("policy", "making", "2")
    assert event.owner.startswith(f"{socket.gethostname()}/{os.getpid()}/a-run/")
    assert event.at == "2026-06-01T12:00:00.000000+00:00"


def test_a_release_whose_writing_has_begun_is_not_failed_by_anybody_else(book: Ledger, asked: Ask) -> None:
    release_id = book.open(asked())
    book.begin(release_id, asked(), "digest")
    assert not book.enter_failed(release_id)
    assert book.enter_failed(release_id, begun=True)
    assert release_states(book.events())[release_id].begun is None


def test_a_failed_release_may_be_published_within_the_budget_alone(book: Ledger, asked: Ask) -> None:
    first = book.open(asked("2", 3))
    book.enter_failed(first)
    second = book.open(asked("2", 3))
    with pytest.raises(GateRefused, match="spent 2"):
        book.begin(first, asked("2", 3), "digest")
    book.enter_failed(second)
    book.begin(first, asked("2", 3), "digest")
    assert release_states(book.events())[first].counts


def test_a_release_that_the_ledger_does_not_know_is_opened_when_it_is_written(
    book: Ledger, asked: Ask
) -> None:
    book.begin("f" * 32, asked("2", 2), "digest")
    assert kinds(book) == [("drawn", None), ("opened", "digest")]
    with pytest.raises(GateRefused):
        book.begin("e" * 32, asked("2", 2), "digest")


@pytest.mark.parametrize("name", ["dataset", "release", "partition", "making", "epsilon"])
def test_what_was_opened_for_something_else_is_not_written(book: Ledger, asked: Ask, name: str) -> None:
    release_id = book.open(asked())
    with pytest.raises(GateRefused, match=f"with another {name}"):
        book.begin(release_id, replace(asked(), **{name: "1"}), "digest")
    book.begin(release_id, asked(), "digest")


@pytest.mark.parametrize("end", ["open", "failed", "begun", "published"])
@pytest.mark.parametrize(("epsilon", "draw"), [("2", "c" * 64), ("2", None), ("0", "c" * 64)])
def test_a_changed_policy_is_another_draw(
    book: Ledger, asked: Ask, epsilon: str, draw: str | None, end: str
) -> None:
    """Also with the ε = 0 of sticky noise that is all kept, and of 0.1.0, which did not mark draws."""
    release_id = book.open(asked(epsilon), release_id="a" * 32, draw=draw)
    if end in ("begun", "published"):
        book.begin(release_id, asked(epsilon), "digest")
    if end == "published":
        book.enter_published(release_id, "digest")
    if end == "failed":
        assert book.enter_failed(release_id)
    before = book.events()
    with pytest.raises(GateRefused, match="by another policy") as refused:
        book.begin(release_id, replace(asked(epsilon), policy_digest="other limits"), "digest")
    assert f"draws anew and costs ε = {epsilon}." in str(refused.value)
    assert book.events() == before
    book.begin(release_id, asked(epsilon), "digest")


def test_without_noise_a_changed_policy_draws_nothing(book: Ledger, asked: Ask) -> None:
    release_id = book.open(asked("0"))
    book.begin(release_id, replace(asked("0"), policy_digest="other limits", k=7), "digest")


def test_a_withdrawn_release_is_not_written_again(book: Ledger, asked: Ask) -> None:
    release_id = book.open(asked())
    with pytest.raises(InputError, match=r"only a published release can be withdrawn, .* is open$"):
        book.withdraw(release_id)
    book.begin(release_id, asked(), "digest")
    book.enter_published(release_id, "digest")
    book.withdraw(release_id)
    with pytest.raises(GateRefused, match="was withdrawn"):
        book.begin(release_id, asked(), "digest")
    book.enter_found({"data_digest": "digest", "facts": {"perturbed": {"release_id": release_id}}})
    assert kinds(book)[-1] == ("withdrawn", "digest")


@pytest.mark.parametrize("closed", [False, True])
def test_a_manifest_at_the_destination_closes_what_a_crash_left(
    book: Ledger, asked: Ask, closed: bool
) -> None:
    release_id = book.open(asked())
    book.begin(release_id, asked(), "digest")
    if closed:
        book.enter_failed(release_id, begun=True)  # wrongly: the destination holds it
    manifest = {"data_digest": "digest", "facts": {"perturbed": {"release_id": release_id}}}
    if closed:
        with pytest.raises(InputError, match="has had it as failed since 2026-06-01T12:00:00"):
            book.enter_found(manifest)
    assert book.enter_found(manifest)
    assert book.enter_found(manifest)
    assert kinds(book)[2 + closed :] == [("published", "digest")]
    assert book.events()[-1].note == ("after failed" if closed else None)


@pytest.mark.parametrize(
    "manifest",
    [None, {}, {"facts": None}, {"facts": {"perturbed": 3}}, {"facts": {"perturbed": {"release_id": "x"}}},
     {"data_digest": "d", "facts": {"perturbed": {"release_id": "not ours"}}}],
)  # fmt: skip
def test_a_manifest_that_says_nothing_enters_nothing(
    book: Ledger, manifest: dict[str, object] | None
) -> None:
    book.enter_found(manifest)
    assert book.events() == []


def test_an_unknown_release_cannot_be_closed(book: Ledger) -> None:
    with pytest.raises(InputError, match="does not know the release"):
        book.enter_published("f" * 32, "digest")
    assert not book.enter_failed("f" * 32)


def test_it_knows_what_was_published_and_adds_up_with_what_is_asked(book: Ledger, asked: Ask) -> None:
    ids = dict[str, str]()
    for name, ask in (
        ("one", asked(partition="w1")),
        ("two", asked(partition="w2")),
        ("other", asked(dataset="others", partition="w1")),
    ):
        ids[name] = release_id = book.open(ask)
        book.begin(release_id, ask, name)
        book.enter_published(release_id, name)
        book.withdraw(release_id)
    waiting = book.open(asked())
    book.begin(waiting, asked(), "waiting")
    assert book.knows(waiting)
    assert not book.knows("f" * 32)
    one, two, other = ((ids[name], name) for name in ("one", "two", "other"))
    assert book.tables(asked(partition="w1")) == {one, two}
    assert book.tables(asked("2", 9, partition="w1")) == {one, two}
    assert book.tables(asked("2", 9, per="record", partition="w1")) == {one}
    assert book.tables(asked(dataset="others")) == {other}
