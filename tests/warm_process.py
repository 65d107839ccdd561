"""Processes of Python that start warm: libraries of others are imported once, then each program is a fork.

A program has its own process, environment, folder, import path and modules; of this package it imports all
itself. What a start from nothing does is tested where that matters, with processes from nothing.
Belongs here: the process that forks, and asking it. Does not belong here: what programs are asked to do.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 300
"""After so many a program is killed."""

_LIBRARIES = (
    *("click", "cryptography", "fsspec", "jinja2", "numba", "numpy", "pandas", "pandera.pandas"),
    *("pyarrow.compute", "pyarrow.parquet", "pydantic", "rich.console", "scipy.stats", "sqlalchemy"),
    *("threadpoolctl", "yaml"),
)


class WarmProcess:
    """A process that forks; `run` asks it for one program."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(
        self,
        program: str,
        *arguments: str,
        site: Path,
        environment: Mapping[str, str],
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as ``python -c`` does.

        Args:
            program: its text.
            arguments: its `sys.argv`, from the second on.
            site: folder of packages, put on the import path after this project.
            environment: all of it.
            cwd: folder to run in; None: this process's.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {
            "program": program,
            "arguments": ["-c", *arguments],
            "site": str(site),
            "environment": dict(environment),
            "cwd": str(cwd or Path.cwd()),
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        told = json.loads(self._process.stdout.readline())
        return subprocess.CompletedProcess(["-c", *arguments], told["code"], told["out"], told["err"])


@contextmanager
def warm_process(*more: str) -> Iterator[WarmProcess]:
    """Start a process that has the libraries, and more of them, and end it."""
    command = [sys.executable, str(Path(__file__)), *more]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with started:
        yield WarmProcess(started)
        assert started.stdin is not None
        started.stdin.close()


def _serve() -> None:
    """Fork for each line that is asked, one at a time, until there are no more."""
    sys.path[0] = str(ROOT)  # as with PYTHONPATH, for ``python -c`` in a folder without modules
    for name in (*_LIBRARIES, *sys.argv[1:]):
        importlib.import_module(name)
    assert not any(name.split(".")[0] == "anon_pipeline" for name in sys.modules)
    for line in sys.stdin:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = os.fork()
            if child == 0:
                _become(json.loads(line), out.fileno(), err.fileno())
            _, status = os.waitpid(child, 0)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode())
        told = {"code": os.waitstatus_to_exitcode(status), "out": texts[0], "err": texts[1]}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


def _become(asked: Mapping[str, Any], out: int, err: int) -> NoReturn:
    """Run a program in this fork, and end it with its exit code."""
    signal.alarm(SECONDS)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (out, 1), (err, 2)):
        os.dup2(source, target)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["cwd"])
    sys.argv[:] = asked["arguments"]
    sys.path[:1] = ["", str(ROOT), asked["site"]]
    code = 1
    try:
        exec(compile(asked["program"], "<string>", "exec"), {"__name__": "__main__"})
        code = 0
    except SystemExit as end:
        code = _code_of(end)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _code_of(end: SystemExit) -> int:
    """Return the exit code that Python gives to an exception, which may be a message."""
    if isinstance(end.code, int) or end.code is None:
        return (end.code or 0) & 255
    sys.stderr.write(f"{end.code}\n")
    return 1


if __name__ == "__main__":
    _serve()
