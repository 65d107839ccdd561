"""The vault in a local folder.

Folders 0700, files 0600 whatever the umask, one rename, a lock so that nobody replaces what another has just
written.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from anon_pipeline.base.disk import disk, replace_file
from anon_pipeline.base.errors import InputError
from anon_pipeline.vault.gitindex import refuse_tracked
from anon_pipeline.vault.names import IGNORED, OWN, PART, path_inside

_SMALL = 4096  # bytes of a file that the vault keeps about itself


@dataclass(frozen=True, slots=True)
class LocalStore:
    """A folder that only its owner can read."""

    root: Path

    def reading(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open for reading."""
        return (self.root / path_inside(name)).open("rb")

    def writing(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Write a temporary file, fsync, then rename under the lock; not where git would commit it.

        Raises:
            InputError: git tracks a file of the vault.
        """
        refuse_tracked(self.root)
        return self._beside(self.root / path_inside(name), self._alone())

    @contextmanager
    def open_replacement(self, name: str) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        """Hold the lock from reading to renaming."""
        path = self.root / path_inside(name)
        with self._alone(), path.open("rb") as source, self._beside(path, nullcontext()) as target:
            yield source, target

    def names(self) -> list[str]:
        """List the files."""
        found = {p.relative_to(self.root).as_posix() for p in self.root.rglob("*") if p.is_file()}
        return sorted(found - OWN)

    def read_or_create(self, name: str, data: bytes) -> bytes:
        """Read, or write under the lock."""
        path = self.root / path_inside(name)
        private_folder(path.parent, root=self.root)
        with self._alone():
            if not path.is_file():
                with self._beside(path, nullcontext()) as new:
                    new.write(data)
            with path.open("rb") as file:
                return file.read(_SMALL)

    def clear_unfinished(self) -> None:
        """Remove the parts of dead writers in every folder."""
        for folder in (self.root, *(p for p in self.root.rglob("*") if p.is_dir())):
            _clear_parts(folder)

    def exists(self, name: str) -> bool:
        """Look."""
        return (self.root / path_inside(name)).is_file()

    def remove(self, name: str) -> None:
        """Unlink, so that it stays so after a loss of power."""
        path = self.root / path_inside(name)
        with self._alone():
            disk().unlink(path, "private table")
        if path.parent.is_dir():
            with disk().point("fsync folder of private table"):
                _sync(path.parent)

    def modified_at(self, name: str) -> datetime.datetime:
        """Return the file's time."""
        return datetime.datetime.fromtimestamp((self.root / path_inside(name)).stat().st_mtime, datetime.UTC)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the folder against whoever else replaces files; the lock ends with the process."""
        handle = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    @contextmanager
    def _beside(self, path: Path, lock: AbstractContextManager[None]) -> Iterator[BinaryIO]:
        """Write a temporary file, fsync, rename; every step is a point of `disk`. Removes leftovers."""
        private_folder(path.parent, root=self.root)
        _clear_parts(path.parent)
        with disk().point("create private table"):
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PART, dir=path.parent)
        fcntl.flock(handle, fcntl.LOCK_EX)  # says that its writer lives
        os.fchmod(handle, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                with disk().point("write private table"):
                    yield file
                with disk().point("flush private table"):
                    file.flush()
                with disk().point("fsync private table"):
                    os.fsync(file.fileno())
            with lock, disk().point("rename private table"):
                Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        with disk().point("fsync folder of private table"):
            _sync(path.parent)


def _clear_parts(folder: Path) -> None:
    """Remove unfinished files whose writer is dead: the lock of a living one is held."""
    for path in folder.glob(f".*{PART}"):
        with (
            contextlib.suppress(FileNotFoundError),
            path.open("rb") as file,
            contextlib.suppress(BlockingIOError),
        ):
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            disk().unlink(path, "part of a dead private table")


def private_folder(folder: Path, *, root: Path) -> None:
    """Make a folder and those above it that are not there yet, each 0700 whatever the umask.

    Git ignores them.

    Those that are there, from the root on, are closed to others: a vault may have been made by hand.

    Args:
        folder: the root or below it.
    Raises:
        InputError: everybody can write one, and it cannot, or must not, be closed: it is another user's, or a
            place that all share (``/tmp``).
    """
    _make(folder)
    below = folder.relative_to(root).parts
    for depth in range(len(below) + 1):
        _close(root.joinpath(*below[:depth]))
    _ignore(root)


def _ignore(root: Path) -> None:
    """Let git ignore all of a vault, this file too; what a crash left empty is written again.

    A file that somebody else wrote stays, and so does the root of a repository: see `gitindex` for both.
    """
    path = root / IGNORED
    if (path.exists() and path.stat().st_size) or (root / ".git").exists():
        return
    with contextlib.suppress(FileNotFoundError):  # taken for a dead one: the next writes it
        replace_file(path, b"*\n", mode=0o600, what=f"{IGNORED} of the vault")
    _clear_parts(root)


def _make(folder: Path) -> None:
    if folder.is_dir():
        return
    _make(folder.parent)
    with disk().point("make private folder"):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)


def _close(folder: Path) -> None:
    """Take group and others off a folder of ours; of another user's, accept what not everybody can write."""
    found = folder.stat()
    by_all = found.st_mode & stat.S_IWOTH
    shared = by_all and found.st_mode & stat.S_ISVTX
    if os.geteuid() in (found.st_uid, 0) and not shared:
        if found.st_mode & 0o077:
            folder.chmod(0o700)
    elif by_all:
        raise InputError(
            f"the vault must be a folder that not everybody can write, {folder.name} is one and "
            f"{'shared by all' if shared else 'of another user'}. Give the vault a folder of its own."
        )


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
