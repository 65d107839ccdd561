"""Closing and publishing never pass each other: what was closed is refused by name, what is out counts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.ledger.chain import Event
from anon_pipeline.ledger.fence import close, hold_fence
from anon_pipeline.ledger.requests import Asked
from anon_pipeline.ledger.store import store_at

Ask = Callable[..., Asked]
ROOT = Path(__file__).resolve().parents[2]


def last(book: Ledger, release_id: str) -> Event:
    return release_states(book.events())[release_id].last


def closed(book: Ledger, release_id: str, *, there: bool = False) -> None:
    close(book, release_id, seen=last(book, release_id).hash, there=lambda: there)


def test_what_was_closed_before_its_writing_is_refused_by_name(book: Ledger, asked: Ask) -> None:
    release_id = book.open(asked("2", 9))
    closed(book, release_id)
    with pytest.raises(GateRefused, match="was closed as failed on 2026-06-01T12:00:00"):
        book.begin(release_id, asked("2", 9), "digest")
    assert not release_states(book.events())[release_id].counts


def test_what_was_closed_while_it_was_written_cannot_be_renamed(book: Ledger, asked: Ask) -> None:
    release_id = book.open(asked("2", 2))
    token = book.begin(release_id, asked("2", 2), "digest")
    with hold_fence(book, release_id, token):
        pass
    closed(book, release_id)
    book.open(asked("2", 2))  # the budget was given back
    with (
        pytest.raises(GateRefused, match="it is failed, closed since 2026"),
        hold_fence(book, release_id, token),
    ):
        raise AssertionError("renamed")
    with pytest.raises(GateRefused, match="was closed as failed"):
        book.begin(release_id, asked("2", 2), "digest")


def test_a_release_that_went_out_after_it_was_closed_counts_and_is_told(book: Ledger, asked: Ask) -> None:
    release_id = book.open(asked("2", 2))
    book.begin(release_id, asked("2", 2), "digest")
    closed(book, release_id)
    with pytest.raises(InputError, match=r"has had it as failed .* counts as published now, with ε = 2"):
        book.enter_published(release_id, "digest")
    state = release_states(book.events())[release_id]
    assert (state.name, state.counts) == ("published, after failed", True)
    with pytest.raises(GateRefused, match="spent 2"):
        book.open(asked("2", 2))
    book.enter_published(release_id, "digest")  # told once


def test_what_is_at_its_destination_is_not_closed(book: Ledger, asked: Ask) -> None:
    release_id = book.open(asked())
    book.begin(release_id, asked(), "digest")
    with pytest.raises(InputError, match="is at its destination"):
        closed(book, release_id, there=True)
    assert last(book, release_id).event == "opened"


def test_what_has_changed_since_it_was_looked_at_is_not_closed(book: Ledger, asked: Ask) -> None:
    release_id = book.open(asked())
    seen = last(book, release_id).hash
    book.begin(release_id, asked(), "digest")
    with pytest.raises(InputError, match=r"changed since it was looked up.* \(state: open"):
        close(book, release_id, seen=seen, there=lambda: False)


def test_the_second_who_writes_a_release_holds_off_the_first(book: Ledger, asked: Ask) -> None:
    """And the first cannot call failed what the second writes."""
    release_id = book.open(asked())
    first = book.begin(release_id, asked(), "digest")
    second = book.begin(release_id, asked(), "digest")
    with pytest.raises(GateRefused, match="it is open since"), hold_fence(book, release_id, first):
        raise AssertionError("renamed")
    assert not book.enter_failed(release_id, begun=True, token=first)
    with hold_fence(book, release_id, second):
        pass
    book.enter_published(release_id, "digest")
    assert last(book, release_id).event == "published"


def test_a_withdrawal_is_not_overtaken_either(book: Ledger, asked: Ask) -> None:
    release_id = book.open(asked())
    book.begin(release_id, asked(), "digest")
    book.enter_published(release_id, "digest")
    token = book.begin(release_id, asked(), "digest")  # once more
    book.withdraw(release_id)
    with pytest.raises(GateRefused, match="it is withdrawn since"), hold_fence(book, release_id, token):
        raise AssertionError("renamed")
    with pytest.raises(InputError, match="has had it as withdrawn"):
        book.enter_published(release_id, "digest")
    assert last(book, release_id).note == "after withdrawn"


def test_what_failed_by_itself_can_be_published_after_all(book: Ledger, asked: Ask) -> None:
    release_id = book.open(asked("2", 2))
    book.enter_failed(release_id)
    token = book.begin(release_id, asked("2", 2), "digest")
    with hold_fence(book, release_id, token):
        pass
    book.enter_published(release_id, "digest")
    assert last(book, release_id).note is None


PUBLISHER = """
import random, sys, time
from pathlib import Path
from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.ledger import Asked, ledger_at
from anon_pipeline.ledger.fence import hold_fence
from anon_pipeline.policy.sections import Budget
book, folder, chance = ledger_at(sys.argv[1]), Path(sys.argv[2]), random.Random(int(sys.argv[3]))
asked = Asked("people", "small", None, "policy", "making", 5, "1", Budget(epsilon=3))
print("ready", flush=True)
sys.stdin.readline()
for attempt in range(12):
    try:
        release_id = book.open(asked)
        token = book.begin(release_id, asked, "digest")
        time.sleep(2 if attempt == 0 else chance.random() / 50)  # the first ones are closed
        with hold_fence(book, release_id, token):
            (folder / release_id).touch()
        time.sleep(chance.random() / 50)
        book.enter_published(release_id, "digest")
    except GateRefused:
        time.sleep(chance.random() / 50)
"""
CLOSER = """
import random, sys, time
from pathlib import Path
from anon_pipeline.base.errors import InputError
from anon_pipeline.ledger import ledger_at
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.ledger.fence import close
book, folder = ledger_at(sys.argv[1]), Path(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
end = time.monotonic() + 4
while time.monotonic() < end:
    for state in release_states(book.events()).values():
        if state.last.event == "opened":
            there = (folder / state.last.release_id).exists
            try:
                close(book, state.last.release_id, seen=state.last.hash, there=there)
            except InputError:
                pass
    time.sleep(0.01)
"""


def test_closing_and_publishing_at_once_never_exceed_the_budget(url: str, tmp_path: Path) -> None:
    """Three publish releases of ε = 1 under a budget of 3, one closes all that is open, all the time."""
    Ledger(store_at(url))
    folder = tmp_path / "out"
    folder.mkdir()
    command = [
        *([sys.executable, "-c", PUBLISHER, url, str(folder), str(seed)] for seed in range(3)),
        [sys.executable, "-c", CLOSER, url, str(folder)],
    ]
    all_ = [subprocess.Popen(one, stdin=-1, stdout=-1, stderr=-1, text=True, cwd=ROOT) for one in command]
    assert [one.stdout.readline() for one in all_] == ["ready\n"] * 4  # type: ignore[union-attr]
    for one in all_:
        one.stdin.write("go\n")  # type: ignore[union-attr]
        one.stdin.flush()  # type: ignore[union-attr]
    said = [one.communicate()[1] for one in all_]
    assert said == [""] * 4
    book = Ledger(store_at(url))
    found = release_states(book.events())
    out = {path.name for path in folder.iterdir()}
    assert out == {key for key, state in found.items() if state.last.event == "published"}
    assert len(out) == 3
    assert any(state.last.note == "closed" for state in found.values())
    assert book.verify() is None
