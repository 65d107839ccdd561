"""Releases of several partitions, some at a time, each time by another process."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any, Final

import click

from anon_pipeline.cli.interrupts import left_by_termination
from anon_pipeline.cli.options import as_argument
from anon_pipeline.cli.run_workers import REFUSED, Worker


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
        command: words of a run, see `run_command`; ``--partition KEY`` is added.
        jobs: runs at a time.
    Returns:
        The exit code: that of the failure, or the least one of a refusal, or 0.
    """
    left, failed, made = dict[str, int](), dict[str, int](), list[str]()
    with left_by_termination(), _say_how_to_go_on(made, partitions):
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


@contextmanager
def _say_how_to_go_on(made: Sequence[str], partitions: Sequence[str]) -> Iterator[None]:
    """Say after an interrupt what is published, as far as it is known, and how to make the others."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        click.echo(f"{say_published(len(made), len(partitions))}. {_GO_ON}", err=True)
        raise


_GO_ON: Final = "To make the others and to finish deliveries, repeat the command with --missing"


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
    left, ended, failed = deque(partitions), SimpleQueue[Ended | None](), Event()
    workers: list[Worker] = []

    def work() -> None:
        """Run the command for one partition after the other; None: there are no more for this thread."""
        try:
            with _worker(workers) as worker:
                while left and not failed.is_set():
                    with suppress(IndexError):  # another thread has taken the last one
                        partition = left.popleft()
                        answer = worker.run([*command, "--partition", partition])
                        if answer.code and (until_refused or answer.code not in REFUSED):
                            failed.set()
                        ended.put(Ended(partition, answer.code, answer.out, answer.err))
        finally:
            ended.put(None)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            threads = [pool.submit(work) for _ in range(min(jobs, len(partitions)))]
            for _ in threads:
                yield from iter(ended.get, None)
        except BaseException:  # interrupted: nobody would wait for them
            failed.set()
            for worker in workers:
                worker.terminate()
            raise
        for thread in threads:
            thread.result()


@contextmanager
def _worker(workers: list[Worker]) -> Iterator[Worker]:
    """Start a worker of this thread, and note it; wait for its end afterwards."""
    worker = Worker()
    workers.append(worker)
    try:
        yield worker
    finally:
        worker.end()


def run_command(name: str, policy_file: Path, options: Mapping[str, Any]) -> list[str]:
    """Return the words of the command that makes one release as the options ask for.

    Args:
        name: of the command; ``options``: that it was given.
    """
    command = [name, as_argument(policy_file)]
    if options["project"] is not None:
        command += ["--project", str(options["project"])]
    if options["allow_outside"]:
        command.append("--allow-outside")
    if options["to_dagster"]:
        command.append("--report-to-dagster")
    return command
