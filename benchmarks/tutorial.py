"""Follow docs/tutorial.md literally on a fresh clone, with a stopwatch: ``python -m benchmarks.tutorial``.

Belongs here: reading the commands of the page, running them, comparing what they print with what the page
shows. `tests/docs/test_tutorial.py` does the same without a clock, in an environment that is there already.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pexpect

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "tutorial.md"
SERVER: Final = "make dev"
_ASKS: Final = r"\[as proposed\]: "
_PATIENCE: Final = 600  # seconds


@dataclass(frozen=True, slots=True)
class Step:
    """A command of the page, the lines that it shows below it, what is answered to its questions."""

    command: str
    shown: tuple[str, ...]

    @property
    def answers(self) -> list[str]:
        """Return what the page answers, in order."""
        return [line.split("]: ", 1)[1] for line in self.shown if re.search(_ASKS + ".", line)]


def steps(page: str) -> Iterator[Step]:
    """Yield the commands of the page's console blocks; a command begins with ``$``."""
    for block in re.findall(r"^```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        for text in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = text.splitlines()
            yield Step(command, tuple(line for line in shown if line.strip()))


def run(step: Step, folder: Path, environ: Mapping[str, str]) -> tuple[int, str]:
    """Run a command in a terminal, give the page's answers; return the exit code and what was printed."""
    child = pexpect.spawn(
        *("bash", ["-c", step.command]),
        cwd=folder,
        env={**environ, "TERM": "dumb"},
        encoding="utf-8",
        timeout=_PATIENCE,
        dimensions=(50, 200),
    )
    printed = ""
    for answer in step.answers:
        child.expect(_ASKS)
        printed += child.before + child.after
        child.sendline(answer)
    child.expect(pexpect.EOF)
    child.wait()  # its terminal may be closed before it ends, and `close` would hang up on it
    child.close()
    return int(child.exitstatus or 0) or int(child.signalstatus or 0), printed + child.before


def not_printed(step: Step, printed: str) -> list[str]:
    """Return the lines of the page that the command did not print, in this order; ``…`` is anything."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed)
    lines = [" ".join(line.split()) for line in re.split(r"[\r\n]+", plain)]
    missing, place = [], 0
    for shown in step.shown:
        if shown.strip() == "…":
            continue
        parts = [re.escape(" ".join(part.split())) for part in shown.split("…")]
        found = [i for i in range(place, len(lines)) if re.fullmatch(r"\s*.*\s*".join(parts), lines[i])]
        place = found[0] + 1 if found else place
        missing += [] if found else [shown]
    return missing


@contextmanager
def serve(step: Step, folder: Path, environ: Mapping[str, str]) -> Iterator[str]:
    """Run the command of the server, on a free port; yield its address when it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        step.command.split(),
        cwd=folder,
        env={**environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield _answering(f"http://127.0.0.1:{port}")
    finally:
        os.killpg(process.pid, signal.SIGINT)  # Ctrl-C
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:  # a shell makes background processes ignore Ctrl-C
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _answering(address: str) -> str:
    for _ in range(_PATIENCE):
        try:
            with urllib.request.urlopen(f"{address}/server_info", timeout=2):
                return address
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
    raise TimeoutError("Dagster did not start")


def main() -> int:
    """Clone the repository, run every command of the page, print the seconds of each."""
    with tempfile.TemporaryDirectory(prefix="anon_pipeline_") as above:
        folder = Path(above) / "anon-pipeline"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
        kept = {
            name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}
        }
        environ = {**kept, "PATH": f"{folder}/.venv/bin{os.pathsep}{os.environ['PATH']}"}
        environ["NUMBA_CACHE_DIR"] = f"{above}/kernels"  # a fresh machine has compiled nothing
        begun, wrong = time.perf_counter(), 0
        for step in steps(PAGE.read_text(encoding="utf-8")):
            start, missing, code = time.perf_counter(), [], 0
            if step.command == SERVER:
                with serve(step, folder, environ):
                    pass
            else:
                code, printed = run(step, folder, environ)
                missing = not_printed(step, printed)
            wrong += bool(missing or code)
            print(f"{time.perf_counter() - start:7.1f} s  {step.command}", flush=True)
            print("".join(f"           not printed: {line}\n" for line in missing), end="")
        print(f"{time.perf_counter() - begun:7.1f} s  in all; {wrong} commands differ from the page")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
