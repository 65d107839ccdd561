"""What is left to do if the program is ended now, for the one who ends it.

Where work has begun that cannot be undone, such as a delivery of a published release, its end must not be
silent. Exceptions say it themselves; interrupts have no text.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

TERMINATED: Final = 143
"""Exit code after SIGTERM: as shells have it, 128 and the signal's number."""

_words = [""]


def left_to_do() -> str:
    """Return what is left to do of work that is going on, or that was cut off; empty: nothing."""
    return _words[0]


@contextmanager
def said_if_ended(words: str) -> Iterator[None]:
    """Have words ready while the block runs, and after it was cut off by an interrupt or by SIGTERM.

    A program that does nothing else about SIGTERM leaves the block by an exit. Only the main thread sees it.
    """
    own = threading.current_thread() is threading.main_thread()
    catches = own and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if catches:
        signal.signal(signal.SIGTERM, _leave)
    _words[0] = words
    try:
        yield
    except Exception:
        _words[0] = ""
        raise
    else:
        _words[0] = ""
    finally:
        if catches:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _leave(number: int, frame: object) -> None:
    raise SystemExit(TERMINATED)
