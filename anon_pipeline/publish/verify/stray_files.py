"""Files in the folder of a manifest: only those that it names, and those that publishing leaves there."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from anon_pipeline.base.disk import PART
from anon_pipeline.base.errors import PublishError
from anon_pipeline.catalog.releases import RELEASE_FORMATS
from anon_pipeline.publish.lock import LOCK, Owner
from anon_pipeline.publish.manifest.manifest import BESIDE, MANIFEST
from anon_pipeline.publish.writer import named_files, read_manifest

_PART = re.compile(
    rf"{re.escape(PART)}(?:[a-z0-9_]{{8}}|[0-9a-f]{{16}})\.part"
)  # mkstemp's names, and the lock's

_LARGEST = 2048  # bytes of a lock
_HOST = re.compile(r"[^\s,;]{0,255}")
_BOOT = re.compile(r"(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?")


@dataclass(frozen=True, slots=True)
class Beside:
    """Other files in the folder of a release.

    strangers: files and folders that no release of this name has written there.
    folders: how many of them are folders.
    former: files of releases of this name that were there before; the writer keeps those of the last one.
    unfinished: files that are named as if a crash had left them; nothing is known of what they hold.
    """

    strangers: int
    folders: int
    former: int
    unfinished: int = 0


def count_stray_files(
    folder: Path, document: Mapping[str, Any], *, most: int, divides: Callable[[str], bool]
) -> Beside:
    """Count what is next to a manifest, and is neither named by it nor a partition of the same release.

    A partition is a folder that has its name and holds its manifest; `verify` is to be run there, too. A file
    of a former release has its name, and in it the digits of its own SHA-256. What a crash has left of
    writing has a name as the writer makes it; the lock says who holds the folder, and nothing else.

    Args:
        divides: whether a release may have a partition of this name; called with folders.
        most: bytes of a file that is read to compare its digest; a larger one is a stranger.
    Raises:
        OSError: the folder cannot be read.
    """
    named = {MANIFEST, *named_files(document)}
    others = [path for path in folder.iterdir() if path.name not in named and not _is_of_writing(path)]
    others = [path for path in others if not (_is_partition(path, document) and divides(path.name))]
    former = [path for path in others if _is_former(path, str(document["release"]), most)]
    unfinished = sum(map(is_unfinished, folder.iterdir()))
    return Beside(len(others) - len(former), sum(path.is_dir() for path in others), len(former), unfinished)


def _is_of_writing(path: Path) -> bool:
    """Tell whether a file is a lock, or one that is not finished."""
    return _is_lock(path) or is_unfinished(path)


def _is_lock(path: Path) -> bool:
    """Tell whether a file is a lock as `lock` writes it: plain, small, naming an owner and nothing else.

    Where a file system has no links, a process that died at once can leave an empty one.

    Raises:
        OSError: it cannot be read.
    """
    if path.name != LOCK or path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
        return False
    text = path.read_bytes()
    if not text:
        return True
    try:
        found = json.loads(text)
        since = datetime.fromisoformat(found["since"])
        told = [set(found) == {field.name for field in fields(Owner)}, since.tzinfo is not None]
        told += [type(found["pid"]) is int, found["started"] is None or type(found["started"]) is int]
        told += [bool(_HOST.fullmatch(found["host"])), bool(_BOOT.fullmatch(found["boot"]))]
    except (ValueError, TypeError, LookupError, RecursionError):
        return False
    return all(told)


def is_unfinished(path: Path) -> bool:
    """Tell whether a file is one that a crash has left of writing or locking; the next run removes it."""
    return _PART.fullmatch(path.name) is not None and path.is_file() and not path.is_symlink()


def _is_partition(path: Path, document: Mapping[str, Any]) -> bool:
    """Tell whether a folder holds a partition of the release whose manifest lies above."""
    if document.get("partition") is not None or path.is_symlink() or not path.is_dir():
        return False
    try:
        found = read_manifest(path)
    except PublishError:
        return False
    return found is not None and (found["release"], found.get("partition")) == (
        document["release"],
        path.name,
    )


def _is_former(path: Path, release: str, most: int) -> bool:
    """Tell whether a file was written by a release of this name."""
    forms = (rf"([0-9a-f]{{16}})\.{re.escape(form)}" for form in RELEASE_FORMATS)
    others = (rf"{part}-([0-9a-f]{{16}})\.{ending}" for part, ending in BESIDE.items())
    named = re.fullmatch(rf"{re.escape(release)}-(?:{'|'.join((*forms, *others))})", path.name)
    if named is None or path.is_symlink() or not path.is_file() or path.stat().st_size > most:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest().startswith(next(filter(None, named.groups())))
