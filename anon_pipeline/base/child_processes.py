"""Processes of this program that another one has started, and that end with it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def program_ending_with_this(program: str = "from anon_pipeline.cli import main; main()") -> str:
    """Return a program as `python -c` runs it; it ends with this process, see `end_with`.

    Args:
        program: default: this one.
    """
    return f"from {__name__} import end_with; end_with({os.getpid()}); {program}"


QUIET: Final = f"from {__name__} import end_quietly; end_quietly()"
"""Program text to put before imports, which take seconds; see `end_quietly`."""


def end_quietly() -> None:
    """Let Ctrl-C end this process without a traceback, unless it is ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def end_with(parent: int) -> None:
    """Let this process get SIGTERM when the one that has started it ends, however that happens.

    Linux sends the signal, also after SIGKILL. Elsewhere nothing happens. A process whose parent
    ignores SIGTERM ignores it, too: that is undone here.

    Args:
        parent: the process that has started this one.
    Raises:
        SystemExit: that has ended already.
    """
    if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            raise SystemExit(128 + signal.SIGTERM)
