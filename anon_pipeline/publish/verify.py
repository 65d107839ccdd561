"""Verifying a release that lies somewhere: is it still what its manifest says, and who signed it.

Belongs here: digests, the gate's file-only part, the signature. Does not belong here: the limits themselves
(`gate`), printing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from anon_pipeline.digest import digest_frame
from anon_pipeline.errors import AnonPipelineError, InputError, in_words
from anon_pipeline.gate import GateReport, Status, Verdict, evaluate
from anon_pipeline.measure.origin import hierarchy_digests
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.manifest import MANIFEST
from anon_pipeline.publish.signing import broken_signature
from anon_pipeline.publish.tables import from_bytes, read_release

__all__ = ["Against", "verify_release"]

_LARGEST_MANIFEST = 1 << 26
_TEXTS = ("release", "policy_digest", "data_digest")


@dataclass(frozen=True, slots=True)
class Against:
    """What a release is verified against, beside its manifest.

    policy: that it should have been made by; None: its digest is not compared, the gate is not asked.
    hierarchies: folder of the hierarchy tables.
    key: that should have signed it; None: a signature is not checked.
    """

    policy: Policy | None = None
    hierarchies: Path = Path()
    key: Ed25519PublicKey | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """A manifest, the folder it is in, and the table if its file is the one that the manifest names."""

    folder: Path
    document: Mapping[str, Any]
    data: dict[str, bytes] = field(repr=False)


def verify_release(path: Path, against: Against) -> GateReport:
    """Recompute every digest of a release, and let the gate judge what it can on the file alone.

    Args:
        path: folder of the release, or its manifest.
        against: policy and key, where there are any.
    Returns:
        A verdict per check; what could not be verified is unmeasured and says why.
    Raises:
        InputError: there is no manifest, or none of ours.
    """
    manifest = path / MANIFEST if path.is_dir() else path
    read = _Read(manifest.parent, _document(manifest), {})
    verdicts = (
        *_signature(read, against.key),
        *_files(read),
        *_content(read, against.policy),
        *_recorded_gate(read),
        *_policy(read, against),
        *_gate(read, against),
    )
    return GateReport(verdicts, read.document["data_digest"], read.document["policy_digest"])


def _document(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _LARGEST_MANIFEST:
            raise InputError(
                f"{path.name}: must be a manifest of anon-pipeline, got a file too large for one"
            )
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: must be the manifest of a release: {in_words(error)}") from None
    try:
        document = json.loads(text, object_pairs_hook=_unique)
        known = (
            document["manifest_version"] == 1
            and all(isinstance(document[name], str) for name in _TEXTS)
            and bool(document["files"])
            and all(_is_file(item) for item in document["files"])
            and isinstance(document["gate"]["verdicts"], list)
        )
    except (ValueError, LookupError, TypeError, RecursionError):
        known = False
    if not known:
        raise InputError(f"{path.name}: must be a manifest of anon-pipeline, version 1")
    return dict(document)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key given twice: two readers could see two manifests in one."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("keys must be unique")
    return dict(pairs)


def _is_file(item: Any) -> bool:
    name = item["name"]
    plain = isinstance(name, str) and Path(name).name == name and "\0" not in name and "\\" not in name
    return plain and isinstance(item["sha256"], str) and type(item["size"]) is type(item["records"]) is int


def _said(limit: str, wrong: str | None) -> Verdict:
    return Verdict(limit, Status.REFUSED if wrong else Status.PASSED, reason=wrong)


def _unsaid(limit: str, why: str) -> Verdict:
    return Verdict(limit, Status.UNMEASURED, reason=why)


def _signature(read: _Read, key: Ed25519PublicKey | None) -> Iterator[Verdict]:
    if key is not None:
        yield _said("signature", broken_signature(read.document, key))
    elif "signature" in read.document:
        yield _unsaid("signature", "needs --public-key")
    else:
        yield _unsaid("signature", "the manifest is not signed")


def _files(read: _Read) -> Iterator[Verdict]:
    """Compare each file's bytes with the manifest; keep those that agree."""
    for item in read.document["files"]:
        name, wrong = item["name"], None
        try:
            path = read.folder / name
            if path.is_symlink() or not path.is_file():
                wrong = "it must be a file beside the manifest"
            elif path.stat().st_size != item["size"]:
                wrong = f"its size must be {item['size']} bytes, got {path.stat().st_size}"
            else:
                data = path.read_bytes()
                if hashlib.sha256(data).hexdigest() == item["sha256"]:
                    read.data[name] = data
                else:
                    wrong = "its SHA-256 is another than the manifest's"
        except OSError as error:
            wrong = in_words(error)
        yield _said(f"file.{name}", wrong)


def _content(read: _Read, policy: Policy | None) -> Iterator[Verdict]:
    """Compare each table's content with the manifest: its digest, its number of records."""
    for item in read.document["files"]:
        name = item["name"]
        if name not in read.data:
            yield _said("data_digest", f"{name} is not the file that the manifest names")
            continue
        try:
            frame = _table(read, name, policy)
            digest = digest_frame(frame)
        except Exception as error:  # noqa: BLE001 - Arrow quotes what it could not read
            yield _said("data_digest", f"{name} cannot be read as a table ({type(error).__name__})")
            continue
        yield _said(
            "records",
            None if len(frame) == item["records"] else f"must be {item['records']}, got {len(frame)}",
        )
        if digest == read.document["data_digest"]:
            yield _said("data_digest", None)
        elif name.endswith(".csv"):
            yield _unsaid(
                "data_digest", "a CSV does not say its columns' types; its bytes are the manifest's"
            )
        else:
            yield _said("data_digest", f"the content of {name} has another digest than the manifest's")


def _table(read: _Read, name: str, policy: Policy | None) -> pd.DataFrame:
    if name.endswith(".csv") and policy is not None:
        return read_release(read.folder / name, policy)
    return from_bytes(read.data[name], "csv" if name.endswith(".csv") else "parquet")


def _recorded_gate(read: _Read) -> Iterator[Verdict]:
    """Look whether the gate that the manifest records has passed this data under this policy."""
    try:
        gate = GateReport.from_json(read.document["gate"])
    except (ValueError, LookupError, TypeError, AttributeError):
        yield _said("recorded gate", "its verdicts cannot be read")
        return
    names = ("data_digest", "policy_digest")
    others = [name for name in names if getattr(gate, name) != read.document[name]]
    wrong = f"it judged another release ({', '.join(others)})" if others else None
    yield _said("recorded gate", wrong or (None if gate.passed else "it has not passed the release"))


def _policy(read: _Read, against: Against) -> Iterator[Verdict]:
    """Compare the policy and its hierarchy tables with the digests in the manifest."""
    policy = against.policy
    if policy is None:
        yield _unsaid("policy_digest", "needs --policy")
        yield _unsaid("hierarchies", "needs --policy")
        return
    same = policy.digest == read.document["policy_digest"] and policy.name == read.document["release"]
    yield _said("policy_digest", None if same else "made by another policy than this one")
    try:
        found = hierarchy_digests(policy, against.hierarchies)
    except AnonPipelineError as error:
        yield _unsaid("hierarchies", str(error))
        return
    same = found == read.document.get("hierarchies")
    yield _said("hierarchies", None if same else "the hierarchy tables are others than the manifest's")


def _gate(read: _Read, against: Against) -> Iterator[Verdict]:
    """Let the gate judge the file by the policy's limits; what needs the originals stays unmeasured."""
    policy, name = against.policy, read.document["files"][0]["name"]
    if policy is None or name not in read.data:
        why = "needs --policy" if policy is None else "needs the file that the manifest names"
        yield _unsaid("gate", why)
        return
    try:
        frame = read_release(read.folder / name, policy)
    except AnonPipelineError as error:
        yield _said("gate", str(error))
        return
    for verdict in evaluate(frame, policy, hierarchies=against.hierarchies).verdicts:
        yield Verdict(
            f"gate.{verdict.limit}",
            verdict.status,
            verdict.value,
            verdict.bound,
            verdict.sense,
            verdict.reason,
        )
