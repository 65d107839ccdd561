"""How large what is read may be, where a policy does not say it; and sizes taken before anything is read."""

from __future__ import annotations

import io
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TextIO

from anon_pipeline.base.errors import InputError, NotAFileError

POLICY_BYTES = 2**20  # of a policy file
POLICY_DEPTH = 60  # mappings and lists within each other
POLICY_NODES = 100_000  # keys and values, aliases written out
POLICY_TEXT = 10_000  # characters of one text
POLICY_NUMBER = 100  # characters of one number, date or switch
HIERARCHY_BYTES = 2**28  # of a hierarchy table's file
HIERARCHY_LINE = 2**20  # characters of one of its records
HIERARCHY_ROWS = 2_000_000
HIERARCHY_LEVELS = 50
MANIFEST_BYTES = 2**24
COLLECTION_BYTES = 2**26  # some 100,000 releases
REPORT_BYTES = 2**27
KEY_BYTES = 2**16
FOOTER_BYTES = 2**26  # of a Parquet file's metadata


def limit_error(what: str, limit: str, most: int, *, got: int | None = None) -> InputError:
    """Return the error of a limit that was passed.

    Args:
        what: the file, or the file and column.
        got: the size, where it is known.
    """
    more = "more" if got is None else f"{got:,}"
    return InputError(f"{what}: must keep the limit {limit} ({most:,}), got {more}")


@dataclass(frozen=True, slots=True)
class Held:
    """A file that was read: its name and its bytes, for readers that would else open a path again."""

    name: str
    data: bytes = field(repr=False)


def open_readable(file: Path | Held) -> BinaryIO:
    """Open a file, or the bytes that are held of it, for reading.

    Raises:
        OSError: it cannot be opened.
    """
    return io.BytesIO(file.data) if isinstance(file, Held) else file.open("rb")


def file_size(file: Path | Held) -> int:
    """Return a plain file's size in bytes.

    Raises:
        OSError: it is not there, a folder, or something whose end may never come (a pipe, a device).
    """
    if isinstance(file, Held):
        return len(file.data)
    status = file.stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError
    if not stat.S_ISREG(status.st_mode):
        raise NotAFileError
    return status.st_size


def read_small(path: Path, most: int) -> bytes | None:
    """Return a plain file's bytes; None where there are more than ``most``.

    Raises:
        OSError: see `file_size`.
    """
    if file_size(path) > most:
        return None
    with path.open("rb") as file:
        data = file.read(most + 1)
    return data if len(data) <= most else None


class BoundedLines:
    """Lines of a text file for `csv.reader`, which stop before one record grows beyond a limit.

    Args:
        file: opened with ``newline=""``.
        most: characters of one record.
        error: raised when there are more.
    """

    def __init__(self, file: TextIO, most: int, error: InputError) -> None:
        self._file, self._most, self._error, self._used = file, most, error, 0

    def next_record(self) -> None:
        """Begin to count anew: the reader has taken a record."""
        self._used = 0

    def __iter__(self) -> Iterator[str]:
        while line := self._file.readline(self._most - self._used + 1):
            self._used += len(line)
            if self._used > self._most:
                raise self._error
            yield line
