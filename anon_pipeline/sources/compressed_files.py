"""Files that are compressed as a whole: gzip, zstd, or one file in a zip archive."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import pyarrow as pa

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.size_bounds import Held, limit_error, open_readable
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.bounds import refuse_large_file

ZIP = b"PK\x03\x04"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BLOCK = 2**20
_BROKEN = (OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zlib.error, zipfile.BadZipFile)


def unpack(file: Path | Held, limits: Limits) -> Path | Held:
    """Return a file as it is, or what is packed in it, held in memory.

    Args:
        file: its first bytes say whether it is packed, not its name.
        limits: ``file_bytes`` of what is packed, ``uncompressed_bytes`` of what comes out.
    Raises:
        InputError: broken, an archive of several files, or a limit that is not kept (its name).
    """
    with withhold_text(f"{file.name}: must be a readable file", OSError):
        with open_readable(file) as opened:
            head = opened.read(4)
        if not head.startswith((_GZIP, _ZSTD, ZIP)):
            return file
        refuse_large_file(file, limits)
    with (
        withhold_text(f"{file.name}: must be a compressed file that is whole", *_BROKEN),
        open_readable(file) as opened,
        _plain(file.name, opened, head) as inner,
    ):
        data = _read_bounded(file.name, inner, limits)
    return Held(file.name, data)


@contextmanager
def _plain(name: str, opened: BinaryIO, head: bytes) -> Iterator[BinaryIO]:
    """Open what is packed."""
    if head.startswith(_GZIP):
        with gzip.open(opened) as inner:
            yield inner  # type: ignore[misc]
    elif head.startswith(_ZSTD):
        yield pa.CompressedInputStream(pa.PythonFile(opened, "r"), "zstd")
    else:
        with zipfile.ZipFile(opened) as archive:
            members = [one for one in archive.infolist() if _is_data(one)]
            if len(members) != 1:
                raise InputError(f"{name}: must be an archive of one file, got {len(members)}")
            with archive.open(members[0]) as inner:
                yield inner  # type: ignore[misc]


def _is_data(member: zipfile.ZipInfo) -> bool:
    """Tell whether a member is a file that somebody put there: no folder, and nothing of macOS."""
    path = PurePosixPath(member.filename)
    return not (member.is_dir() or path.parts[:1] == ("__MACOSX",) or path.name.startswith("."))


def _read_bounded(name: str, inner: BinaryIO, limits: Limits) -> bytes:
    """Read all, and refuse before the memory is full: a few bytes may become many."""
    made = io.BytesIO()
    while block := inner.read(_BLOCK):
        made.write(block)
        if made.tell() > limits.uncompressed_bytes:
            raise limit_error(name, "uncompressed_bytes", limits.uncompressed_bytes)
    return made.getvalue()
