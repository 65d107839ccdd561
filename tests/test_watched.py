"""Programs that run as long as the tests: they end with them, even if they, or the tests, ignore signals."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
_TESTS = """
import signal, sys
from pathlib import Path
from tests.watched import Program, start_watched
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as workers of pytest do
folder = Path(sys.argv[1])
own = "import os, time; open(os.path.join({!r}, 'pid'), 'w').write(str(os.getpid())); time.sleep(600)"
start_watched([Program([sys.executable, "-c", own.format(sys.argv[2])])], folder, ends_by=signal.SIGTERM)
print("started", flush=True)
sys.stdin.read()
"""


def test_a_program_ends_with_tests_that_ignore_the_signal(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    tests = subprocess.Popen(
        [sys.executable, "-c", _TESTS, str(folder), str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "PYTEST_XDIST_WORKER"}
        | {"PYTHONPATH": str(ROOT)},
    )
    assert tests.stdout is not None
    assert tests.stdout.readline() == "started\n"
    program = int(_soon(tmp_path / "pid"))
    tests.kill()
    tests.wait()
    for _ in range(200):
        if not folder.exists():
            break
        time.sleep(0.1)
    with pytest.raises(ProcessLookupError):
        os.kill(program, 0)
    assert not folder.exists()


def _soon(path: Path) -> str:
    """Return what is written into a file, as soon as it is."""
    for _ in range(200):
        if path.exists() and path.read_text():
            return path.read_text()
        time.sleep(0.1)
    raise AssertionError("the program must start")
