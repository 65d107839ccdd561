"""Fresh processes that read a torn CSV file: how each ends.

Run as ``python -m tests.adversarial.torn [--small 300] [--whole 40]``: prints a row for each way of reading,
and exits with 1 unless every process ended by itself, with its exit code and its message. Arrow's threads
once called Python when the process ended, which aborted it in about one of a hundred runs (SIGABRT),
after the right message. Belongs here: the files, starting and counting the processes. Does not belong here:
reading (`sources.files`).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.adversarial.bad_inputs import BadInput, write_project
from tests.adversarial.canaries import FOLDER

__all__ = ["CASES", "Case", "ended", "main", "write"]

_SMALL = """
import sys
from pathlib import Path
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources.files import read_csv
path, encoding, rows, held = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4] == "held"
source = Held(path.name, path.read_bytes()) if held else path
try:
    read_csv(source, options=SourceOptions(encoding=encoding), limits=Limits(rows=rows, line_bytes=65_536))
except InputError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""
_LINES = "a,b\n" + "1,2\n3\n" * 400
_LATE = "a,b\n" + "1000000,2000000\n" * 400_000 + "3\n" * 7 + "1000000,2000000\n" * 200_000


@dataclass(frozen=True, slots=True)
class Case:
    """A torn file, and one way to read it.

    name: in words.
    text: of the file.
    says: part of the message that a process must end with.
    encoding: of the file.
    rows: limit of records; a file of more lines is counted block by block first.
    held: whether its bytes are given, not its path.
    """

    name: str
    text: str
    says: str
    encoding: str = "utf-8"
    rows: int = 10_000_000
    held: bool = False

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return what the process is told beside the file."""
        return (self.encoding, str(self.rows), "held" if self.held else "path")


CASES = (
    Case("800 lines, 400 of them torn", _LINES, "every line must have 2 fields, got 400 lines"),
    Case("10 MB, torn in a late block", _LATE, "every line must have 2 fields, got 7 lines"),
    Case("the same, its bytes given", _LATE, "every line must have 2 fields, got 7 lines", held=True),
    Case("latin-1, 10 MB", _LATE, "every line must have 2 fields, got 7 lines", encoding="latin-1"),
    Case("counted block by block before", _LATE, "as many fields as the header", rows=500_000),
)
"""What small processes read; each goes another way through `read_csv`."""


def write(folder: Path) -> list[list[str]]:
    """Write each case's file and return the command of its process."""
    commands = []
    for number, case in enumerate(CASES):
        path = folder / f"torn-{number}.csv"
        path.write_text(case.text, encoding=case.encoding)
        commands.append([sys.executable, "-c", _SMALL, str(path), *case.arguments])
    return commands


def ended(command: Sequence[str], says: str, folder: Path) -> str:
    """Run a process and say how it ended: ``right``, or by which exit code, signal or message."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, env=os.environ, check=False
    )
    if done.returncode < 0:
        return f"signal {-done.returncode}"
    told = " ".join(done.stderr.split())
    if done.returncode == 2 and says in told and "Traceback" not in told:
        return "right"
    return f"exit code {done.returncode}, " + ("message as it must be" if says in told else "another message")


def _whole(folder: Path) -> list[str]:
    """Write a project with a torn source and return the command that runs it."""
    write_project(folder, BadInput("torn", files={f"{FOLDER}/people.csv": _LINES}))
    program = "from anon_pipeline.cli import main; main()"
    return [sys.executable, "-c", program, "run", "policy.yaml"]


def _count(run: Callable[[], str], times: int, workers: int) -> Counter[str]:
    with ThreadPoolExecutor(workers) as pool:
        return Counter(pool.map(lambda _: run(), range(times)))


def _rows(folder: Path, *, small: int, whole: int, workers: int) -> Iterator[tuple[str, Counter[str]]]:
    each = -(-small // len(CASES))
    for case, command in zip(CASES, write(folder), strict=True):
        yield case.name, _count(lambda: ended(command, case.says, folder), each, workers)  # noqa: B023 - run before the next
    project = folder / "project"
    command = _whole(project)
    run = lambda: ended(command, "every line must have 2 fields, got 400 lines", project)  # noqa: E731
    yield "anon-pipeline run, 800 lines", _count(run, whole, workers)


def main(arguments: list[str] | None = None) -> int:
    """Print how the processes ended."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", type=int, default=300, help="processes that read alone")
    parser.add_argument("--whole", type=int, default=40, help="processes of the command line")
    parser.add_argument("--workers", type=int, default=2, help="processes at once")
    asked = parser.parse_args(arguments)
    print("| what was read | runs | right | otherwise |\n|---|--:|--:|---|", flush=True)
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as made:
        for name, found in _rows(Path(made), small=asked.small, whole=asked.whole, workers=asked.workers):
            other = ", ".join(f"{how}: {n}" for how, n in sorted(found.items()) if how != "right")
            print(f"| {name} | {found.total()} | {found['right']} | {other or 'none'} |", flush=True)
            total += found
    print(f"| all | {total.total()} | {total['right']} | {total.total() - total['right']} |")
    return int(total["right"] != total.total())


if __name__ == "__main__":
    sys.exit(main())
