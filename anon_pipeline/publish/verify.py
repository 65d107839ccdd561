"""Verifying a release that lies somewhere: is it still what its manifest says, and who signed it.

What is read is bounded: the manifest by `MANIFEST_BYTES`, the file by the limits of the policy's source, else
by their defaults. The file is read once; everything is said of those bytes.
Belongs here: digests, the gate's file-only part, the signature. Does not belong here: reading (`held`), the
limits themselves (`gate`), what a manifest says beside its digests (`recorded`), printing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from anon_pipeline.digest import digest_frame
from anon_pipeline.errors import AnonPipelineError, InputError, in_words
from anon_pipeline.gate import GateReport, Status, Verdict, evaluate
from anon_pipeline.limits import REPORT_BYTES
from anon_pipeline.measure.origin import broken_origin, hierarchy_digests
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.sections import Limits
from anon_pipeline.publish.held import Read, bytes_of, held_file, is_page, limits_of, manifest_of, readings
from anon_pipeline.publish.manifest import MANIFEST
from anon_pipeline.publish.recorded import broken_facts, broken_gate, broken_statements, of_this_version
from anon_pipeline.publish.signing import broken_signature
from anon_pipeline.publish.tables import read_release
from anon_pipeline.sources.population import read_population

__all__ = ["Against", "verified_table", "verify_release"]

_STAGES = ("raw", "deidentified", "k_anonymized", "perturbed", "shuffled", "suppressed")


@dataclass(frozen=True, slots=True)
class Against:
    """What a release is verified against, beside its manifest.

    policy: that it should have been made by; None: its digest is not compared, the gate is not asked.
    hierarchies: folder of the hierarchy tables.
    key: that should have signed it; None: a signature is not checked.
    sources: folder of the population's file, if the policy names one; where there is none, the limits on who
        knows the population stay unmeasured.
    """

    policy: Policy | None = None
    hierarchies: Path = Path()
    key: Ed25519PublicKey | None = None
    sources: Path = Path()


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
    read = held_file(manifest.parent, manifest_of(manifest), limits_of(against.policy))
    gate, anew = _gate(read, against)
    verdicts = (
        *_signature(read, against.key),
        *_file(read),
        _report(manifest.parent, read.document),
        *_content(read, against.policy),
        _wrong("recorded gate", broken_gate(read.document, against.policy, anew)),
        *_policy(read, against),
        *_facts(read, against),
        *_statements(read, against.policy),
        *gate,
    )
    return GateReport(verdicts, read.document["data_digest"], read.document["policy_digest"])


def verified_table(path: Path, against: Against) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the manifest and the table of a release that is what its manifest says.

    Args:
        path: folder of the release, or its manifest.
        against: with the policy that made it.
    Raises:
        InputError: there is no manifest, or a check of `verify_release` was refused: each is named.
    """
    refused = verify_release(path, against).having(Status.REFUSED)
    if refused:
        raise InputError([verdict.as_text() for verdict in refused])
    manifest = path / MANIFEST if path.is_dir() else path
    document = manifest_of(manifest)
    read = held_file(manifest.parent, document, limits_of(against.policy))
    if read.held is not None:
        for frame in readings(read, read.held, against.policy):
            if digest_frame(frame) == document["data_digest"]:
                return document, frame
    raise InputError("the release must be the one that its manifest names, it has changed meanwhile")


def _said(limit: str, wrong: str | None) -> Verdict:
    return Verdict(limit, Status.REFUSED if wrong else Status.PASSED, reason=wrong)


def _wrong(limit: str, problems: list[str]) -> Verdict:
    return _said(limit, "; ".join(problems) or None)


def _unsaid(limit: str, why: str) -> Verdict:
    return Verdict(limit, Status.UNMEASURED, reason=why)


def _signature(read: Read, key: Ed25519PublicKey | None) -> Iterator[Verdict]:
    if key is not None:
        yield _said("signature", broken_signature(read.document, key))
    elif "signature" in read.document:
        yield _unsaid("signature", "needs --public-key")
    else:
        yield _unsaid("signature", "the manifest is not signed")


def _file(read: Read) -> Iterator[Verdict]:
    files = len(read.document["files"])
    yield _said("files", None if files == 1 else f"a release has one data file, got {files}")
    yield _said(f"file.{read.item['name']}", read.wrong)


def _report(folder: Path, document: Mapping[str, Any]) -> Verdict:
    """Compare the page beside the manifest with the digest there; releases made before have none."""
    if "report" not in document:
        return _unsaid("report", "the manifest names none")
    item = document["report"]
    try:
        if not is_page(item):
            raise InputError("the manifest must name it with digest and size")
        bytes_of(folder / item["name"], item, Limits(file_bytes=REPORT_BYTES))
    except OSError as error:
        return _said("report", in_words(error))
    except InputError as error:
        return _said("report", str(error))
    return _said("report", None)


def _content(read: Read, policy: Policy | None) -> Iterator[Verdict]:
    """Compare the table's content with the manifest: its number of records, its digest."""
    name = read.item["name"]
    if read.held is None:
        yield _said("data_digest", f"{name} is not the file that the manifest names")
        return
    records, same = 0, False
    try:
        for frame in readings(read, read.held, policy):
            records = len(frame)
            if same := digest_frame(frame) == read.document["data_digest"]:
                break
    except InputError as error:
        yield _said("data_digest", str(error))
        return
    except Exception as error:  # noqa: BLE001 - Arrow quotes what it could not read
        yield _said("data_digest", f"{name} cannot be read as a table ({type(error).__name__})")
        return
    expected = read.item["records"]
    yield _said("records", None if records == expected else f"must be {expected}, got {records}")
    if not same and name.endswith(".csv") and policy is None and "types" not in read.item:
        yield _unsaid("data_digest", "a CSV does not say its columns' types, and neither does the manifest")
    else:
        said = f"the content of {name} has another digest than the manifest's"
        yield _said("data_digest", None if same else said)


def _policy(read: Read, against: Against) -> Iterator[Verdict]:
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


def _facts(read: Read, against: Against) -> Iterator[Verdict]:
    """Compare the facts of all stages with the policy that must have made them, and with the file."""
    facts, policy = read.document.get("facts"), against.policy
    if not isinstance(facts, dict) or not all(isinstance(values, dict) for values in facts.values()):
        yield _said("facts", "they cannot be read")
        return
    missing = [stage for stage in _STAGES if stage not in facts]
    if missing:
        yield _said("facts", f"facts are missing of {', '.join(missing)}")
        return
    problems = broken_facts(read.document, policy)
    if policy is not None:
        with suppress(AnonPipelineError):  # hierarchy tables that cannot be read are said there
            problems += broken_origin(policy, facts, hierarchies=against.hierarchies)
    yield _wrong("facts", problems)


def _statements(read: Read, policy: Policy | None) -> Iterator[Verdict]:
    """Compare what else the manifest states with what the policy leads to."""
    if policy is None:
        yield _unsaid("statements", "ε, guarantee, partition: needs --policy")
        return
    yield _wrong("statements", broken_statements(read.document, policy))
    if not of_this_version(read.document):
        yield _unsaid("guarantee", "another version of anon-pipeline has worded it")


def _gate(read: Read, against: Against) -> tuple[list[Verdict], GateReport | None]:
    """Let the gate judge the file by the policy's limits; what needs the originals stays unmeasured."""
    policy = against.policy
    if policy is None or read.held is None:
        why = "needs --policy" if policy is None else "needs the file that the manifest names"
        return [_unsaid("gate", why)], None
    try:
        frame = read_release(read.held, policy)
    except AnonPipelineError as error:
        return [_said("gate", str(error))], None
    population = None
    with suppress(AnonPipelineError):  # whoever verifies may not have it: unmeasured then
        population = read_population(policy, folder=against.sources)
    report = evaluate(frame, policy, hierarchies=against.hierarchies, population=population)
    return [replace(verdict, limit=f"gate.{verdict.limit}") for verdict in report.verdicts], report
