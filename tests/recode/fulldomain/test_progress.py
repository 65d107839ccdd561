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

from anon_pipeline.recode import Constraints, Progress, Task, recode

ROOT = Path(__file__).resolve().parents[3]

_SEARCH = """
import sys
import numpy as np
from anon_pipeline.hierarchy.model import Hierarchy
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
