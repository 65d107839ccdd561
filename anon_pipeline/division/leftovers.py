"""What a `divide` that was killed has left: files of partitions without a policy, copies of personal data.

While a folder of partitions is written, it has a mark with the path of the policy that comes last, and its
process holds the kernel's lock on it (`part_files.hold_part_folder`). If the process has ended on this
machine and there is no such policy, nobody will finish these files.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from anon_pipeline.base.errors import PublishError
from anon_pipeline.publish.lock import LOCK, hold_lock, is_gone, read_owner
from anon_pipeline.publish.verify.stray_files import is_unfinished

MARK: Final = ".unfinished"
"""File in a folder of partitions that are being written: the path of their policy."""
_FILE: Final = re.compile(r"d[0-9a-f]{8}\.\d+\.parquet")
COPIES: Final = "copies"
"""Folder in it with copies of the source's records, see `copied_records`."""
_COPY: Final = re.compile(r"\d{6}\.parquet")
IGNORED: Final = ".gitignore"
"""File in each folder of partitions, which keeps them out of version control."""


def is_free(folder: Path) -> bool:
    """Tell whether a folder is empty, but for what a failed or killed division leaves."""
    kept = {IGNORED, MARK, LOCK}
    return folder.is_dir() and all(path.name in kept or is_unfinished(path) for path in folder.iterdir())


def remove_leftovers(folders: Iterable[Path]) -> list[Path]:
    """Remove the files of divisions whose process was killed before it wrote their policy.

    What cannot be removed is left. So is all that a process holds, or may hold: of another machine, or where
    the file system has no locks.

    Args:
        folders: of partitions' files.
    Returns:
        The folders from which files were removed.
    """
    return [folder for folder in folders if _is_left(folder) and _clear(folder)]


def _is_left(folder: Path) -> bool:
    if folder.is_symlink() or not (folder / MARK).is_file():
        return False
    owner = read_owner(folder)[0]
    return owner is not None and is_gone(owner) is True


def _copies(folder: Path) -> Iterable[Path]:
    return () if folder.is_symlink() else folder.glob("*")


def _clear(folder: Path) -> bool:
    """Remove the files if nobody holds the folder and their policy is not there; tell whether there were any.

    The mark and the lock are removed, too.
    """
    found = False
    with suppress(OSError, PublishError), hold_lock(folder, time.monotonic()) as held:
        if not held:
            return False
        policy = Path(os.fsdecode((folder / MARK).read_bytes()))
        copies, division = folder / COPIES, policy.stem.rpartition("-")[2]
        for path in [] if policy.exists() else sorted([*folder.iterdir(), *_copies(copies)]):
            own = _FILE.fullmatch(path.name) and path.name.startswith(f"{division}.")
            if own or (path.parent == copies and _COPY.fullmatch(path.name)):
                path.unlink()
                found = True
        if copies.is_dir() and not copies.is_symlink():
            copies.rmdir()
        (folder / MARK).unlink()
        (folder / LOCK).unlink()
    return found
