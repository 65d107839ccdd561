"""Writing a release so that a reader sees the old one or the new one, complete.

The data file is named by its digest and written first; the manifest, which names it, replaces the old one in
one rename. Whoever follows the manifest always finds its file: the files of the release before stay until
the next one is published.
Belongs here: bytes to disk. Does not belong here: whether they may go there (`release`).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from anon_pipeline.errors import PublishError
from anon_pipeline.limits import MANIFEST_BYTES, read_small
from anon_pipeline.publish.manifest import MANIFEST, ReleaseFile

__all__ = ["data_file", "prepare", "read_manifest", "write_release"]


def data_file(name: str, form: str, data: bytes, records: int) -> ReleaseFile:
    """Describe a data file before it is written: ``<name>-<16 digits of its SHA-256>.<format>``."""
    digest = hashlib.sha256(data).hexdigest()
    return ReleaseFile(f"{name}-{digest[:16]}.{form}", digest, len(data), records)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a release's folder; None where there is no release yet.

    Raises:
        PublishError: there is one that cannot be read, or that is none of ours.
    """
    path = folder / MANIFEST
    try:
        document: dict[str, Any] = json.loads(read_small(path, MANIFEST_BYTES) or b"")
        known = isinstance(document["release"], str) and all(Path(f["name"]).name for f in document["files"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        known = False
    if not known:
        raise PublishError(f"{path}: must be a manifest of anon-pipeline. Move it away to publish here.")
    return document


def prepare(folder: Path, release: str) -> None:
    """Make sure that the destination can be written, before any work is done; nothing is left there.

    Args:
        folder: of the release; need not be there yet.
        release: its name.
    Raises:
        PublishError: it cannot, or it is the folder of another release.
    """
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    with _as_publish_error(folder), tempfile.TemporaryFile(dir=nearest):
        pass
    other = (read_manifest(folder) or {}).get("release", release)
    if other != release:
        raise PublishError(
            f"publish.to: must not be the folder of another release, got the folder of {other}. "
            f"Give each release a folder of its own."
        )


def write_release(folder: Path, file: ReleaseFile, data: bytes, document: Mapping[str, Any]) -> Path:
    """Write the data file, then the manifest; then remove what neither this manifest nor the last one names.

    Args:
        folder: of the release; made if it is not there.
        file: description of ``data``.
        data: bytes of the table.
        document: the manifest, naming ``file``.
    Returns:
        Path of the data file.
    Raises:
        PublishError: the destination cannot be written; the release before is untouched.
    """
    with _as_publish_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            prepare(folder, document["release"])
            before = read_manifest(folder)
            _replace(folder / file.name, data)
            _replace(folder / MANIFEST, json.dumps(document, indent=1, ensure_ascii=False).encode())
            _remove_others(folder, [before or {}, document])
    return folder / file.name


@contextlib.contextmanager
def _as_publish_error(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        raise PublishError(
            f"publish.to: {folder} must be a folder that can be written, got: {reason}"
        ) from None


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder against other publishers on this machine; the lock ends with the process."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _replace(path: Path, data: bytes) -> None:
    """Write beside, fsync, rename, fsync the folder."""
    handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _remove_others(folder: Path, documents: list[Mapping[str, Any]]) -> None:
    """Remove data files that only older manifests named; nothing that this tool did not write."""
    named = {item["name"] for document in documents for item in document.get("files", [])}
    release = documents[-1]["release"]
    for form in ("parquet", "csv"):
        for path in folder.glob(f"{release}-{'[0-9a-f]' * 16}.{form}"):
            if path.name not in named:
                path.unlink(missing_ok=True)
