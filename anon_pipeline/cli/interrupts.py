"""Ctrl-C ends the program within a second, whatever it computes.

Python raises `KeyboardInterrupt` between two of its own steps, and a compiled loop is one step, which may
take seconds. A release that is cut off there is as one whose machine has lost power: nothing is published.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NoReturn

from anon_pipeline.base.left_to_do import TERMINATED, left_to_do

INTERRUPTED: Final = 130
"""Exit code: as shells have it, 128 and the signal's number; 1 would say that the gate refused."""

UNREAD: Final = 141
"""Exit code if the program that read the output has ended (SIGPIPE), by the same rule."""

_PATIENCE: Final = 0.5  # seconds for the program to end by itself


def end_unread() -> NoReturn:
    """End this process, since the program that read its output has ended; unwritten output is lost."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(UNREAD)


@contextmanager
def ended_by_interrupts() -> Iterator[None]:
    """End this process soon after an interrupt, if it has not ended by itself.

    Only the main thread sees signals; called from another one, this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen, told = os.pipe()
    os.set_blocking(told, False)
    before, ended = signal.set_wakeup_fd(told, warn_on_full_buffer=False), threading.Event()
    threading.Thread(target=_end_after_interrupt, args=(seen, ended), daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(before)
        os.close(told)


def _end_after_interrupt(seen: int, ended: threading.Event) -> None:
    """Wait for an interrupt, then for the program, and end it; return where the program has ended by itself.

    An interrupt that is ignored, as in the background of a shell, is not reported. SIGTERM counts while there
    is something left to do, which is said.

    Args:
        seen: file with the numbers of signals, which ends with the program.
        ended: set when the program has ended.
    """
    with os.fdopen(seen, "rb", buffering=0) as signals:
        while number := signals.read(1):
            code = {signal.SIGINT: INTERRUPTED}.get(signal.Signals(number[0]))
            if number[0] == signal.SIGTERM and left_to_do():
                code = TERMINATED
            if code is not None and not ended.wait(_PATIENCE):
                said = ("Aborted!", left_to_do()) if code == INTERRUPTED else (left_to_do(),)
                with suppress(OSError):
                    os.write(2, "".join(f"{line}\n" for line in said if line).encode())
                os._exit(code)


@contextmanager
def left_by_termination() -> Iterator[None]:
    """Let SIGTERM leave the block by an exception, so that what it has begun can be ended, too.

    Only the main thread sees signals; called from another one, this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, frame: object) -> None:
        """Leave the block."""
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
