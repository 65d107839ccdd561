"""What a command takes: time, processor time, and peak memory of its process and all processes below it.

Belongs here: running one command and looking at Linux's /proc meanwhile. Does not belong here: which command.

Memory is resident memory (RSS). Libraries that several processes map are counted once, by the process that
maps the most; all other memory is the sum over the processes, so memory that forked processes share counts
more than once. PSS (smaps_rollup) would divide it, but for it the kernel walks all pages of the process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import IO, Final

EVERY: Final = 0.02  # seconds between two looks at the memory
_PROC: Final = Path("/proc")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_MIB: Final = 2**20


@dataclass(frozen=True, slots=True)
class Usage:
    """What a command took.

    seconds: from start to end. user, system: seconds of processors, all processes that ended in it together.
    peak: MiB, all processes together. processes: the most that ran at one time.
    """

    seconds: float
    user: float
    system: float
    peak: float
    processes: int = 1

    @property
    def processor(self) -> float:
        """Seconds of processors, user and system."""
        return self.user + self.system


def usage_of(
    command: Sequence[str], *, folder: Path, environment: Mapping[str, str] | None = None
) -> tuple[Usage, str]:
    """Run a command and measure it.

    Args:
        command: the program and its arguments.
        folder: in which it runs.
        environment: all of its variables; None: those of this process.
    Returns:
        What it took, and what it wrote to standard error.
    Raises:
        SystemExit: it failed (its own message is on standard error), or the system has no /proc.
    """
    if not (_PROC / "self" / "statm").is_file():
        raise SystemExit("/proc must be there to measure memory, as it is on Linux.")
    with tempfile.TemporaryFile() as errors:
        status, usage = _measured(command, folder, environment, errors)
        errors.seek(0)
        said = errors.read().decode(errors="replace")
    if status:
        sys.stderr.write(said)
        raise SystemExit(f"{' '.join(command[1:])} must end with 0, got {status}.")
    return usage, said


def _measured(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None, errors: IO[bytes]
) -> tuple[int, Usage]:
    """Return the exit code of a command, and what it took."""
    start, ended = perf_counter(), Event()
    with (
        subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=errors
        ) as process,
        ThreadPoolExecutor(1) as pool,
    ):
        watched = pool.submit(_most, process.pid, ended)
        try:
            _, status, used = os.wait4(process.pid, 0)
            seconds = perf_counter() - start
        finally:
            ended.set()
        process.returncode = os.waitstatus_to_exitcode(status)
        peak, processes = watched.result()
    return process.returncode, Usage(seconds, used.ru_utime, used.ru_stime, peak / _MIB, processes)


def _most(root: int, ended: Event) -> tuple[int, int]:
    """Look until a process has ended: the most bytes, and the most processes, at one time."""
    parents: dict[int, int] = {}
    members = {root}
    peak = processes = 0
    while not ended.wait(EVERY):
        members = tree(root, members, parents)
        sizes = [size for member in members if (size := _resident(member)) is not None]
        peak = max(peak, together(sizes))
        processes = max(processes, len(sizes))
    return peak, processes


def together(sizes: Sequence[tuple[int, int]]) -> int:
    """Return the bytes of processes together.

    Args:
        sizes: of each process: bytes in memory, and those of them that are mapped files or shared.

    >>> together([(500, 200), (150, 100)])
    550
    """
    return sum(all_of_it - mapped for all_of_it, mapped in sizes) + max(
        (mapped for _, mapped in sizes), default=0
    )


def tree(root: int, members: set[int], parents: dict[int, int]) -> set[int]:
    """Return the processes that run now: a process, and all below it.

    Args:
        root: of the tree.
        members: found before; they stay in it when their parent has ended.
        parents: of processes that were looked at before, brought up to date.
    """
    alive = {int(entry) for entry in os.listdir(_PROC) if entry.isdigit()}  # noqa: PTH208 - each 20 ms
    for gone in parents.keys() - alive:
        del parents[gone]
    for new in alive - parents.keys():
        parents[new] = _parent(new)
    found = {root} | members & alive
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _parent(process: int) -> int:
    """Return the process that started another one; 0: it has ended."""
    try:
        text = (_PROC / str(process) / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return int(text.rpartition(")")[2].split()[1])


def _resident(process: int) -> tuple[int, int] | None:
    """Return the bytes in memory, and those of them that are mapped files or shared; None: it has ended."""
    try:
        numbers = (_PROC / str(process) / "statm").read_text(encoding="ascii").split()
    except OSError:
        return None
    resident, mapped = int(numbers[1]) * _PAGE, int(numbers[2]) * _PAGE
    return (resident, mapped) if resident else None
