"""Processes that make one release after the other: a process of its own for each would start anew each time.

A start imports libraries, loads compiled kernels and compiles templates: more than a second of processor
time, which is most of a small release. A worker is sent the words of a command, and answers with what the
command has printed, in a line of JSON each.
"""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from typing import IO, Final

from anon_pipeline.base.child_processes import QUIET, program_ending_with_this
from anon_pipeline.base.left_to_do import TERMINATED
from anon_pipeline.cli.interrupts import INTERRUPTED

PROGRAM: Final = f"{QUIET}; from anon_pipeline.cli import main; from {__name__} import serve; serve(main)"
REFUSED: Final = (1, 3)
"""Exit codes that say something about one partition's data: the others go on."""

UNANSWERED: Final = 70
"""Exit code of a command whose worker ended without an answer, and with a code that says something else."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a command has ended: its exit code, and what it printed."""

    code: int
    out: str = ""
    err: str = ""


class Worker:
    """A process of this program that runs one command at a time; it ends with this one."""

    def __init__(self, program: str = PROGRAM) -> None:
        """Start it, in the thread that it is to end with."""
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", program_ending_with_this(program)]
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)  # noqa: S603 - ourselves

    def run(self, words: Sequence[str]) -> Answer:
        """Run a command; what it writes below Python goes to this process's standard error at once.

        Args:
            words: the command and its arguments.
        Returns:
            Its answer; of a worker that has ended before, its exit code as shells have it, and a message.
        """
        sent, answers = self._process.stdin, self._process.stdout
        if sent is None or answers is None:
            raise ValueError("a worker must have pipes.")
        try:
            sent.write(json.dumps([*words]) + "\n")
            sent.flush()
        except BrokenPipeError:
            pass  # it has ended: then there is no answer
        answer = answers.readline()
        if answer.endswith("\n"):  # else it ended while it wrote
            return Answer(**json.loads(answer))
        code = self._process.wait()
        if code < 0:
            code = _SIGNALED - code
        told = code in (INTERRUPTED, TERMINATED)
        return Answer(UNANSWERED if code in (0, *REFUSED) else code, err="" if told else _DIED)

    def terminate(self) -> None:
        """End it by SIGTERM, whatever it does."""
        self._process.terminate()

    def end(self) -> None:
        """Wait until it has ended, which it does when its command has."""
        self._process.communicate()


_SIGNALED: Final = 128  # and the number of the signal that has ended a process, as shells have it
_DIED: Final = (
    "error: the process that made this release ended before the release was done, perhaps for lack of "
    "memory. Take fewer --jobs\n"
)


def serve(main: Callable[[], object]) -> None:
    """Run the commands that another process sends, until it sends no more.

    Args:
        main: runs the command of `sys.argv`.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:  # by QUIET
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with _move_stream(0, "r") as commands, _move_stream(1, "w") as answers:
        try:
            for line in commands:
                answer = _run(main, json.loads(line))
                print(json.dumps(asdict(answer)), file=answers, flush=True)
                _forget()
        except (KeyboardInterrupt, BrokenPipeError):
            return


def _move_stream(number: int, mode: str) -> IO[str]:
    """Open a standard stream anew, so that nothing else reads or writes there.

    What libraries write to standard output goes to standard error.
    """
    moved = os.fdopen(os.dup(number), mode, encoding="utf-8")
    if mode == "w":
        os.dup2(2, number)
    else:
        with open(os.devnull) as nothing:  # noqa: PTH123 - as a file descriptor
            os.dup2(nothing.fileno(), number)
    return moved


def _run(main: Callable[[], object], words: Sequence[str]) -> Answer:
    """Run a command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in range(2))
    sys.argv[1:] = words
    code: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = 0 if end.code is None else end.code
    return Answer(code if isinstance(code, int) else UNANSWERED, _read_back(out), _read_back(err))


def _read_back(stream: io.TextIOWrapper) -> str:
    """Return what was written to a stream in memory."""
    stream.flush()
    stream.seek(0)
    return stream.read()


def _forget() -> None:
    """Free what the last command has left, before the next one needs memory."""
    from anon_pipeline.base.freed_memory import return_all_freed_memory  # noqa: PLC0415 - imports pyarrow

    gc.collect()
    gc.freeze()  # what is left are modules and caches, which need not be looked at again
    return_all_freed_memory()
