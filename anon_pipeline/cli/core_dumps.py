"""What the command line asks of the system, so that private tables and keys in its memory stay there.

A notebook or Dagster decides about itself, so nothing but the program `anon-pipeline` calls this.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

_PR_SET_DUMPABLE = 4


def keep_out_of_dumps() -> None:
    """Let no core dump be written of this process, and no other process of its user attach to it.

    On Linux the kernel is told that the process is not dumpable; programs that it starts are again. Elsewhere
    there is only the limit on core dumps. What the system does not offer is left out: it is one protection
    more, not a condition.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not on every system

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
