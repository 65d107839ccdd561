"""Whether git would publish the vault: which files of a folder a repository's index lists.

The index is read here and git is not run: a repository's configuration can make git start programs, and
``GIT_…`` variables can point it elsewhere. An index that this reader does not understand says nothing.

Source: gitformat-index(5), versions 2 to 4, with split indexes; gitrepository-layout(5).
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

from anon_pipeline.base.errors import InputError
from anon_pipeline.vault.names import IGNORED

_LARGEST = 2**28  # bytes of an index: about two million files
_ENTRY = 40  # bytes of times, mode, owner and size, before the object's name
_EXTENDED, _NAME = 0x4000, 0x0FFF


def refuse_tracked(folder: Path) -> None:
    """Refuse a vault of which git tracks a file; looked up once in a process.

    Raises:
        InputError: with their number, never with their names.
    """
    count = _looked_up(folder)
    if count:
        _looked_up.cache_clear()  # so that the same process sees that it was fixed
        raise InputError(
            f"the vault must not be under version control, git tracks {count} of its files: private tables "
            f"would be committed, and may have been. Run git rm -r --cached on its folder, and if they were "
            f"pushed, treat them as published."
        )


@cache
def _looked_up(folder: Path) -> int:
    return tracked_files(folder)


def tracked_files(folder: Path) -> int:
    """Count the files below a folder that git tracks, its ``.gitignore`` left out.

    Args:
        folder: of the vault; symbolic links are followed.
    Returns:
        0 also where there is no repository, or none that can be read.
    """
    try:
        real = folder.resolve()
        for above in (real, *real.parents):
            repository = _repository(above / ".git")
            if repository is not None:
                inside = os.fsencode(real.relative_to(above).as_posix())
                prefix = b"" if inside == b"." else inside + b"/"
                return sum(1 for path in _paths(repository) if _counts(path, prefix))
    except (OSError, ValueError, struct.error, RuntimeError):
        pass
    return 0


def _counts(path: bytes, prefix: bytes) -> bool:
    """Tell whether a path is of a file in the folder; one that a split index replaces has no name there."""
    return path != b"" and path.startswith(prefix) and path != prefix + IGNORED.encode()


def _repository(git: Path) -> Path | None:
    """Return the folder with the index: ``.git`` itself, or the one that a file of that name leads to."""
    if git.is_dir():
        return git if (git / "HEAD").is_file() else None
    if not git.is_file():
        return None
    said = git.read_bytes()[:4096]
    if not said.startswith(b"gitdir: "):
        return None
    return git.parent / os.fsdecode(said.removeprefix(b"gitdir: ").strip())


def _paths(repository: Path) -> Iterator[bytes]:
    """Yield the paths in a repository's index, and in the one that it shares."""
    data = _bytes(repository / "index")
    if data is None:
        return
    size = _hash_size(data, repository)
    end = yield from _entries(data, size)
    link = _link(data, end, size)
    behind = None if link is None else _bytes(repository / f"sharedindex.{link[:size].hex()}")
    if link is not None and behind is not None:
        deleted = set(_bits(link[size:]))
        yield from (path for i, path in enumerate(_entries(behind, size)) if i not in deleted)


def _bytes(path: Path) -> bytes | None:
    """Read an index; None where there is none, or one that is no index or beyond the limit."""
    if not path.is_file() or path.stat().st_size > _LARGEST:
        return None
    data = path.read_bytes()
    return data if data[:4] == b"DIRC" and len(data) >= 32 else None


def _hash_size(data: bytes, repository: Path) -> int:
    """Return the bytes of an object's name: from the checksum at the end, or else from the configuration."""
    for name, size in (("sha1", 20), ("sha256", 32)):
        if hashlib.new(name, data[:-size], usedforsecurity=False).digest() == data[-size:]:
            return size
    common = repository / "commondir"
    at = repository / common.read_text().strip() if common.is_file() else repository
    config = (at / "config").read_text("utf-8", "replace").lower() if (at / "config").is_file() else ""
    return 32 if "objectformat" in config and "sha256" in config else 20


def _entries(data: bytes, size: int) -> Generator[bytes, None, int]:
    """Yield the paths of an index's entries; return where they end."""
    version, count = struct.unpack_from(">II", data, 4)
    if version not in (2, 3, 4):
        return len(data)
    at, path = 12, b""
    for _ in range(count):
        begin = at
        (flags,) = struct.unpack_from(">H", data, at + _ENTRY + size)
        at += _ENTRY + size + (4 if flags & _EXTENDED else 2)
        if version == 4:
            strip, at = _varint(data, at)
            end = data.index(b"\0", at)
            path, at = path[: len(path) - strip] + data[at:end], end + 1
        else:
            length = flags & _NAME
            end = at + length if length < _NAME else data.index(b"\0", at)
            path = data[at:end]
            at = begin + (end - begin + 8) // 8 * 8
        yield path
    return at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a number as git's ``decode_varint`` does."""
    byte = data[at]
    value, at = byte & 127, at + 1
    while byte & 128:
        byte = data[at]
        value, at = ((value + 1) << 7) + (byte & 127), at + 1
    return value, at


def _link(data: bytes, at: int, size: int) -> bytes | None:
    """Return what an index says of the one that it is split from: its name, which entries are deleted."""
    while at + 8 <= len(data) - size:
        (length,) = struct.unpack_from(">I", data, at + 4)
        if data[at : at + 4] == b"link":
            return data[at + 8 : at + 8 + length]
        at += 8 + length
    return None


def _bits(data: bytes) -> Iterator[int]:
    """Yield which bits are set in the first EWAH bitmap: runs of equal words, then words as they are."""
    if len(data) < 8:
        return
    size, count = struct.unpack_from(">II", data)
    words = struct.unpack_from(f">{count}Q", data, 8)
    at, bit = 0, 0
    while at < count and bit < size:
        run, literals = words[at] >> 1 & 0xFFFFFFFF, words[at] >> 33
        if words[at] & 1:
            yield from range(bit, min(bit + 64 * run, size))
        bit += 64 * run
        for word in words[at + 1 : at + 1 + literals]:
            yield from (bit + i for i in range(64) if word >> i & 1)
            bit += 64
        at += 1 + literals
