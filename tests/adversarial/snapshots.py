"""What the disk holds at each point of some work: what a process leaves that is killed there.

Belongs here: copying and comparing folders. Does not belong here: what must hold of them (`crashes`).
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import traceback
from collections.abc import Callable
from pathlib import Path

from anon_pipeline.base.disk import Disk, use_disk
from tests.adversarial.faulty_disk import CHUNK
from tests.forked import run_forked

__all__ = ["digest_of", "snapshots_of"]


def snapshots_of(work: Callable[[], None], folder: Path, kept: Path) -> list[tuple[str, Path]]:
    """Work in a child process, and copy a folder at each point; return each point's name and its copy.

    Args:
        work: what is done; its process is gone afterwards, as locks and the like will find.
        folder: that is copied.
        kept: folder for the copies.
    Raises:
        AssertionError: the work failed.
    """
    assert run_forked(lambda: os._exit(_worked(work, folder, kept))) == 0, "the work failed"
    return [(path.name.split(" ", 1)[1], path) for path in sorted(kept.iterdir())]


def _worked(work: Callable[[], None], folder: Path, kept: Path) -> int:
    """Work on a disk whose every point leaves a copy; return the exit code."""
    count = 0

    def copy(name: str) -> None:
        # Another process copies: SQLite's locks would be lost if this one closed a database a second time.
        nonlocal count
        subprocess.run(["cp", "-a", str(folder), str(kept / f"{count:05d} {name}")], check=True)
        count += 1

    try:
        with use_disk(Disk(copy, CHUNK)):
            work()
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def digest_of(folder: Path) -> str:
    """Return one digest of the names, kinds, permissions and contents of all that a folder holds."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            content = str(path.readlink()).encode()
        else:
            content = path.read_bytes() if path.is_file() else b""
        mode = path.lstat().st_mode
        digest.update(repr((str(path.relative_to(folder)), mode, hashlib.sha256(content).digest())).encode())
    return digest.hexdigest()
