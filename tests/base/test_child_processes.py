"""A process ends with the one that has started it, also if that is killed. No test reads a clock."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from anon_pipeline.base import child_processes

ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import time
from anon_pipeline.base.child_processes import end_with
end_with({parent})
print("begun", flush=True)
time.sleep(60)
print("not ended")
"""
PARENT = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, getattr(signal, sys.argv[2]))
subprocess.run([sys.executable, "-c", sys.argv[1].format(parent=os.getpid())])
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells that a parent has ended")


@pytest.mark.parametrize("before", ["SIG_DFL", "SIG_IGN"])
def test_a_child_ends_with_its_killed_parent(before: str) -> None:
    """Also if SIGTERM is ignored, as workers of pytest do."""
    command = [sys.executable, "-c", PARENT, CHILD, before]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "begun\n"
        parent.kill()
        assert parent.stdout.read() == ""  # the child has it open, too, until it ends


def test_a_child_whose_parent_has_ended_before_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: object) -> None:
        raise OSError

    monkeypatch.setattr(child_processes.ctypes, "CDLL", refused)  # this process is to stay as it is
    monkeypatch.setattr(child_processes.signal, "getsignal", lambda number: None)
    with pytest.raises(SystemExit) as ended:
        child_processes.end_with(os.getpid())
    assert ended.value.code == 143
    child_processes.end_with(os.getppid())


def test_the_program_is_the_command_line() -> None:
    words = [sys.executable, "-c", child_processes.program_ending_with_this(), "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "version" in done.stdout
