"""How much memory a process may still use, as far as Linux says it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_MACHINE: Final = Path("/proc/meminfo")
_GROUP: Final = Path("/sys/fs/cgroup")  # of the container, in the second version of control groups


def available_memory(machine: Path = _MACHINE, group: Path = _GROUP) -> int | None:
    """Return the bytes that the machine and the container of this process have left; None: nobody says it.

    Swap does not count, files that the system keeps in memory for later do.

    Args:
        machine: file of the machine's memory.
        group: folder of the container's limits.
    """
    return min((own for own in (_of_machine(machine), _of_group(group)) if own is not None), default=None)


def _of_machine(path: Path) -> int | None:
    return _number_of(path, "MemAvailable:", 2**10)


def _of_group(folder: Path) -> int | None:
    """Return what a container has left; None: it has no limit, or there is none."""
    try:
        most, used = (int((folder / name).read_text("ascii")) for name in ("memory.max", "memory.current"))
    except (OSError, ValueError):  # "max": no limit
        return None
    return max(most - used + (_number_of(folder / "memory.stat", "inactive_file", 1) or 0), 0)


def _number_of(path: Path, name: str, unit: int) -> int | None:
    """Return a number of a file that has a name and a number on each line."""
    try:
        lines = path.read_text("ascii").splitlines()
    except (OSError, ValueError):
        return None
    return next((int(line.split()[1]) * unit for line in lines if line.split()[:1] == [name]), None)
