"""An interrupt ends the program, also in a compiled loop that would never end. No test reads a clock."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from anon_pipeline.base.compilation import kernel
from anon_pipeline.cli import interrupts
from anon_pipeline.cli.interrupts import INTERRUPTED, UNREAD, ended_by_interrupts

ROOT = Path(__file__).resolve().parents[2]
HANG = 300  # seconds after which a program that does not end is a failure

ENDLESS = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in its background
import click
from anon_pipeline import cli
from tests.cli.test_interrupts import endless
import numpy as np

@cli.cli.command()
def forever():
    flag = np.zeros(1)
    endless(flag, 10)
    print("begun", flush=True)
    endless(flag, -1)

sys.argv = ["anon-pipeline", "forever"]
cli.main()
"""


@kernel
def endless(flag: np.ndarray, steps: int) -> None:
    """Count to a number of steps; never to one below 0."""
    while flag[0] != steps:
        flag[0] += 1


def open_files() -> int:
    return len([*Path("/dev/fd").iterdir()])


def test_an_endless_kernel_ends() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as program:
        assert program.stdout is not None
        try:
            assert program.stdout.readline() == "begun\n"
            program.send_signal(signal.SIGINT)
            _, said = program.communicate(timeout=HANG)
        finally:
            program.kill()
    assert program.returncode == INTERRUPTED
    assert "Aborted!" in said
    assert "Traceback" not in said


def test_an_output_that_nobody_reads_is_no_refusal() -> None:
    command = "from anon_pipeline.cli import main; main()"
    words = [sys.executable, "-c", command, "schema"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as made:
        assert made.stdout is not None and made.stderr is not None
        made.stdout.close()  # before anything is written
        said = made.stderr.read()
    assert (made.returncode, said) == (UNREAD, "")


def test_a_program_that_ends_by_itself_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []
    monkeypatch.setattr(interrupts.os, "_exit", ended.append)
    threads, files = threading.active_count(), open_files()
    with ended_by_interrupts():
        watching = threading.enumerate()[-1]
        assert threading.active_count() == threads + 1
    watching.join()
    assert (ended, open_files()) == ([], files)
    assert signal.set_wakeup_fd(-1) == -1


def test_an_interrupt_that_the_program_answers_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []
    monkeypatch.setattr(interrupts.os, "_exit", ended.append)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
    try:
        with pytest.raises(KeyboardInterrupt), ended_by_interrupts():
            watching = threading.enumerate()[-1]
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    watching.join()
    assert ended == []


def test_other_signals_and_other_threads_are_none_of_its_business(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []
    monkeypatch.setattr(interrupts.os, "_exit", ended.append)
    before = signal.signal(signal.SIGUSR1, lambda number, frame: None)
    try:
        with ended_by_interrupts():
            watching = threading.enumerate()[-1]
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    watching.join()
    assert ended == []

    def elsewhere() -> None:
        with ended_by_interrupts():
            assert signal.getsignal(signal.SIGINT) is not None

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert ended == []
