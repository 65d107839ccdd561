"""A file, or a folder of files, that must stay what it is while it is read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from anon_pipeline.base.errors import InputError

_Stamp = tuple[int, ...]


@contextmanager
def refuse_changes(path: Path) -> Iterator[None]:
    """Refuse a file or folder that has changed when all of it was read.

    Noticed is another file in its place, another size, another time of its last change; of a folder also
    files that came or went. A writer who changes bytes within one tick of the file system's clock is not.

    Raises:
        InputError: it has changed, or is gone.
    """
    before = _stamps(path)
    yield
    if _stamps(path) != before:
        raise InputError(change_message(path.name))


def last_change(path: Path) -> tuple[int, int]:
    """Return when a file, or any file of a folder, was changed last, and how many files these are.

    Returns:
        nanoseconds since 1970; files. A file that was renamed into a folder counts by its own time.
    Raises:
        OSError: it is not there, or cannot be looked at.
        InputError: a link that leads out of the folder.
    """
    files = files_in(path).values() if path.is_dir() else [path]
    times = [file.stat().st_mtime_ns for file in files]
    return max(times, default=path.stat().st_mtime_ns), len(times)


def change_message(name: str) -> str:
    """Say that a source changed while it was read."""
    return f"{name}: must not change while it is read, it did. Run again when it is complete."


def files_in(folder: Path) -> dict[str, Path]:
    """Return the files in a folder and those below it, by their paths in it; none that begins with . or _.

    Raises:
        InputError: a link that leads out of the folder.
    """
    root, found = folder.resolve(), {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if any(part.startswith((".", "_")) for part in inside.parts) or path.is_dir():
            continue
        if not path.resolve().is_relative_to(root):
            raise InputError(f"{folder.name}: must have no links to files outside of it, got one")
        found[str(PurePosixPath(inside))] = path
    return found


def _stamps(path: Path) -> Mapping[str, _Stamp] | None:
    try:
        files = files_in(path) if path.is_dir() else {"": path}
        return {name: _stamp(file.stat()) for name, file in files.items()}
    except OSError:
        return None


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
