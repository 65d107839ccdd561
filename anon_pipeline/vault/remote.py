"""The vault at any path that fsspec knows.

Files are written under a temporary name, then moved. The lock is a file that only one can create. Access is
the place's business.
"""

from __future__ import annotations

import contextlib
import datetime
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from anon_pipeline.base.disk import disk
from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.vault.names import OWN, PART, path_inside

_SMALL = 4096  # bytes of a file that the vault keeps about itself
_NOT_EXCLUSIVE = (
    "a vault with a memory (record_key) must be where a file can be created only if there is none, so that "
    "two runs cannot overwrite each other's; this place does not offer that. Use a local folder, or S3."
)


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
        """Write a temporary file, then move it."""
        path = self._at(name)
        folder, _, last = path.rpartition("/")
        beside = f"{folder}/.{last}.{secrets.token_hex(8)}{PART}"
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
    def open_replacement(self, name: str) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        """Read and write; without a lock."""
        with self.reading(name) as source, self.writing(name) as target:
            yield source, target

    def names(self) -> list[str]:
        """List the files."""
        self.fs.invalidate_cache()
        if not self.fs.exists(self.root):
            return []
        found = {str(path).removeprefix(self.root).lstrip("/") for path in self.fs.find(self.root)}
        return sorted(found - OWN)

    def read_or_create(self, name: str, data: bytes) -> bytes:
        """Read, or create; where a place cannot create alone, the one who writes last wins."""
        try:
            if not self.exists(name) and not self._create(self._make_folder(name), data):
                self.fs.invalidate_cache()
        except InputError as error:
            if str(error) != _NOT_EXCLUSIVE:
                raise
            with self.writing(name) as file:
                file.write(data)
        with self.reading(name) as file:
            return file.read(_SMALL)

    def clear_unfinished(self) -> None:
        """Leave them: nobody knows here whose writer lives."""

    def exists(self, name: str) -> bool:
        """Look, past what fsspec remembers."""
        self.fs.invalidate_cache()
        return bool(self.fs.exists(self._at(name)))

    def remove(self, name: str) -> None:
        """Remove."""
        with disk().point("remove remote file"), contextlib.suppress(FileNotFoundError):
            self.fs.rm_file(self._at(name))

    def create(self, name: str, data: bytes) -> bool:
        """Create a file only where there is none.

        That the place does so is not believed but tried: a second creation must be refused.

        Args:
            data: all of its bytes, at least one: s3fs creates an empty file in a way that overwrites.
        Returns:
            False if there is one already.
        Raises:
            InputError: the place does not offer this, or cannot be written.
        """
        path = self._make_folder(name)
        with disk().point("create remote file"):
            if not self._create(path, data):
                return False
        if not self._create(path, data):
            return True
        self.remove(name)
        raise InputError(_NOT_EXCLUSIVE)

    def _make_folder(self, name: str) -> str:
        """Return a file's path; its folder is there."""
        path = self._at(name)
        self.fs.makedirs(path.rpartition("/")[0], exist_ok=True)
        return path

    def _create(self, path: str, data: bytes) -> bool:
        try:
            with self.fs.open(path, "xb") as file:
                file.write(data)
            return True
        except FileExistsError:
            return False
        except (NotImplementedError, ValueError):
            problem = _NOT_EXCLUSIVE
        except OSError as error:
            problem = f"the vault must be writable, got: {error_words(error)}"
        raise InputError(problem)

    def modified_at(self, name: str) -> datetime.datetime:
        """Return the file's time; UTC where the place does not say."""
        time: datetime.datetime = self.fs.modified(self._at(name))
        return time if time.tzinfo else time.replace(tzinfo=datetime.UTC)

    def _at(self, name: str) -> str:
        return f"{self.root}/{path_inside(name)}"
