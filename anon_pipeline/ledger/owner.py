"""Which process has entered an event, and whether it can be known to have ended.

A process is known by its machine's name, the machine's start (the kernel's boot id), the namespace that its
number is of, its number, and the moment it started: neither a number that was given out again, nor another
container or machine of the same name, is taken for it.
"""

from __future__ import annotations

import os
import socket
from enum import Enum
from pathlib import Path

_PARTS = 6


class Life(Enum):
    """What can be known from here about a process."""

    RUNS = "it runs"
    GONE = "it has ended"
    UNKNOWN = "whether it has ended cannot be known from here"


def current_owner(run: str) -> str:
    """Name this process: ``host/pid/run/boot/namespace/started``; parts unknown to the kernel are empty.

    Args:
        run: of the orchestrator; empty without one.
    """
    parts = (socket.gethostname(), str(os.getpid()), run, _boot(), _namespace(), _start_time(os.getpid()))
    return "/".join(part.replace("/", "_") for part in parts)


def has_ended(owner: str) -> Life:
    """Tell whether the process that an event names has ended.

    Args:
        owner: as `current_owner` wrote it. Of owners that versions before 0.2 wrote (``host/pid/run``)
        nothing is
            known: another machine or container may have this one's name.
    Returns:
        `Life.GONE` only if it is certain.
    """
    parts = owner.split("/")
    if len(parts) < 2 or parts[0] != socket.gethostname().replace("/", "_") or not parts[1].isdecimal():
        return Life.UNKNOWN
    pid = int(parts[1])
    if len(parts) != _PARTS or "" in parts[3:]:
        return Life.UNKNOWN
    boot, namespace, started = parts[3:]
    if (boot, namespace) != (_boot(), _namespace()):
        return Life.UNKNOWN
    return Life.RUNS if _is_there(pid) and _start_time(pid) == started else Life.GONE


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _namespace() -> str:
    """Return the inode of the namespace of process numbers: two containers of one machine have others."""
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return ""


def _start_time(pid: int) -> str:
    """Return when a process started, in the kernel's ticks since boot."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]
