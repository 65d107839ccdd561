"""Verifying an ε-DP release: everything that is published of it can be computed again from its files.

Nothing is left that only the originals could confirm, but that the noise was drawn as the policy says.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.size_bounds import MANIFEST_BYTES, REPORT_BYTES
from anon_pipeline.epsilon_dp.dp_gate import judge_release
from anon_pipeline.epsilon_dp.dp_guarantee import dp_guarantee
from anon_pipeline.epsilon_dp.dp_manifest import dp_policy_bytes, public_dp_policy, read_dp_manifest
from anon_pipeline.epsilon_dp.dp_report import dp_report
from anon_pipeline.limits.verdicts import GateReport, Status, Verdict
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.files import Limits
from anon_pipeline.publish.file_formats import from_files, schema_of
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.manifest.signatures import broken_signature
from anon_pipeline.publish.release_files import is_file_beside, is_page, read_bytes
from anon_pipeline.publish.verify.stray_files import count_stray_files

_WORDS = "another version of anon-pipeline has worded it"


def verify_dp_release(
    path: Path, *, policy: EpsilonDpPolicy | None = None, key: Ed25519PublicKey | None = None
) -> GateReport:
    """Recompute every digest, statement and verdict of an ε-DP release from its files.

    Args:
        path: folder of the release, or its manifest.
        policy: that made it; None: the public policy beside the release is taken.
        key: that must have signed it; None: a signature is not looked at.
    Returns:
        A verdict for each check; what could not be verified is unmeasured and says why.
    Raises:
        InputError: there is no manifest of an ε-DP release.
    """
    manifest = path / MANIFEST if path.is_dir() else path
    document = read_dp_manifest(manifest)
    if document is None:
        raise InputError(f"{manifest.name}: must be the manifest of an ε-DP release")
    folder = manifest.parent
    beside, public = _policy_beside(folder, document, policy)
    used = policy or public
    frame, files = _table(folder, document)
    verdicts = (
        _signature(document, key),
        *files,
        beside,
        _report_file(folder, document, used, frame),
        _strangers(folder, document),
        *_contents(document, frame),
        *_statements(document, used, frame),
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
    folder: Path, document: Mapping[str, Any], policy: EpsilonDpPolicy | None
) -> tuple[Verdict, EpsilonDpPolicy | None]:
    """Read the public policy, and compare it with the manifest and with the policy that is given."""
    item: Any = document.get("policy")
    if not is_file_beside(item, "json"):
        return _verdict_on("policy", "the manifest must name it with digest and size"), None
    try:
        data = read_bytes(folder / item["name"], item, Limits(file_bytes=MANIFEST_BYTES))
        public, digest = public_dp_policy(data)
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
    same = policy.digest == digest and json.loads(dp_policy_bytes(policy)) == json.loads(data)
    return _verdict_on("policy", None if same else "the policy that made it must be the one given"), public


def _table(folder: Path, document: Mapping[str, Any]) -> tuple[pd.DataFrame | None, list[Verdict]]:
    """Read the data file, if it is the one that the manifest names."""
    (item,) = document["files"]
    try:
        if not is_file_beside(item, str(item["format"])):
            raise InputError("the manifest must name it with digest and size")
        data = read_bytes(folder / item["name"], item, Limits())
        frame = from_files([data], item["format"], like=schema_of(item["types"]))
    except OSError as error:
        return None, [_verdict_on("file", error_words(error))]
    except InputError as error:
        return None, [_verdict_on("file", str(error))]
    except Exception as error:  # noqa: BLE001 - Arrow quotes what it could not read
        return None, [_verdict_on("file", f"it cannot be read as a table ({type(error).__name__})")]
    return frame, [_verdict_on("file", None)]


def _report_file(
    folder: Path, document: Mapping[str, Any], policy: EpsilonDpPolicy | None, frame: pd.DataFrame | None
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
    if policy is None or frame is None:
        return _unmeasured_verdict("report", "needs policy and file")
    bare = {key: one for key, one in document.items() if key not in ("report", "policy", "signature")}
    try:
        same = dp_report(policy, bare, frame) == data
    except Exception:  # noqa: BLE001 - a manifest that was written by hand may hold anything
        same = False
    return _verdict_on("report", None) if same else _unmeasured_verdict("report", _WORDS)


def _strangers(folder: Path, document: Mapping[str, Any]) -> Verdict:
    """Refuse files next to a manifest that no release has written there."""
    most = Limits().file_bytes
    try:
        found = count_stray_files(folder, document, most=most, divides=lambda name: False).strangers
    except OSError as error:
        return _unmeasured_verdict("folder", error_words(error))
    wrong = f"the folder must hold only files that the manifest names, got {found} others"
    return _verdict_on("folder", wrong if found else None)


def _contents(document: Mapping[str, Any], frame: pd.DataFrame | None) -> Iterator[Verdict]:
    """Compare the table with the manifest: its digest, its records."""
    if frame is None:
        yield _unmeasured_verdict("data_digest", "needs the file that the manifest names")
        return
    same = digest_frame(frame) == document["data_digest"]
    yield _verdict_on("data_digest", None if same else "the content has another digest than the manifest's")
    wanted = {document["records"], document["files"][0]["records"]}
    yield _verdict_on(
        "records", None if wanted == {len(frame)} else f"must be as in the file, {len(frame):,}"
    )


def _statements(
    document: Mapping[str, Any], policy: EpsilonDpPolicy | None, frame: pd.DataFrame | None
) -> Iterator[Verdict]:
    """Compare what the manifest states with what policy and file lead to, and let the gate judge the file."""
    if policy is None:
        yield _unmeasured_verdict("statements", "needs the policy")
        return
    said = document.get("epsilon")
    equal = not isinstance(said, bool) and said == policy.epsilon
    yield _verdict_on("epsilon", None if equal else "must be the policy's")
    same = document["guarantee"] == dp_guarantee(policy)
    yield (
        _verdict_on("guarantee", None)
        if same
        else _verdict_on("guarantee", "must be what the policy leads to")
    )
    if frame is None:
        return
    report = judge_release(policy, frame, document["records"])
    yield _recorded_gate(document, report)
    for verdict in report.verdicts:
        if verdict.limit == "noise":
            yield _unmeasured_verdict("gate.noise", "nobody can see in a file how its noise was drawn")
        else:
            yield Verdict(
                f"gate.{verdict.limit}",
                verdict.status,
                verdict.value,
                verdict.bound,
                verdict.sense,
                verdict.reason,
                recomputable=verdict.recomputable,
            )


def _recorded_gate(document: Mapping[str, Any], report: GateReport) -> Verdict:
    """Compare the recorded verdicts with those of now: names, statuses, bounds, values."""
    wrong = "the recorded verdicts must be those of policy and file"
    try:
        found = GateReport.from_json(document["gate"])
    except (LookupError, TypeError, ValueError):
        return _verdict_on("recorded gate", wrong)
    same = len(found.verdicts) == len(report.verdicts) and found.passed is document["gate"].get("passed")
    if not same or not all(one.is_readable for one in found.verdicts):
        return _verdict_on("recorded gate", wrong)
    for one, other in zip(found.verdicts, report.verdicts, strict=True):
        told = (one.limit, one.status, one.bound, one.sense, one.reason)
        same &= told == (other.limit, other.status, other.bound, other.sense, other.reason)
        same &= (one.value is None) is (other.value is None)
        same &= math.isclose(one.value or 0.0, other.value or 0.0, rel_tol=1e-9)
    return _verdict_on("recorded gate", None if same and found.passed else wrong)
