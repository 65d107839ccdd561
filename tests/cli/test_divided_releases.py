"""All releases of a division: what is said of each, and how all of them end together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.cli import divided_releases
from anon_pipeline.cli.divided_releases import Releases, release_partitions
from anon_pipeline.cli.parallel_runs import Ended

KEYS = ("d1.1", "d1.2", "d1.3")
OPTIONS = {"jobs": 2, "project": None, "allow_outside": False}


def said(key: str, *, published: bool = True, **statuses: str) -> str:
    verdicts = [{"limit": limit, "status": status} for limit, status in statuses.items()]
    advice = [] if published else ["take a larger k"]
    found = {"published": published, "partition": key, "verdicts": verdicts, "advice": advice}
    return json.dumps({**found, "records": 1_200, "ledger": "ε = 2 is booked."})


def released(monkeypatch: pytest.MonkeyPatch, *ended: Ended) -> tuple[Releases, list[str]]:
    commands = list[Any]()

    def run(command: list[str], keys: list[str], jobs: int, *, until_refused: bool) -> Iterator[Ended]:
        assert until_refused
        commands.append((command, keys, jobs))
        yield from ended

    monkeypatch.setattr(divided_releases, "run_each", run)
    lines = list[str]()
    made = release_partitions(Path("policy-d1.yaml"), KEYS, OPTIONS, lines.append)
    ((command, keys, jobs),) = commands
    assert command[-3:] == ["run", "policy-d1.yaml", "--json"]
    assert (keys, jobs) == (KEYS, 2)
    return made, lines


def test_all_published(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, three = (said(key, k="passed", rare="warned") for key in KEYS)
    ended = [Ended("d1.3", 0, three, ""), Ended("d1.1", 0, one, "unsaid"), Ended("d1.2", 0, two, "")]
    made, lines = released(monkeypatch, *ended)
    assert made.complete
    assert made.code == 0
    assert "rehearse, with its own policy" in lines[4]
    assert [one["partition"] for one in made.in_order()] == [*KEYS]
    assert lines == [
        "published   d1.3: 1,200 records",
        "published   d1.1: 1,200 records",
        "published   d1.2: 1,200 records",
        "warned      rare: 3 of 3 partitions",
        lines[4],
        "ledger      in each of 3 partitions (a record is in one of them): ε = 2 is booked.",
        "3 of 3 partitions published",
    ]


def test_some_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    refused = said("d1.2", published=False, k="passed", rare="refused", t="refused")
    ended = [
        Ended("d1.1", 0, said("d1.1"), ""),
        Ended("d1.2", 1, refused, "why\n"),
        Ended("d1.3", 3, "", "no\n"),
    ]
    made, lines = released(monkeypatch, *ended)
    assert not made.complete
    assert made.code == 1
    assert [one["partition"] for one in made.in_order()] == ["d1.1", "d1.2"]
    assert lines[1:] == [
        "refused     d1.2: rare, t",
        "refused     d1.3",
        "advice      take a larger k (1 of 3 partitions)",
        "ledger      in each of 2 partitions (a record is in one of them): ε = 2 is booked.",
        "1 of 3 partitions published",
    ]
    assert capsys.readouterr().err == "why\nno\n"


def test_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    made, lines = released(monkeypatch, Ended("d1.2", 1, "", ""), Ended("d1.1", 70, "", "bug\n"))
    assert made.code == 70
    assert lines[1:] == ["failed      d1.1: exit code 70", "0 of 3 partitions published; not begun: d1.3"]
