"""Writing a release so that a reader sees the old one or the new one, complete.

Data files, report and public policy are named by their digests and written first; the manifest, which names
them, replaces the old one in one rename. Whoever follows the manifest always finds its files: those of the
release before stay until the next one is published. What a dead run left is removed by the next one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from anon_pipeline.base.disk import PART, clear_parts, disk, make_folder, replace_file
from anon_pipeline.base.errors import PublishError
from anon_pipeline.base.size_bounds import MANIFEST_BYTES, read_small
from anon_pipeline.catalog.releases import RELEASE_FORMATS
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.destination import nearest_folder
from anon_pipeline.publish.lock import hold_folder, refuse_strange
from anon_pipeline.publish.manifest.manifest import BESIDE, MANIFEST, ReleaseFile
from anon_pipeline.publish.manifest.signatures import sign

Page = Callable[[Mapping[str, Any]], bytes]
"""Makes the report (HTML) of the manifest that is about to be written."""
Fence = Callable[[], AbstractContextManager[None]]
"""Holds off whoever could take back the leave to write a release, while the manifest is renamed."""


@dataclass(frozen=True, slots=True, eq=False)
class DataFile:
    """A data file that is about to be written."""

    described: ReleaseFile
    data: bytes = field(repr=False)


def data_file(
    name: str, form: str, data: bytes, records: int, types: Mapping[str, str] | None = None
) -> DataFile:
    """Describe a data file before it is written: ``<name>-<16 digits of its SHA-256>.<format>``.

    Files of one release with the same bytes have the same name: they are one file, named several times.
    """
    digest = hashlib.sha256(data).hexdigest()
    return DataFile(ReleaseFile(f"{name}-{digest[:16]}.{form}", digest, len(data), records, types), data)


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


def released_partitions(policy: Policy, locations: Locations) -> set[str]:
    """Return the partitions whose folder holds a manifest, readable or not."""
    return {path.parent.name for path in locations.release(policy).glob(f"*/{MANIFEST}")}


def prepare(folder: Path, release: str) -> None:
    """Make sure that the destination can be written, before any work is done; nothing is left there.

    Args:
        folder: of the release; need not be there yet.
    Raises:
        PublishError: it cannot, or it is the folder of another release.
    """
    with _as_publish_error(folder):
        above = nearest_folder(folder, release)
        refuse_strange(folder)
        with tempfile.TemporaryFile(prefix=PART, suffix=".part", dir=above):
            pass
    other = (read_manifest(folder) or {}).get("release", release)
    if other != release:
        raise PublishError(
            f"publish.to: must not be the folder of another release, got the folder of {other}. "
            f"Give each release a folder of its own."
        )


def write_release(  # noqa: PLR0913 - what is written, where, with which key, waiting how long
    folder: Path,
    files: Sequence[DataFile],
    document: Mapping[str, Any],
    *,
    wait: float = 60.0,
    key: Ed25519PrivateKey | None = None,
    page: Page | None = None,
    policy: bytes | None = None,
    fence: Fence = contextlib.nullcontext,
) -> dict[str, Any]:
    """Write the files, then the manifest that names them; then remove what neither it nor the last one names.

    Args:
        folder: of the release; made if it is not there.
        files: the data files, all that the manifest names.
        wait: seconds to wait for another publisher that holds the folder.
        key: to sign the manifest with; None: it is not signed.
        page: makes the report; None: there is none.
        policy: what is public of the policy, as a file; None: there is none.
        fence: the manifest is renamed within it; refuses if the release may no longer be written.
    Returns:
        The manifest as it was written: made no earlier than the one before, naming all files, signed.
    Raises:
        PublishError: the destination cannot be written or is held; the release before is untouched, unless
            the error is ``in_place``.
    """
    with _as_publish_error(folder):
        make_folder(folder)
        with hold_folder(folder, wait=wait) as still_held:
            prepare(folder, document["release"])
            clear_parts(folder)
            before = read_manifest(folder) or {}
            final = _not_before(document, before)
            beside = {"policy": policy, "report": None if page is None else page(final)}
            pages = {part: content for part, content in beside.items() if content is not None}
            final |= {part: _file_beside(final["release"], part, content) for part, content in pages.items()}
            final = final if key is None else sign(final, key)
            with _taken_back(folder, before, final):
                for file in files:
                    replace_file(folder / file.described.name, file.data, mode=0o644, what="data")
                for part, content in pages.items():
                    replace_file(folder / final[part]["name"], content, mode=0o644, what=part)
                still_held()
                with fence(), _as_publish_error(folder):
                    _point_to(folder, final)
            _remove_others(folder, [before, final])
    return final


@contextlib.contextmanager
def _taken_back(folder: Path, before: Mapping[str, Any], final: Mapping[str, Any]) -> Iterator[None]:
    """Remove the files of a release that was refused or failed on its way, unless a manifest names them."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError, PublishError):  # what is left is removed by the next release
            shown = read_manifest(folder) or {}
            for name in {*named_files(final)} - {*named_files(before), *named_files(shown)}:
                with contextlib.suppress(FileNotFoundError):
                    disk().unlink(folder / name, "file of a failed release")
        raise


def _file_beside(release: str, part: str, content: bytes) -> dict[str, Any]:
    """Describe a file next to the data: ``<name>-<part>-<16 digits of its SHA-256>.<ending>``."""
    digest = hashlib.sha256(content).hexdigest()
    name = f"{release}-{part}-{digest[:16]}.{BESIDE[part]}"
    return {"name": name, "sha256": digest, "size": len(content)}


def _not_before(document: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest whose time is not before the last one's, wherever the clock has jumped."""
    made = str(document["made_at"])
    with contextlib.suppress(KeyError, ValueError, TypeError):  # no manifest before, or no time in it
        made = max(made, str(before["made_at"]), key=datetime.fromisoformat)
    return {**document, "made_at": made}


def _point_to(folder: Path, document: Mapping[str, Any]) -> None:
    """Replace the manifest.

    Raises:
        PublishError: the disk failed after the rename; says that the new release is in place.
        OSError: it failed before.
    """
    data = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode()
    if len(data) > MANIFEST_BYTES:
        raise PublishError(
            "publish.records_per_file: the manifest would be too large to be read. Set it higher."
        )
    try:
        replace_file(folder / MANIFEST, data, mode=0o644, what="manifest")
    except OSError as error:
        try:
            in_place = (folder / MANIFEST).read_bytes() == data
        except OSError:
            in_place = False
        if not in_place:
            raise
        raise PublishError(
            f"publish.to: {folder} holds the new release, but the disk did not confirm it "
            f"({_words(error)}): it may be gone after a power cut. Copy it to another disk.",
            in_place=True,
        ) from None


@contextlib.contextmanager
def _as_publish_error(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PublishError(
            f"publish.to: {folder} must be a folder that can be written, got: {_words(error)}"
        ) from None


def _words(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else type(error).__name__


def _remove_others(folder: Path, documents: list[Mapping[str, Any]]) -> None:
    """Remove files that only older manifests named; nothing that this tool did not write."""
    named = {name for document in documents for name in named_files(document)}
    release, digits = documents[-1]["release"], "[0-9a-f]" * 16
    data = (f"-{digits}.{form}" for form in RELEASE_FORMATS)
    others = (f"-{part}-{digits}.{ending}" for part, ending in BESIDE.items())
    for pattern in (*data, *others):
        for path in folder.glob(f"{release}{pattern}"):
            if path.name not in named:
                with contextlib.suppress(OSError):  # the release is out; the next one removes it
                    disk().unlink(path, "old data")


def named_files(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a manifest's files; of a report or a policy that cannot be read, none."""
    yield from (item["name"] for item in document.get("files", []))
    for part in BESIDE:
        item = document.get(part)
        if isinstance(item, Mapping) and isinstance(item.get("name"), str):
            yield item["name"]
