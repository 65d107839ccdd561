"""Where the vault's bytes go: a local folder, or any path that fsspec knows.

Local: folders 0700, files 0600 whatever the umask, one rename, a lock so that nobody replaces what another
has just written. Elsewhere: written beside, then moved; a file that only one can create is all there is for
a lock, and access is the place's business.
Belongs here: bytes by name. Does not belong here: what they are (`crypto`), how long they stay (`retention`).
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Protocol

from anon_pipeline.disk import disk
from anon_pipeline.errors import InputError, in_words
from anon_pipeline.locations import is_url

__all__ = ["LocalStore", "RemoteStore", "Store", "is_unfinished", "private_folder", "store_at"]

_PART = ".part"
_NOT_EXCLUSIVE = (
    "a vault with a memory (record_key) must be where a file can be created only if there is none, so that "
    "two runs cannot overwrite each other's; this place does not offer that. Use a local folder, or S3."
)


class Store(Protocol):
    """Bytes by name: a relative path with slashes."""

    def reading(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open for reading; FileNotFoundError if it is not there."""

    def writing(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open for writing; what was there before stays until the end, and if anything is raised."""

    def replacing(self, name: str) -> AbstractContextManager[tuple[BinaryIO, BinaryIO]]:
        """Open for reading and for writing its successor; nobody else replaces it meanwhile."""

    def names(self) -> list[str]:
        """Return the names of all files, also of those that a crash left unfinished, sorted."""

    def remove(self, name: str) -> None:
        """Remove a file; one that is not there is none."""

    def modified(self, name: str) -> datetime.datetime:
        """Return when a file was written, with a time zone."""


def is_unfinished(name: str) -> bool:
    """Return whether a name is of a file that a crash left beside the one that it should have become."""
    last = PurePosixPath(name).name
    return last.startswith(".") and last.endswith(_PART)


def store_at(place: str) -> Store:
    """Return the store of a local folder or of a URL such as ``s3://bucket/vault``.

    Raises:
        InputError: a URL of a kind that is not installed.
    """
    if place.startswith("file://") or not is_url(place):
        return LocalStore(Path(place.removeprefix("file://")).absolute())
    import fsspec  # noqa: PLC0415 - only a remote vault needs it

    try:
        fs, root = fsspec.core.url_to_fs(place)
    except (ImportError, ValueError) as error:
        kind = type(error).__name__
    else:
        return RemoteStore(fs, str(root).rstrip("/"))
    raise InputError(f"the vault's URL must be of a kind that fsspec knows here: {kind}.")


def _plain(name: str) -> PurePosixPath:
    """Return a name as a path, if it stays inside the vault."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise InputError("a name in the vault must be a path inside it, got another")
    return path


@dataclass(frozen=True, slots=True)
class LocalStore:
    """A folder that only its owner can read."""

    root: Path

    def reading(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open for reading."""
        return (self.root / _plain(name)).open("rb")

    def writing(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Write beside, fsync, then rename under the lock."""
        return self._beside(self.root / _plain(name), self._alone())

    @contextmanager
    def replacing(self, name: str) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        """Hold the lock from reading to renaming."""
        path = self.root / _plain(name)
        with self._alone(), path.open("rb") as source, self._beside(path, nullcontext()) as target:
            yield source, target

    def names(self) -> list[str]:
        """List the files."""
        return sorted(p.relative_to(self.root).as_posix() for p in self.root.rglob("*") if p.is_file())

    def remove(self, name: str) -> None:
        """Unlink, so that it stays so after a loss of power."""
        path = self.root / _plain(name)
        with self._alone():
            disk().unlink(path, "private table")
        if path.parent.is_dir():
            with disk().point("fsync folder of private table"):
                _sync(path.parent)

    def modified(self, name: str) -> datetime.datetime:
        """Return the file's time."""
        return datetime.datetime.fromtimestamp((self.root / _plain(name)).stat().st_mtime, datetime.UTC)

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
        """Write beside, fsync, rename; every step is a point of `disk`. What dead writers left is removed."""
        private_folder(path.parent, root=self.root)
        _clear_parts(path.parent)
        with disk().point("create private table"):
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=_PART, dir=path.parent)
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
    for path in folder.glob(f".*{_PART}"):
        with (
            contextlib.suppress(FileNotFoundError),
            path.open("rb") as file,
            contextlib.suppress(BlockingIOError),
        ):
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            disk().unlink(path, "part of a dead private table")


def private_folder(folder: Path, *, root: Path) -> None:
    """Make a folder and those above it that are not there yet, each 0700 whatever the umask.

    Those that are there, from the root on, are closed to others: a vault may have been made by hand.

    Args:
        folder: the root or below it.
        root: of the vault.
    Raises:
        InputError: everybody can write one, and it cannot, or must not, be closed: it is another user's, or a
            place that all share (``/tmp``).
    """
    _made(folder)
    below = folder.relative_to(root).parts
    for depth in range(len(below) + 1):
        _close(root.joinpath(*below[:depth]))


def _made(folder: Path) -> None:
    if folder.is_dir():
        return
    _made(folder.parent)
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


@dataclass(frozen=True, slots=True)
class RemoteStore:
    """A place that fsspec knows: an object store, a server, memory."""

    fs: Any
    root: str

    def reading(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open for reading."""
        opened: AbstractContextManager[BinaryIO] = self.fs.open(self._at(name), "rb")
        return opened

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """Write beside, then move."""
        path = self._at(name)
        folder, _, last = path.rpartition("/")
        beside = f"{folder}/.{last}.{secrets.token_hex(8)}{_PART}"
        self.fs.makedirs(folder, exist_ok=True)
        try:
            with disk().point("write remote table"), self.fs.open(beside, "wb") as file:
                yield file
            with disk().point("move remote table"):
                self.fs.mv(beside, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                self.fs.rm_file(beside)
            raise

    @contextmanager
    def replacing(self, name: str) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        """Read and write; without a lock."""
        with self.reading(name) as source, self.writing(name) as target:
            yield source, target

    def names(self) -> list[str]:
        """List the files."""
        self.fs.invalidate_cache()
        if not self.fs.exists(self.root):
            return []
        return sorted(str(path).removeprefix(self.root).lstrip("/") for path in self.fs.find(self.root))

    def remove(self, name: str) -> None:
        """Remove."""
        with disk().point("remove remote file"), contextlib.suppress(FileNotFoundError):
            self.fs.rm_file(self._at(name))

    def create(self, name: str, data: bytes) -> bool:
        """Create a file only where there is none.

        That the place does so is not believed but tried: a second creation must be refused.

        Args:
            name: of the file.
            data: all of its bytes, at least one: s3fs creates an empty file in a way that overwrites.
        Returns:
            False if there is one already.
        Raises:
            InputError: the place does not offer this, or cannot be written.
        """
        path = self._at(name)
        self.fs.makedirs(path.rpartition("/")[0], exist_ok=True)
        with disk().point("create remote file"):
            if not self._created(path, data):
                return False
        if not self._created(path, data):
            return True
        self.remove(name)
        raise InputError(_NOT_EXCLUSIVE)

    def _created(self, path: str, data: bytes) -> bool:
        try:
            with self.fs.open(path, "xb") as file:
                file.write(data)
            return True
        except FileExistsError:
            return False
        except (NotImplementedError, ValueError):
            problem = _NOT_EXCLUSIVE
        except OSError as error:
            problem = f"the vault must be writable, got: {in_words(error)}"
        raise InputError(problem)

    def modified(self, name: str) -> datetime.datetime:
        """Return the file's time; UTC where the place does not say."""
        time: datetime.datetime = self.fs.modified(self._at(name))
        return time if time.tzinfo else time.replace(tzinfo=datetime.UTC)

    def _at(self, name: str) -> str:
        return f"{self.root}/{_plain(name)}"
