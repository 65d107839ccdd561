"""A long search says how far it is, and Ctrl-C ends it at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_pipeline.recode import Constraints, Progress, SensitiveLimit, Task, recode

ROOT = Path(__file__).resolve().parents[2]

_SEARCH = """
import signal
import sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in its background
import numpy as np
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import Constraints, Task, recode

lookups = (np.arange(64), np.arange(64) // 4, np.arange(64) // 16, np.zeros(64, np.int64))
values = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in lookups)
hierarchies = tuple(Hierarchy(f"c{column}", lookups, values) for column in range(9))
codes = np.random.default_rng(1).integers(0, 64, (20_000, 9))

def told(progress):
    if progress.doing == "searching" and progress.counted > 30:
        print("searching", flush=True)

import click
from anon_pipeline import cli

@click.command()
def search():
    recode(Task(codes, hierarchies, Constraints(5, 1000), "optimal", loss="average_class_size", told=told))

cli.cli.add_command(search)
sys.argv = ["anon-pipeline", "search"]
cli.main()
"""


@pytest.fixture
def searching() -> Any:
    """A child process in the middle of a search of 262,144 nodes."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SEARCH],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.communicate()


def test_an_interrupt_ends_a_search_without_a_traceback(searching: Any) -> None:
    assert searching.stdout.readline() == "searching\n"
    searching.send_signal(signal.SIGINT)
    _, errors = searching.communicate(timeout=10)
    assert searching.returncode == 130
    assert "Aborted!" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("recoder", ["optimal", "ola"])
def test_a_search_tells_what_it_does(recoder: str, from_rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from anon_pipeline.recode.fulldomain import search

    monkeypatch.setattr(search, "_TELL", 0.0)
    heard: list[Progress] = []
    rows = [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")]
    hierarchies = tuple(from_rows(name, rows) for name in "xyz")
    codes = np.random.default_rng(2).integers(0, 3, (40, 3))
    task = Task(codes, hierarchies, Constraints(4, 2), recoder, told=heard.append)
    recoding = recode(task)
    assert heard[0] == Progress("loading")
    assert {progress.doing for progress in heard[1:]} == {"searching"}
    counted = [progress.counted for progress in heard[1:]]
    assert counted == list(range(1, recoding.checked + 1))
    assert all(0 <= progress.left <= 27 for progress in heard)


@pytest.mark.parametrize("recoder", ["mdav", "vmdav", "kanon_first", "tclose_first", "mondrian"])
def test_a_long_division_tells_how_many_records_are_in_classes(
    recoder: str, from_rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anon_pipeline.recode.microaggregation import algorithms as clusters
    from anon_pipeline.recode.microaggregation import closefirst
    from anon_pipeline.recode.mondrian import mondrian as classes

    monkeypatch.setattr(classes, "CELLS_AT_ONCE", 1)
    monkeypatch.setattr(clusters, "_rounds", lambda *_: 1)
    monkeypatch.setattr(closefirst, "_STEP", 1)
    hierarchy = from_rows("x", [(letter, "*") for letter in "abcdefgh"])
    codes, secret = np.arange(64).reshape(-1, 1) % 8, np.arange(64) // 8 % 8
    limit = SensitiveLimit("pay", secret, np.bincount(secret), "ordered", t=0.5)
    told: list[Progress] = []
    recode(Task(codes, (hierarchy,), Constraints(4, 64, (limit,)), recoder, told=told.append))
    steps = [far for far in told if far.doing == "dividing"]
    assert len(steps) > 2
    assert all(far.counted + far.left == 64 for far in steps)
    assert [far.counted for far in steps] == sorted(far.counted for far in steps)
