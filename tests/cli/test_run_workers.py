"""A worker runs one command after the other, and answers with what each has printed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial

import pytest

from anon_pipeline.base.child_processes import QUIET
from anon_pipeline.cli.run_workers import Answer, Worker

MAIN = """
import os, signal, sys, time, warnings
def main():
    what = sys.argv[1]
    if what == "say":
        print("out", *sys.argv[2:])
        print("err", os.getpid(), file=sys.stderr)
        return
    if what == "below Python":
        os.write(1, b"not an answer\\n")
    if what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "cut":
        os.write(int(sys.argv[2]), b'{"code": 0, "out": "half of an ans')
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "left":
        os._exit(int(sys.argv[2]))
    if what == "interrupted":
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # workers of tests ignore it
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            print(what)
        return
    if what == "reads":
        print(repr(sys.stdin.read()))
        return
    sys.exit(sys.argv[2] if len(sys.argv) > 2 else 3)
"""
PROGRAM = f"exec({MAIN!r}); from anon_pipeline.cli.run_workers import serve; serve(main)"


def one(*words: str, program: str = PROGRAM) -> Answer:
    worker = Worker(program)
    try:
        return worker.run(words)
    finally:
        worker.end()


def test_commands_are_run_by_the_same_process() -> None:
    worker = Worker(PROGRAM)
    first, second = worker.run(["say", "ü", "\ud800", "two\nlines"]), worker.run(["say"])
    worker.end()
    assert first.out == "out ü \\ud800 two\nlines\n"
    assert second.out == "out\n"
    assert first.code == second.code == 0
    assert first.err == second.err != f"err {os.getpid()}\n"


def test_exit_codes_are_those_of_the_command() -> None:
    assert one("exit") == Answer(3)
    assert one("exit", "a text says what was wrong").code == 70


def test_nothing_but_answers_is_taken_for_one() -> None:
    assert one("below Python") == Answer(3)
    assert one("reads") == Answer(0, "''\n")


@pytest.mark.parametrize(("words", "code"), [(("killed",), 128 + signal.SIGKILL), (("left", "9"), 9)])
def test_a_worker_that_has_ended_says_how(words: tuple[str, ...], code: int) -> None:
    worker = Worker(PROGRAM)
    for asked in (words, ("say",)):
        answer = worker.run(asked)
        assert (answer.code, answer.out) == (code, "")
        assert "ended before the release was done, perhaps for lack of memory" in answer.err
    worker.end()


def test_half_of_an_answer_is_none() -> None:
    """It is killed while it writes: the pipe of the answers is the second file that was opened anew."""
    cut = MAIN.replace("int(sys.argv[2])", "next(fd for fd in range(3, 20) if is_pipe_to_write(fd))")
    helper = """
import fcntl, stat
def is_pipe_to_write(fd):
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode) and fcntl.fcntl(fd, fcntl.F_GETFL) & 3 == os.O_WRONLY
    except OSError:
        return False
"""
    program = f"exec({(cut + helper)!r}); from anon_pipeline.cli.run_workers import serve; serve(main)"
    assert one("cut", program=program).code == 128 + signal.SIGKILL


@pytest.mark.parametrize("code", ["0", "1", "3"])
def test_a_worker_that_has_ended_is_neither_done_nor_refused(code: str) -> None:
    assert one("left", code).code == 70


@pytest.mark.parametrize("code", ["130", "143"])
def test_a_worker_that_was_told_to_end_says_no_more(code: str) -> None:
    assert one("left", code) == Answer(int(code))


def test_an_interrupt_while_it_starts_is_no_traceback() -> None:
    command = [sys.executable, "-c", f"{QUIET}; import os; os.kill(os.getpid(), {int(signal.SIGINT)})"]
    ready = partial(signal.signal, signal.SIGINT, signal.default_int_handler)  # workers of tests ignore it
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=ready, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_a_worker_that_serves_is_interrupted_by_an_exception() -> None:
    assert one("interrupted", program=f"{QUIET}; {PROGRAM}").out == "interrupted\n"


def test_an_idle_worker_ends_when_it_is_told_to() -> None:
    for tell in (Worker.end, Worker.terminate):
        worker = Worker(PROGRAM)
        assert not worker.run(["say"]).code
        tell(worker)
        worker.end()


def test_it_runs_this_program() -> None:
    worker = Worker()
    assert "version" in worker.run(["--version"]).out
    refused = worker.run(["run", "no such policy.yaml"])
    worker.end()
    assert refused.code == 2
    assert "no such policy.yaml" in refused.err
