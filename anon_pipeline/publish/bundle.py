"""What an auditor gets of a release, in one ZIP file: the release, what made it, and how to check it.

What is packed are the bytes that were verified. Neither the vault nor the source, a key or the population's
table is ever packed. Decisions: docs/adr/0050-a-report-for-a-privacy-officer.md.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from typing import Any

from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.size_bounds import (
    HIERARCHY_BYTES,
    MANIFEST_BYTES,
    POLICY_BYTES,
    REPORT_BYTES,
    read_small,
)
from anon_pipeline.gate import GateReport, Status
from anon_pipeline.ledger import Ledger
from anon_pipeline.ledger.chain import Event
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.load import load_policy
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.walks import Named, named_paths
from anon_pipeline.publish.bundle_text import LEDGER, POLICY, README, RELEASE, VERSIONS, readme, versions
from anon_pipeline.publish.manifest.manifest import BESIDE, MANIFEST
from anon_pipeline.publish.release_files import is_file_beside, limits_of, manifest_of, read_bytes
from anon_pipeline.publish.verify.verify import Against, verify_release

_DATE = (1980, 1, 1, 0, 0, 0)  # the first that a ZIP file can say
_OWN = {README, LEDGER, POLICY, VERSIONS, RELEASE}
Files = dict[str, bytes]


def bundle(
    release: Path, policy_file: Path, against: Against, *, ledger: Ledger | None, tables: bool = False
) -> bytes:
    """Pack a release with what made it.

    Args:
        release: its folder or its manifest.
        policy_file: the policy that made it; it is packed as it is.
        against: that policy, the folder of the hierarchy tables, the key if the release must be signed.
        ledger: that knows the release; None: no extract is packed.
        tables: whether to pack the hierarchy tables that the policy names; they can hold values that nobody
            released has.
    Returns:
        A ZIP file; equal for equal arguments.
    Raises:
        InputError: the release does not verify, here or where it is unpacked; a file cannot be packed; the
            ledger's chain is broken.
    """
    manifest = release / MANIFEST if release.is_dir() else release
    document = manifest_of(manifest)
    files = _release_files(manifest, document, against.policy)
    files[POLICY] = _bytes(policy_file, POLICY_BYTES)
    policy = _policy_of(files[POLICY])
    named = _tables(policy)
    if tables:
        files |= {name: _bytes(against.hierarchies / name, HIERARCHY_BYTES) for name in named}
    if ledger is not None:
        files[LEDGER] = _extract(ledger, document, policy)
    files[VERSIONS] = versions(document)
    checked = _verify(files, replace(against, policy=policy), tables=tables or not named)
    left_out = [] if tables else named
    files[README] = readme(document, files, checked, left_out, signed="signature" in document)
    return _zip(files)


def write_bundle(path: Path, data: bytes) -> None:
    """Write a bundle, complete or not at all, never over a file that is there; for its owner alone.

    Raises:
        InputError: it is there already, or cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=".anon-pipeline-", suffix=".part", dir=path.parent)
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.link(part, path)  # unlike a rename, it fails where there is a file
        finally:
            part.unlink()
    except FileExistsError:
        raise InputError("the bundle must be a new file, got the name of one that is there") from None
    except OSError as error:
        raise InputError(f"the bundle must be a file that can be written: {error_words(error)}") from None


def _bytes(path: Path, most: int) -> bytes:
    """Read a file of at most so many bytes."""
    try:
        data = read_small(path, most)
    except OSError as error:
        raise InputError(f"{path.name}: must be a file that can be read: {error_words(error)}") from None
    if data is None:
        raise InputError(f"{path.name}: must have at most {most} bytes, got more")
    return data


def _release_files(manifest: Path, document: Mapping[str, Any], policy: Policy | None) -> Files:
    """Read manifest, data file, report and public policy, by the names and digests of the manifest."""
    items = [(item, limits_of(policy)) for item in document["files"]]
    others = [(document.get(part), ending) for part, ending in BESIDE.items()]
    beside = [item for item, ending in others if is_file_beside(item, ending)]
    items += [(item, Limits(file_bytes=REPORT_BYTES)) for item in beside]
    files = {f"{RELEASE}/{MANIFEST}": _bytes(manifest, MANIFEST_BYTES)}
    for item, limits in items:
        try:
            files[f"{RELEASE}/{item['name']}"] = read_bytes(manifest.parent / item["name"], item, limits)
        except (OSError, InputError) as error:
            said = error_words(error) if isinstance(error, OSError) else str(error)
            raise InputError(f"{item['name']}: {said}") from None
    return files


def _policy_of(data: bytes) -> Policy:
    """Read the policy that is packed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / POLICY
        path.write_bytes(data)
        return load_policy(path, retired=True)


def _tables(policy: Policy) -> list[str]:
    """Name the hierarchy tables of a policy, as paths within the bundle.

    Raises:
        InputError: one has no place there.
    """
    names = sorted({named.path for named in named_paths(policy) if _is_table(named)})
    for name in names:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts or path.parts[0] in _OWN:
            raise InputError(
                "a hierarchy table must be in the project's folder, and not be named like a file of the "
                "bundle. Move the table."
            )
    return names


def _is_table(named: Named) -> bool:
    """Tell whether a path is of a hierarchy table; value maps are not needed to verify a release."""
    return named.folder == "hierarchies" and not named.where.startswith("clean.")


def _extract(ledger: Ledger, document: Mapping[str, Any], policy: Policy) -> bytes:
    """Return the events of a release and of its dataset, as JSON lines with their hashes."""
    events, broken = ledger.read_and_verify()
    if broken is not None:
        raise InputError(f"the ledger must be whole, it is broken at event {broken.seq}: {broken.reason}")
    release_id = document.get("facts", {}).get("perturbed", {}).get("release_id")
    own = {event.dataset for event in events if event.release_id == release_id}
    datasets = own | {policy.dataset or policy.name}
    return _lines(event for event in events if event.release_id == release_id or event.dataset in datasets)


def _lines(events: Iterable[Event]) -> bytes:
    return "".join(json.dumps(asdict(event), ensure_ascii=False) + "\n" for event in events).encode()


def _verify(files: Files, against: Against, *, tables: bool) -> GateReport:
    """Verify what is packed: with the project's tables, and as it will be where it is unpacked.

    Args:
        tables: whether what is unpacked has all tables that the policy names.
    Returns:
        The verdicts where it is unpacked.
    """
    with tempfile.TemporaryDirectory(prefix="anon-pipeline-") as name:
        folder = Path(name)
        for file, data in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(data)
        if not tables:
            _refuse(verify_release(folder / RELEASE, against), "")
        there = verify_release(
            folder / RELEASE, replace(against, hierarchies=folder, sources=folder / "no sources")
        )
    _refuse(there, "" if tables else "The unpacked bundle does not verify without the hierarchy tables.")
    return there


def _refuse(report: GateReport, why: str) -> None:
    refused = [verdict.as_text() for verdict in report.with_status(Status.REFUSED)]
    if refused:
        raise InputError([*refused, *([f"{why} Pack them, too (--with-hierarchies)."] if why else [])])


def _zip(files: Files) -> bytes:
    """Pack files in the order of their names, as they are: versions of zlib compress differently."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(name, _DATE)
            info.create_system, info.external_attr = 3, 0o100644 << 16  # Unix, wherever it is made
            archive.writestr(info, data)
    return target.getvalue()
