"""What `ledger list` says of releases, from the states of a ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from anon_pipeline.cli.ledger_output import describe_total, print_releases, release_row
from anon_pipeline.ledger import ledger_at, requested_by
from anon_pipeline.ledger.budget import State, release_states
from anon_pipeline.policy import Policy


@pytest.fixture
def states(tmp_path: Path, small_policy: Callable[..., Policy]) -> list[State]:
    """A release that is out, one that failed and one that is open, all of ε = 2."""
    book = ledger_at(f"sqlite:///{tmp_path}/ledger.sqlite")
    asked = replace(requested_by(small_policy(dataset="people"), "w1"), budget=None)
    published, failed, _ = (book.open(asked) for _ in range(3))
    book.begin(published, asked, "0123456789")
    book.enter_published(published, "0123456789")
    book.enter_failed(failed)
    return list(release_states(book.events()).values())


def test_the_total_counts_what_is_spent_and_says_what_is_open(states: list[State]) -> None:
    assert describe_total("people", states) == "people: ε = 4 spent, releases: 2, of them open: 1"
    assert describe_total("people", states[1:2]) == "people: ε = 0 spent, releases: 0"


def test_of_a_divided_table_the_total_counts_one_partition(
    tmp_path: Path, small_policy: Callable[..., Policy]
) -> None:
    book = ledger_at(f"sqlite:///{tmp_path}/ledger.sqlite")
    asked = replace(requested_by(small_policy(dataset="people"), "w1"), budget=None)
    for kind, key in (
        *(("listed", f"d1.{number}") for number in (1, 2, 2, 3)),
        *(("listed", f"d2.{number}") for number in (1, 2)),
        *(("listed", "north"), ("listed", "south"), ("none", None)),
    ):
        book.open(replace(asked, partition=key, partition_kind=kind))
    states = list(release_states(book.events()).values())
    # d1: the second partition twice, 4; d2: 2; both regions and the whole table count: 6
    assert describe_total("people", states) == (
        "people: ε = 12 spent, releases: 9, of them open: 9. No record has spent more: it is in one "
        "partition of each divided table. All partitions together: ε = 18"
    )
    assert describe_total("people", states[6:]) == "people: ε = 6 spent, releases: 3, of them open: 3"


def test_a_row_has_the_exact_epsilon_and_none_for_what_failed(states: list[State]) -> None:
    rows = [release_row(state) for state in states]
    assert [row["epsilon"] for row in rows] == ["2", "0", "2"]
    assert [row["state"] for row in rows] == ["published", "failed", "open"]
    assert [row["data_digest"] for row in rows] == ["0123456789", None, None]


def test_the_table_has_a_line_for_each_release(
    states: list[State], capsys: pytest.CaptureFixture[str]
) -> None:
    print_releases(states)
    lines = [line for line in capsys.readouterr().out.splitlines() if "│" in line]
    assert len(lines) == 3
    for line, row in zip(lines, [release_row(state) for state in states], strict=True):
        assert row["id"][:12] in line
        assert row["id"] not in line
