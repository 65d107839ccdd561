"""Releases of several partitions, each by a process of its own, some at a time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, Final

import click

from anon_pipeline.base.child_processes import program_ending_with_this
from anon_pipeline.cli.interrupts import left_by_termination
from anon_pipeline.cli.options import as_argument

REFUSED: Final = (1, 3)
"""Exit codes that say something about one partition's data: the others go on."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that has ended: its partition, its exit code, and what it printed."""

    partition: str
    code: int
    out: str
    err: str


def run_partitions(command: Sequence[str], partitions: Sequence[str], *, jobs: int) -> int:
    """Make the release of each partition, and print what each says when it has ended.

    A refused partition stops no other. After any other failure no further one begins.

    Args:
        command: of a run, see `run_command`; ``--partition KEY`` is added.
        jobs: runs at a time.
    Returns:
        The exit code: that of the failure, or the least one of a refusal, or 0.
    """
    left, failed, made = dict[str, int](), dict[str, int](), list[str]()
    with left_by_termination():
        for ended in run_each(command, partitions, jobs):
            click.echo(f"partition {ended.partition}")
            click.echo(ended.out, nl=False)
            click.echo(ended.err, nl=False, err=True)
            if ended.code in REFUSED:
                left[ended.partition] = ended.code
            elif ended.code:
                failed[ended.partition] = ended.code
            else:
                made.append(ended.partition)
    others = [key for key in partitions if key not in {*made, *left, *failed}]
    said = [
        f"; {what}: {', '.join(sorted(keys))}"
        for what, keys in (("refused", left), ("failed", failed), ("not begun", others))
        if keys
    ]
    click.echo(f"{say_published(len(made), len(partitions))}{''.join(said)}")
    return min(failed.values(), default=0) or min(left.values(), default=0)


def say_published(made: int, asked: int) -> str:
    """Say how many partitions were published.

    >>> say_published(2, 3), say_published(0, 0)
    ('2 of 3 partitions published', '0 partitions published: each has a release already')
    """
    return f"{made} of {asked} partitions published" if asked else _NONE_MISSING


_NONE_MISSING = "0 partitions published: each has a release already"


def run_each(
    command: Sequence[str], partitions: Sequence[str], jobs: int, *, until_refused: bool = False
) -> Iterator[Ended]:
    """Yield the runs as they end; none begins after one that failed.

    Args:
        until_refused: whether none begins after one that was refused, either.
    """

    failed = Event()

    def begin(partition: str) -> Ended | None:
        """Run the command for one partition, unless another one has failed."""
        if failed.is_set():
            return None
        run = subprocess.Popen(  # noqa: S603 - ourselves
            [*command, "--partition", partition],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(run)
        out, err = run.communicate()
        if run.returncode and (until_refused or run.returncode not in REFUSED):
            failed.set()
        return Ended(partition, run.returncode, out, err)

    running: list[subprocess.Popen[str]] = []
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for run in as_completed([pool.submit(begin, partition) for partition in partitions]):
                ended = run.result()
                if ended is not None:
                    yield ended
        except BaseException:  # interrupted: nobody would wait for them
            failed.set()
            for child in running:
                child.terminate()
            raise


def run_command(name: str, policy_file: Path, options: Mapping[str, Any]) -> list[str]:
    """Return the command that makes one release as the options ask for; it ends with this process.

    Args:
        name: of the command; ``options``: that it was given.
    """
    command = [sys.executable, "-c", program_ending_with_this(), name, as_argument(policy_file)]
    if options["project"] is not None:
        command += ["--project", str(options["project"])]
    if options["allow_outside"]:
        command.append("--allow-outside")
    if options["to_dagster"]:
        command.append("--report-to-dagster")
    return command
