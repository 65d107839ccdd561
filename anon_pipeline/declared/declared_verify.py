"""Verifying a release with declared columns: digests, statements, verdicts are computed again.

What only the originals or the random numbers could confirm stays unmeasured, and says so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.size_bounds import MANIFEST_BYTES, REPORT_BYTES
from anon_pipeline.catalog.release_kinds import ReleaseKind
from anon_pipeline.declared.declared_manifest import (
    declared_policy_bytes,
    digest_of_tables,
    public_declared_policy,
    read_declared_manifest,
)
from anon_pipeline.declared.declared_report import declared_report
from anon_pipeline.declared.parts import Release, parts_of
from anon_pipeline.limits.verdicts import GateReport, Status, Verdict
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.files import Limits
from anon_pipeline.publish.file_formats import column_types, from_files, schema_of
from anon_pipeline.publish.manifest.manifest import MANIFEST, recorded_packages
from anon_pipeline.publish.manifest.signatures import broken_signature
from anon_pipeline.publish.release_files import is_file_beside, is_page, read_bytes
from anon_pipeline.publish.verify.stray_files import count_stray_files

Tables = Sequence[pd.DataFrame] | None
_WORDS = "another version of anon-pipeline has worded it"


def verify_declared(
    path: Path, *, policy: DeclaredRelease | None = None, key: Ed25519PublicKey | None = None
) -> GateReport:
    """Recompute every digest, statement and verdict of a release from its files.

    Args:
        path: folder of the release, or its manifest.
        policy: that made it; None: the public policy beside the release is taken.
        key: that must have signed it; None: a signature is not looked at.
    Returns:
        A verdict for each check; what could not be verified is unmeasured and says why.
    Raises:
        InputError: there is no manifest of a release with declared columns.
    """
    manifest = path / MANIFEST if path.is_dir() else path
    read = read_declared_manifest(manifest)
    if read is None:
        raise InputError(f"{manifest.name}: must be the manifest of a release with declared columns")
    document, kind = read
    folder = manifest.parent
    beside, public = _policy_beside(folder, document, kind, policy)
    used = policy or public
    tables, files = _tables(folder, document)
    verdicts = (
        _signature(document, key),
        *files,
        beside,
        _report_file(folder, document, used, tables),
        _strangers(folder, document),
        *_contents(document, tables),
        *_statements(document, used, tables),
    )
    return GateReport(verdicts, document["data_digest"], document["policy_digest"])


def _verdict_on(name: str, wrong: str | None) -> Verdict:
    return Verdict(name, Status.REFUSED if wrong else Status.PASSED, reason=wrong)


def _unmeasured_verdict(name: str, why: str) -> Verdict:
    return Verdict(name, Status.UNMEASURED, reason=why)


def _signature(document: Mapping[str, Any], key: Ed25519PublicKey | None) -> Verdict:
    if key is not None:
        return _verdict_on("signature", broken_signature(document, key))
    signed = "signature" in document
    return _unmeasured_verdict("signature", "needs --public-key" if signed else "the manifest is not signed")


def _policy_beside(
    folder: Path, document: Mapping[str, Any], kind: ReleaseKind, policy: DeclaredRelease | None
) -> tuple[Verdict, DeclaredRelease | None]:
    """Read the public policy, and compare it with the manifest and with the policy that is given."""
    item: Any = document.get("policy")
    if not is_file_beside(item, "json"):
        return _verdict_on("policy", "the manifest must name it with digest and size"), None
    try:
        data = read_bytes(folder / item["name"], item, Limits(file_bytes=MANIFEST_BYTES))
        public, digest = public_declared_policy(data, kind)
    except OSError as error:
        return _verdict_on("policy", error_words(error)), None
    except InputError as error:
        return _verdict_on("policy", str(error)), None
    if (public.name, digest) != (document["release"], document["policy_digest"]):
        return _verdict_on(
            "policy", "it must be of the release and the policy that the manifest names"
        ), public
    if policy is None:
        return _verdict_on("policy", None), public
    same = policy.digest == digest and json.loads(declared_policy_bytes(policy)) == json.loads(data)
    return _verdict_on("policy", None if same else "the policy that made it must be the one given"), public


def _tables(folder: Path, document: Mapping[str, Any]) -> tuple[list[pd.DataFrame] | None, list[Verdict]]:
    """Read the data files, if they are those that the manifest names; None: one is not."""
    found, verdicts = list[pd.DataFrame](), list[Verdict]()
    for item in document["files"]:
        wrong = None
        try:
            if not is_file_beside(item, str(item["format"])):
                raise InputError("the manifest must name it with digest and size")
            data = read_bytes(folder / item["name"], item, Limits())
            found.append(from_files([data], item["format"], like=schema_of(item["types"])))
            if column_types(found[-1]) != item["types"]:
                raise InputError("the types must be those of the file's columns")
        except OSError as error:
            wrong = error_words(error)
        except InputError as error:
            wrong = str(error)
        except Exception as error:  # noqa: BLE001 - Arrow quotes what it could not read
            wrong = f"it cannot be read as a table ({type(error).__name__})"
        verdicts.append(_verdict_on("file", wrong))
    refused = [one for one in verdicts if one.status is Status.REFUSED]
    return (None, refused[:1]) if refused else (found, verdicts[:1])


def _report_file(
    folder: Path, document: Mapping[str, Any], policy: DeclaredRelease | None, tables: Tables
) -> Verdict:
    """Compare the report with its digest, and with the one that manifest, policy and file make."""
    item: Any = document.get("report")
    if not is_page(item):
        return _verdict_on("report", "the manifest must name it with digest and size")
    try:
        data = read_bytes(folder / item["name"], item, Limits(file_bytes=REPORT_BYTES))
    except OSError as error:
        return _verdict_on("report", error_words(error))
    except InputError as error:
        return _verdict_on("report", str(error))
    if policy is None or tables is None:
        return _unmeasured_verdict("report", "needs policy and file")
    bare = {key: one for key, one in document.items() if key not in ("report", "policy", "signature")}
    try:
        same = declared_report(policy, bare, tables) == data
    except Exception:  # noqa: BLE001 - a manifest that was written by hand may hold anything
        same = False
    if same:
        return _verdict_on("report", None)
    now = recorded_packages()["anon-pipeline"] == document["packages"]["anon-pipeline"]
    wrong = "it must be what manifest, policy and files lead to"
    return _verdict_on("report", wrong) if now else _unmeasured_verdict("report", _WORDS)


def _strangers(folder: Path, document: Mapping[str, Any]) -> Verdict:
    """Refuse files next to a manifest that no release has written there."""
    most = Limits().file_bytes
    try:
        found = count_stray_files(folder, document, most=most, divides=lambda name: False).strangers
    except OSError as error:
        return _unmeasured_verdict("folder", error_words(error))
    wrong = f"the folder must hold only files that the manifest names, got {found} others"
    return _verdict_on("folder", wrong if found else None)


def _contents(document: Mapping[str, Any], tables: Tables) -> Iterator[Verdict]:
    """Compare the tables with the manifest: their digest, their records."""
    if tables is None:
        yield _unmeasured_verdict("data_digest", "needs the files that the manifest names")
        return
    same = digest_of_tables(tables) == document["data_digest"]
    yield _verdict_on("data_digest", None if same else "the content has another digest than the manifest's")
    said = [item["records"] for item in document["files"]]
    yield _verdict_on("records", None if said == list(map(len, tables)) else "must be those of the files")


def _statements(
    document: Mapping[str, Any], policy: DeclaredRelease | None, tables: Tables
) -> Iterator[Verdict]:
    """Compare what the manifest states with what policy and files lead to, and let the gate judge them."""
    if policy is None:
        yield _unmeasured_verdict("statements", "needs the policy")
        return
    parts, said = parts_of(policy.kind), document.get("epsilon")
    equal = not isinstance(said, bool) and said == (float(parts.epsilon(policy)) or None)
    yield _verdict_on("epsilon", None if equal else "must be the policy's")
    same = document["guarantee"] == parts.guarantee(policy)
    yield _verdict_on("guarantee", None if same else "must be what the policy leads to")
    if tables is None:
        return
    verdicts = parts.judges(policy, Release(tables, document["records"]))
    yield _recorded_gate(document, verdicts)
    for verdict in verdicts:
        yield replace(verdict, limit=f"gate.{verdict.limit}")


def _recorded_gate(document: Mapping[str, Any], verdicts: Sequence[Verdict]) -> Verdict:
    """Compare the recorded verdicts with those of now: names, bounds, and what the files alone show."""
    wrong = "the recorded verdicts must be those of policy and files"
    try:
        found = GateReport.from_json(document["gate"])
    except (LookupError, TypeError, ValueError):
        return _verdict_on("recorded gate", wrong)
    digests = (document["data_digest"], document["policy_digest"])
    same = found.passed and document["gate"].get("passed") is True
    same &= (found.data_digest, found.policy_digest) == digests
    same &= [one.limit for one in found.verdicts] == [one.limit for one in verdicts]
    same &= [one.to_json() for one in found.verdicts] == document["gate"]["verdicts"]
    if not same or not all(one.is_readable for one in found.verdicts):
        return _verdict_on("recorded gate", wrong)
    for one, other in zip(found.verdicts, verdicts, strict=True):
        same &= (one.bound, one.sense, one.reason, one.band) == (other.bound, other.sense, None, None)
        if other.status is Status.UNMEASURED:
            same &= one.value is None
            continue
        same &= one.status is other.status and (one.value is None) is (other.value is None)
        same &= _close(one.value, other.value)
    return _verdict_on("recorded gate", None if same else wrong)


def _close(one: float | None, other: float | None) -> bool:
    """Tell whether two measures are equal but for rounding."""
    try:
        return math.isclose(one or 0.0, other or 0.0, rel_tol=1e-9)
    except OverflowError:  # a whole number with hundreds of digits
        return False
