"""A function by several processes: the same results in the same order, and errors that say nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError, StageCrashed
from anon_pipeline.base.worker_processes import map_in_processes

ROOT = Path(__file__).resolve().parents[2]


def double(number: int) -> tuple[int, int]:
    return 2 * number, os.getpid()


def look_around(name: str) -> tuple[str | None, str]:
    return os.environ.get(name), str(Path.cwd())


def fail(kind: str) -> str:
    if kind == "named":
        raise InputError(["one line", "another"])
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "disk":
        raise TimeoutError("Jane Doe's disk is slow")
    if kind == "bug":
        raise ValueError("Jane Doe has a cold")
    return kind


@pytest.mark.parametrize("jobs", [1, 2, 9])
def test_results_come_in_the_order_of_the_items(jobs: int) -> None:
    found = list(map_in_processes(double, range(5), jobs=jobs, stage="here"))
    assert [doubled for doubled, _ in found] == [0, 2, 4, 6, 8]
    others = {pid for _, pid in found} - {os.getpid()}
    assert bool(others) == (jobs > 1)
    assert len(others) <= jobs


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_items_need_no_process(jobs: int) -> None:
    assert list(map_in_processes(double, [], jobs=jobs, stage="here")) == []


def test_they_have_environment_and_folder_of_the_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the server that starts them is older than both."""
    for value in ("one", "another"):
        folder = tmp_path / value
        folder.mkdir()
        monkeypatch.setenv("ANON_PIPELINE_TOLD", value)
        monkeypatch.chdir(folder)
        found = list(map_in_processes(look_around, ["ANON_PIPELINE_TOLD"] * 2, jobs=2, stage="here"))
        assert found == [(value, str(folder))] * 2


def test_a_named_error_arrives_as_it_was_raised() -> None:
    with pytest.raises(InputError) as raised:
        list(map_in_processes(fail, ["named", "fine"], jobs=2, stage="here"))
    assert raised.value.problems == ("one line", "another")


@pytest.mark.parametrize(
    ("item", "kind", "passing"), [("bug", "ValueError", False), ("disk", "TimeoutError", True)]
)
def test_a_bug_arrives_without_its_text(item: str, kind: str, passing: bool) -> None:
    with pytest.raises(StageCrashed) as raised:
        list(map_in_processes(fail, ["fine", item], jobs=2, stage="here"))
    assert (raised.value.stage, raised.value.kind, raised.value.passing) == ("here", kind, passing)
    assert "Jane" not in f"{raised.value!r} {raised.value.__cause__!r} {raised.value.__context__!r}"


def test_a_process_that_is_killed_is_an_error_with_advice() -> None:
    with pytest.raises(InputError, match="Take fewer jobs"):
        list(map_in_processes(fail, ["killed", "fine"], jobs=2, stage="here"))


PARENT = """
import os, signal, sys
from pathlib import Path
from anon_pipeline.base.worker_processes import map_in_processes
from tests.base.test_worker_processes import wait
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as workers of pytest do
list(map_in_processes(wait, [0, 1], jobs=2, stage="here"))
"""


def wait(number: int) -> None:
    import time

    sys.stdout.write(f"begun {number}\n")
    sys.stdout.flush()
    time.sleep(60)
    sys.stdout.write("not ended\n")


def test_they_end_with_a_killed_parent() -> None:
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout is not None
        assert {parent.stdout.readline(), parent.stdout.readline()} == {"begun 0\n", "begun 1\n"}
        parent.kill()
        assert parent.stdout.read() == ""  # they have it open, too, until they end
