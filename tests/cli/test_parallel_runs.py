"""Several partitions at a time: each says what it says alone, and a failure begins no further one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from anon_pipeline.cli import parallel_runs
from anon_pipeline.cli.parallel_runs import run_command, run_each, run_partitions
from anon_pipeline.cli.run_workers import Worker
from tests.cli.projects import Folder

KEYS = ("north", "south", "west")
SERVING = "from anon_pipeline.cli.run_workers import serve; serve(main)"
PROGRAM = (
    """
import os, sys, time
from pathlib import Path
def main():
    folder, key = Path(sys.argv[1]), sys.argv[-1]
    print("out", key)
    print("err", key, file=sys.stderr)
    time.sleep({"slow": 1.0}.get(key, 0))
    (folder / key).write_text(str(os.getpid()))
    sys.exit({"refused": 1, "infeasible": 3, "wrong": 2}.get(key, 0))
"""
    + SERVING
)


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers run the program above."""
    monkeypatch.setattr(parallel_runs, "Worker", partial(Worker, program(PROGRAM)))


def program(text: str) -> str:
    """Return a program of several lines as one that can be put behind others."""
    return f"exec({text!r})"


def made(
    capsys: pytest.CaptureFixture[str], folder: Path, keys: list[str], jobs: int
) -> tuple[int, str, str]:
    code = run_partitions([str(folder)], keys, jobs=jobs)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.parametrize("jobs", [1, 2, 9])
@pytest.mark.usefixtures("faked")
def test_each_is_made_and_says_what_it_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, jobs: int
) -> None:
    code, out, err = made(capsys, tmp_path, [*KEYS], jobs)
    assert code == 0
    for key in KEYS:
        assert f"partition {key}\nout {key}\n" in out
        assert f"err {key}\n" in err
    assert out.endswith("3 of 3 partitions published\n")


@pytest.mark.usefixtures("faked")
def test_a_process_makes_several_releases(tmp_path: Path) -> None:
    ended = [*run_each([str(tmp_path)], ["north", "refused", "south", "west"], 2)]
    assert {one.code for one in ended} == {0, 1}
    assert len({path.read_text() for path in tmp_path.iterdir()}) <= 2


@pytest.mark.usefixtures("faked")
def test_refusals_stop_no_other(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = made(capsys, tmp_path, ["infeasible", "refused", "north"], 1)
    assert code == 1
    assert out.endswith("1 of 3 partitions published; refused: infeasible, refused\n")
    assert (tmp_path / "north").exists()


@pytest.mark.usefixtures("faked")
def test_a_refusal_begins_no_further_one_where_that_is_asked_for(tmp_path: Path) -> None:
    ended = run_each([str(tmp_path)], ["north", "refused", "south", "west"], 1, until_refused=True)
    assert [(one.partition, one.code) for one in ended] == [("north", 0), ("refused", 1)]
    assert not (tmp_path / "south").exists()


@pytest.mark.usefixtures("faked")
def test_any_other_failure_begins_no_further_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = made(capsys, tmp_path, ["slow", "wrong", "south", "west"], 2)
    assert code == 2
    assert out.endswith("1 of 4 partitions published; failed: wrong; not begun: south, west\n")
    assert (tmp_path / "slow").exists()  # it had begun
    assert not (tmp_path / "west").exists()


def test_the_command_is_that_of_one_partition() -> None:
    options = {"project": Path("there"), "allow_outside": True, "to_dagster": True}
    words = run_command("run", Path("policy.yaml"), options)
    assert words == ["run", "policy.yaml", "--project", "there", "--allow-outside", "--report-to-dagster"]
    plain = {"project": None, "allow_outside": False, "to_dagster": False}
    assert run_command("run", Path("policy.yaml"), plain) == ["run", "policy.yaml"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--jobs", "2"], "--jobs must be given with --partitions only"),
        (["--partitions", "north...west", "--jobs", "2", "--json"], "must not be given with --json"),
        (["--partitions", "north...west", "--jobs", "2", "--mistakes-to", "m.txt"], "or --mistakes-to"),
    ],
)
def test_jobs_are_for_several_partitions_and_lines(
    folder: Callable[..., Folder], words: list[str], message: str
) -> None:
    schedule = {} if "--partitions" not in words else {"schedule": {"partitions": "listed", "keys": [*KEYS]}}
    done = folder(**schedule).call("run", "policy.yaml", *words)
    assert done.code == 2
    assert message in done.err


SLEEPER = (
    """
import os, sys, time
from pathlib import Path
def main():
    Path(sys.argv[1], sys.argv[-1]).write_text(str(os.getpid()))
    time.sleep(60)
"""
    + SERVING
)
PARENT = """
import signal, sys
from functools import partial
from anon_pipeline.cli import parallel_runs, run_workers
from anon_pipeline.cli.interrupts import ended_by_interrupts
signal.signal(signal.SIGINT, signal.default_int_handler)  # workers of tests ignore both, and so would
signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the runs, too
parallel_runs.Worker = partial(run_workers.Worker, sys.argv[1])
with ended_by_interrupts():
    parallel_runs.run_partitions([sys.argv[2]], ["a", "b", "c", "d"], jobs=2)
"""


def ends(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_runs_and_begins_no_other(tmp_path: Path, number: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, program(SLEEPER), str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(600):
        begun = [path for path in (tmp_path / "a", tmp_path / "b") if path.exists() and path.read_text()]
        if len(begun) == 2:
            break
        time.sleep(0.1)
    pids = [int(path.read_text()) for path in begun]
    parent.send_signal(number)  # to it alone: a terminal tells the others as well
    said = parent.communicate(timeout=30)[1]
    assert parent.returncode != 0
    assert (
        "0 of 4 partitions published. To make the others and to finish deliveries, repeat the command" in said
    )
    assert len(pids) == 2
    assert all(ends(pid) for pid in pids)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
