"""The disk as publishing and the vault use it: every operation is a named point.

A process may die, and a disk may fill, before and after each of them. Tests put another `Disk` in place, one
that kills the process or raises at a point; nothing outside the process can (no environment variable).
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

PART = ".anon-pipeline-"
"""How the names of unfinished files begin; they end in ``.part``."""


def _no_point(name: str) -> None:
    """Go on: what production does at every point."""


@dataclass(frozen=True, slots=True)
class Disk:
    """Operations on files; ``at`` is called before and after each, with its name.

    at: given ``before <operation>`` and ``after <operation>``.
    chunk: bytes of one write.
    """

    at: Callable[[str], None] = _no_point
    chunk: int = 1 << 24

    @contextlib.contextmanager
    def point(self, operation: str) -> Iterator[None]:
        """Surround one operation that changes the disk."""
        self.at(f"before {operation}")
        yield
        self.at(f"after {operation}")

    def write(self, handle: int, data: bytes | memoryview, what: str) -> None:
        """Write all of ``data``, a chunk at a time."""
        rest = memoryview(data)
        while rest:
            with self.point(f"write {what}"):
                written = os.write(handle, rest[: self.chunk])
            rest = rest[written:]

    def unlink(self, path: Path, what: str) -> None:
        """Remove a file, if it is there."""
        with self.point(f"unlink {what}"):
            path.unlink(missing_ok=True)


_IN_USE: ContextVar[Disk] = ContextVar("anon_pipeline_disk", default=Disk())  # noqa: B039 - frozen


def disk() -> Disk:
    """Return the disk in use: the real one, but in tests of crashes."""
    return _IN_USE.get()


@contextlib.contextmanager
def use_disk(other: Disk) -> Iterator[None]:
    """Put another disk in place, for tests of crashes and full disks."""
    token = _IN_USE.set(other)
    try:
        yield
    finally:
        _IN_USE.reset(token)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, at most 0755; each is there after a power cut, too."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    with disk().point("make folder"):
        folder.mkdir(mode=0o755, exist_ok=True)
    with disk().point("sync parent folder"), _open_folder(folder.parent) as handle:
        getattr(os, "fdatasync", os.fsync)(handle)


def replace_file(path: Path, data: bytes | memoryview, *, mode: int, what: str) -> None:
    """Write a temporary file, fsync, rename, fsync the folder: readers see the complete old or new file.

    Args:
        path: of the file; its folder exists.
        data: all of its bytes.
        mode: permissions, whatever the umask.
        what: short name for the points.
    Raises:
        OSError: the file is untouched, unless the last sync failed, which follows the rename.
    """
    with disk().point(f"create part of {what}"):
        handle, name = tempfile.mkstemp(prefix=PART, suffix=".part", dir=path.parent)
    part = Path(name)
    try:
        try:
            disk().write(handle, data, f"{what}")
            with disk().point(f"permit {what}"):
                os.fchmod(handle, mode)
            with disk().point(f"sync {what}"):
                os.fsync(handle)
        finally:
            os.close(handle)
        with disk().point(f"rename {what}"):
            part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):  # the first error is the one to report
            part.unlink(missing_ok=True)
        raise
    with disk().point(f"sync folder of {what}"), _open_folder(path.parent) as folder:
        os.fsync(folder)


def clear_parts(folder: Path) -> None:
    """Remove what processes left that died while writing here; the caller keeps others out meanwhile."""
    for part in sorted(folder.glob(f"{PART}*.part")):
        disk().unlink(part, "part of the dead")


@contextlib.contextmanager
def _open_folder(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield handle
    finally:
        os.close(handle)
