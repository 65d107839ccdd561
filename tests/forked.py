"""Work in a forked child: the wait status that it ends with, also where a fork never returns.

A fork copies locks that other threads of the process hold at that moment, of libraries in C too. Now and then
the child waits for one of them before it runs a line. Such a child has done nothing: it is ended, and another
one is forked.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable

_RETURNS = 30.0  # seconds within which a fork must return in the child
_WORKS = 900  # seconds that the child has for its work
_TRIES = 5


def run_forked(work: Callable[[], object]) -> int:
    """Do some work in a forked child and return its wait status; of an exception, that of exit code 1.

    Raises:
        AssertionError: no fork returned, or the work did not end.
    """
    for _ in range(_TRIES):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(_WORKS)
            os.write(writer, b"1")
            code = 1
            try:
                work()
                code = 0
            finally:
                os._exit(code)
        os.close(writer)
        returned = bool(select.select([reader], [], [], _RETURNS)[0])
        os.close(reader)
        if not returned:
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        if returned:
            assert not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM), "it did not end"
            return status
    raise AssertionError(f"{_TRIES} forks did not return")


def killed(work: Callable[[], object]) -> bool:
    """Do some work in a forked child and tell whether SIGKILL ended it."""
    status = run_forked(work)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
