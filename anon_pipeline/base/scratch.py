"""Arrays of large tables in files instead of in memory, where a deployment names a folder for them.

The file of a process has no name, so that nothing is left of it when the process ends, however it ends.
Arrays are encrypted, each with a key of its own that is in memory alone, and each part is authenticated when
it is read.

Decision: docs/adr/0084-columns-on-disk.md.
"""

from __future__ import annotations

import errno
import os
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from anon_pipeline.base.errors import ScratchError
from anon_pipeline.base.scratch_file import scratch_file

SCRATCH: Final = "ANON_PIPELINE_SCRATCH"
"""The variable of the environment that names the folder; without it arrays stay in memory."""

KEPT_FROM: Final = 2**18
"""Bytes of an array from which it is kept in a file."""

_IN_WORDS = {
    errno.ENOENT: "none",
    errno.ENOTDIR: "a file",
    errno.EACCES: "one that this user may not write to",
    errno.EROFS: "one that is read-only",
    errno.ENOSPC: "one without room",
    errno.EDQUOT: "one in which this user has no more room",
    errno.EMFILE: "too many open files of this process",
}

_PART = 2**23  # bytes that are encrypted together
_KEY, _NONCE, _TAG = 32, 12, 16  # bytes


class ScratchArray:
    """A one-dimensional array of numbers that is kept in a file, encrypted; it is read when it is asked for.

    Raises:
        ScratchError: the folder cannot be written to, or is full.
    """

    __slots__ = ("__weakref__", "_begin", "_dtype", "_file", "_key", "_length", "_tags")

    def __init__(self, array: NDArray[Any], folder: Path) -> None:
        self._dtype, self._length = array.dtype, len(array)
        self._key = algorithms.AES(os.urandom(_KEY))
        self._tags: list[bytes] = []
        plain = np.ascontiguousarray(array).view(np.uint8)
        room = np.empty(_PART + _TAG, np.uint8)
        try:
            self._file = scratch_file(folder)
            self._begin = self._file.take(len(plain))
            let_go = weakref.finalize(self, self._file.give_back, self._begin, len(plain))
            let_go.atexit = False
            for at, part in enumerate(_parts(0, len(plain))):
                encryptor = Cipher(self._key, modes.GCM(_nonce(at))).encryptor()
                size = encryptor.update_into(plain[part].data, room.data)
                encryptor.finalize()
                self._file.write(room[:size], self._begin + part.start)
                self._tags.append(encryptor.tag)
        except OSError as error:
            raise _unfit(error) from None

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"ScratchArray({self._length} numbers)"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the array's numbers."""
        return self._dtype

    def load(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the array's numbers at the places start … stop−1, in memory; nobody else has them.

        Raises:
            ScratchError: the file cannot be read, or is not as it was written.
        """
        width, whole = self._dtype.itemsize, self._length * self._dtype.itemsize
        begin, end = start * width, whole if stop is None else min(stop * width, whole)
        first = begin // _PART * _PART
        last = min(-(-end // _PART) * _PART, whole)
        plain = np.empty(max(last - first, 0) + _TAG, np.uint8)  # room for a last block
        room = np.empty(min(_PART, len(plain)), np.uint8)
        try:
            for part in _parts(first, last):
                sealed = room[: part.stop - part.start]
                self._file.read(sealed, self._begin + part.start)
                at = part.start // _PART
                decryptor = Cipher(self._key, modes.GCM(_nonce(at), self._tags[at])).decryptor()
                decryptor.update_into(sealed.data, plain[part.start - first :].data)
                decryptor.finalize()
        except (OSError, InvalidTag) as error:
            raise ScratchError(
                f"{SCRATCH}: what was written there must be read as it was written, got {_words(error)}"
            ) from None
        return plain[begin - first : max(end - first, begin - first)].view(self._dtype)


def keep_array(array: NDArray[Any]) -> NDArray[Any] | ScratchArray:
    """Keep an array in the scratch folder, if there is one and the array is large; else return it."""
    folder = os.environ.get(SCRATCH)
    if not folder or array.nbytes < KEPT_FROM:
        return array
    return ScratchArray(array, Path(folder))


def load_array(kept: NDArray[Any] | ScratchArray, start: int = 0, stop: int | None = None) -> NDArray[Any]:
    """Return places start … stop−1 of an array that `keep_array` has kept; nothing may be written to it."""
    return kept.load(start, stop) if isinstance(kept, ScratchArray) else kept[start:stop]


def refuse_unfit_scratch() -> None:
    """Refuse a scratch folder that is none, or cannot be written to.

    Raises:
        ScratchError: naming the variable, and not its value.
    """
    folder = os.environ.get(SCRATCH)
    if not folder:
        return
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1))
    except OSError as error:
        raise _unfit(error) from None


def _unfit(error: OSError) -> ScratchError:
    return ScratchError(
        f"{SCRATCH}: must be a folder that can be written to and has room, got {_words(error)}"
    )


def _words(error: Exception) -> str:
    """Say what went wrong, and not where."""
    number = getattr(error, "errno", None)
    return _IN_WORDS.get(number, type(error).__name__) if number else type(error).__name__


def _nonce(at: int) -> bytes:
    """Return the nonce of an array's part: no other is encrypted with this key and this number."""
    return at.to_bytes(_NONCE, "big")


def _parts(first: int, last: int) -> Iterator[slice]:
    """Yield the parts that the bytes first … last−1 are encrypted in; ``first`` begins one."""
    for start in range(first, last, _PART):
        yield slice(start, min(start + _PART, last))
