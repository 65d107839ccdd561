"""Verifying a release that lies somewhere: is it still what its manifest says, and who signed it.

What is read is bounded: the manifest by `MANIFEST_BYTES`, the file by the limits of the policy's source, else
by their defaults. The file is read once; everything is said of those bytes.
Belongs here: digests, the gate's file-only part, the signature. Does not belong here: reading (`held`), the
limits themselves (`gate`), what a manifest says beside its digests (`recorded`), printing.
"""

from __future__ import annotations

import re
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
from anon_pipeline.limits import REPORT_BYTES, Held
from anon_pipeline.measure.origin import hierarchy_digests
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.sections import Limits
from anon_pipeline.publish.beside import lying_beside
from anon_pipeline.publish.held import Read, bytes_of, held_file, is_page, limits_of, manifest_of, readings
from anon_pipeline.publish.manifest import MANIFEST
from anon_pipeline.publish.outdated import LOOKED_FOR, Warned, warned
from anon_pipeline.publish.recorded import (
    broken_facts,
    broken_gate,
    broken_names,
    broken_seen_facts,
    broken_share,
    broken_statements,
)
from anon_pipeline.publish.rules import RULES_2, Rules
from anon_pipeline.publish.signing import broken_signature
from anon_pipeline.publish.tables import column_types, file_types, from_bytes, read_release, schema_of
from anon_pipeline.publish.unverified import Asked, Unverified, unverified
from anon_pipeline.publish.version_1 import RULES_1
from anon_pipeline.sources.population import read_population

__all__ = ["Against", "Verification", "verification", "verified_table", "verify_release"]


FOLDER = "folder"
"""Names the verdict on what lies beside a manifest."""
LATER = "kept by the rules of its version; later ones refuse"
"""Begins the reason of a contract that only rules of later versions break."""


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


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found of a release.

    report: a verdict per check; what could not be verified is unmeasured and says why.
    unverified: leaves of the manifest that nothing vouches for; none where its signature was verified. Of a
        release that is refused there is no list.
    warnings: what its manifest told too much, if it is of a version that did.
    """

    report: GateReport
    unverified: tuple[Unverified, ...]
    warnings: tuple[Warned, ...]


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
    return verification(path, against).report


def verification(path: Path, against: Against) -> Verification:
    """Verify a release as `verify_release` does; list what was not, and warn of what it tells too much.

    Args:
        path: folder of the release, or its manifest.
        against: policy and key, where there are any.
    Raises:
        InputError: there is no manifest, or none of ours.
    """
    manifest = path / MANIFEST if path.is_dir() else path
    read = held_file(manifest.parent, manifest_of(manifest), limits_of(against.policy))
    rules = RULES_1 if read.document["manifest_version"] == 1 else RULES_2
    shape = rules.shape(read.document)
    gate, anew, frame = _gate(read, against, rules)
    content = tuple(_content(read, against.policy))
    same = all(verdict.status is Status.PASSED for verdict in content)
    verdicts = (
        *_signature(read, against.key),
        *_file(read, shape, same=same),
        _report(manifest.parent, read.document, shape),
        _beside(manifest.parent, read, against),
        *content,
        _recorded_gate(read, against.policy, anew, shape, rules),
        *_policy(read, against, rules),
        _facts(read, against, frame, shape, rules),
        *_statements(read, against.policy, shape, rules),
        *gate,
    )
    report = GateReport(verdicts, read.document["data_digest"], read.document["policy_digest"])
    left: tuple[Unverified, ...] = ()
    if against.key is None and not report.having(Status.REFUSED):
        left = tuple(unverified(read.document, _asked(read, against, report, anew, rules)))
    later = any(verdict.reason and verdict.reason.startswith(LATER) for verdict in gate)
    return Verification(report, left, (*warned(read.document), *([LOOKED_FOR] if later else [])))


def _asked(read: Read, against: Against, report: GateReport, anew: GateReport | None, rules: Rules) -> Asked:
    """Say what a release was held against, for the list of what it was not."""
    policy = against.policy
    by_name = {verdict.limit: verdict.status for verdict in report.verdicts}
    worded = rules.worded(read.document)
    return Asked(
        policy,
        anew,
        decided=() if policy is None or not worded else tuple(rules.decided(policy)),
        tables=by_name.get("hierarchies") is Status.PASSED,
        worded=worded,
        typed=read.held is not None,
    )


def verified_table(path: Path, against: Against) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the manifest and the table of a release that is what its manifest says, whatever lies beside it.

    Args:
        path: folder of the release, or its manifest.
        against: with the policy that made it.
    Raises:
        InputError: there is no manifest, or a check of `verify_release` was refused: each is named.
    """
    refused = [v for v in verify_release(path, against).having(Status.REFUSED) if v.limit != FOLDER]
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


def _file(read: Read, shape: list[str], *, same: bool) -> Iterator[Verdict]:
    """Compare the data file with what the manifest says of it: bytes, name, types of its columns.

    The types are compared once the content was read, within the limits, and is the manifest's.
    """
    files = len(read.document["files"])
    problems = [f"a release has one data file, got {files}"] if files != 1 else []
    problems += _misshapen(shape, "files")
    if not problems and not _misshapen(shape, "release", "report"):
        problems += broken_names(read.document)
    if not problems and same and read.held is not None and not _same_types(read, read.held):
        problems.append("the types must be those of the file's columns")
    yield _wrong("files", problems)
    yield _said(f"file.{read.item['name']}", read.wrong)


def _same_types(read: Read, held: Held) -> bool:
    """Tell whether the types that a manifest names, if it does, are the file's.

    Parquet says its own; a CSV must have the manifest's content when it is read with them, and then these
    types.
    """
    types = read.item.get("types")
    if types is None:
        return True
    try:
        if not held.name.endswith(".csv"):
            return list(file_types(held.data).items()) == list(types.items())
        found = list(_typed(held.data, types))
    except Exception:  # noqa: BLE001 - Arrow quotes what it could not read
        return False
    wanted = (read.document["data_digest"], list(types.items()))
    return any((digest_frame(frame), list(column_types(frame).items())) == wanted for frame in found)


def _typed(data: bytes, types: Mapping[str, str]) -> Iterator[pd.DataFrame]:
    """Yield a CSV, read with types, in each way in which it may say its formulas."""
    like = schema_of(types)
    yield from_bytes(data, "csv", like=like)
    with suppress(InputError):  # then they were kept
        yield from_bytes(data, "csv", like=like, formulas="neutralize")


def _report(folder: Path, document: Mapping[str, Any], shape: list[str]) -> Verdict:
    """Compare the page beside the manifest with the digest there; releases made before 0.1.0 have none."""
    if "report" not in document and not _misshapen(shape, "report"):
        return _unsaid("report", "the manifest names none")
    item = document.get("report", {})
    try:
        if _misshapen(shape, "report") or not is_page(item):
            raise InputError("the manifest must name it with digest and size")
        bytes_of(folder / item["name"], item, Limits(file_bytes=REPORT_BYTES))
    except OSError as error:
        return _said("report", in_words(error))
    except InputError as error:
        return _said("report", str(error))
    return _said("report", None)


def _beside(folder: Path, read: Read, against: Against) -> Verdict:
    """Refuse files beside the manifest that no release has written there."""
    try:
        found = lying_beside(folder, read.document, most=limits_of(against.policy).file_bytes)
    except OSError as error:
        return _unsaid(FOLDER, in_words(error))
    if found.strangers:
        said = f"files that the manifest does not name must not lie beside it, got {found.strangers}"
        return _said(FOLDER, said)
    former = f"files of releases before, of which it says nothing: {found.former}" if found.former else None
    return Verdict(FOLDER, Status.PASSED, reason=former)


def _misshapen(shape: list[str], *parts: str) -> list[str]:
    """Say which places of some parts of the manifest are not as its version writes them."""
    wrong = [place for place in shape if _part(place) in parts]
    return [f"not as its version writes it: {', '.join(dict.fromkeys(wrong))}"] if wrong else []


def _part(place: str) -> str:
    """Return the top-level key that a place is below."""
    return re.split(r"[.:\[]", place, maxsplit=1)[0]


def _recorded_gate(
    read: Read, policy: Policy | None, anew: GateReport | None, shape: list[str], rules: Rules
) -> Verdict:
    wrong = _misshapen(shape, "gate") or broken_gate(read.document, policy, anew, rules=rules)
    if not wrong and rules.worded(read.document) and not _misshapen(shape, "facts"):
        wrong = broken_share(read.document)
    return _wrong("recorded gate", wrong)


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


def _policy(read: Read, against: Against, rules: Rules) -> Iterator[Verdict]:
    """Compare the policy and its hierarchy tables with the digests in the manifest."""
    policy = against.policy
    if policy is None:
        yield _unsaid("policy_digest", "needs --policy")
        yield _unsaid("hierarchies", "needs --policy")
        return
    same = rules.digest(policy) == read.document["policy_digest"] and policy.name == read.document["release"]
    yield _said("policy_digest", None if same else "made by another policy than this one")
    try:
        found = hierarchy_digests(policy, against.hierarchies)
    except AnonPipelineError as error:
        yield _unsaid("hierarchies", str(error))
        return
    same = found == read.document.get("hierarchies")
    yield _said("hierarchies", None if same else "the hierarchy tables are others than the manifest's")


def _facts(
    read: Read, against: Against, frame: pd.DataFrame | None, shape: list[str], rules: Rules
) -> Verdict:
    """Compare the facts of all stages with the policy that must have made them, and with the file."""
    misshapen = _misshapen(shape, "facts")
    if misshapen or _misshapen(shape, "files", "hierarchies"):
        return _wrong("facts", misshapen)
    policy, facts = against.policy, read.document["facts"]
    problems = broken_facts(read.document, policy, rules=rules)
    if policy is not None:
        with suppress(AnonPipelineError):  # hierarchy tables that cannot be read are said there
            problems += rules.origin(policy, facts, against.hierarchies)
        if frame is not None and not problems:
            folder = against.hierarchies
            problems += broken_seen_facts(read.document, policy, frame, rules=rules, hierarchies=folder)
    return _wrong("facts", problems)


_PARTS = ("files", "report", "gate", "facts")  # of a manifest, with verdicts of their own


def _statements(read: Read, policy: Policy | None, shape: list[str], rules: Rules) -> Iterator[Verdict]:
    """Compare what else the manifest states with what the policy leads to."""
    misshapen = _misshapen(shape, *(part for place in shape if (part := _part(place)) not in _PARTS))
    if misshapen:
        yield _wrong("statements", misshapen)
        return
    if policy is None:
        yield _unsaid("statements", "ε, guarantee, partition: needs --policy")
        return
    yield _wrong("statements", broken_statements(read.document, policy, rules=rules))
    if not rules.worded(read.document):
        yield _unsaid("guarantee", "another version of anon-pipeline has worded it")


def _gate(
    read: Read, against: Against, rules: Rules
) -> tuple[list[Verdict], GateReport | None, pd.DataFrame | None]:
    """Let the gate judge the file by the policy's limits; what needs the originals stays unmeasured."""
    policy = against.policy
    if policy is None or read.held is None:
        why = "needs --policy" if policy is None else "needs the file that the manifest names"
        return [_unsaid("gate", why)], None, None
    try:
        frame = read_release(read.held, policy)
    except AnonPipelineError as error:
        return [_said("gate", str(error))], None, None
    population = None
    with suppress(AnonPipelineError):  # whoever verifies may not have it: unmeasured then
        population = read_population(policy, folder=against.sources)
    report = evaluate(frame, policy, hierarchies=against.hierarchies, population=population)
    then = replace(report, verdicts=tuple(_then(verdict, frame, rules) for verdict in report.verdicts))
    return [replace(verdict, limit=f"gate.{verdict.limit}") for verdict in then.verdicts], then, frame


def _then(verdict: Verdict, frame: pd.DataFrame, rules: Rules) -> Verdict:
    """Return the verdict on the contract that the version's own rules give; of others, the same."""
    lines = (verdict.reason or "").split("; ")
    if verdict.limit != "contract" or verdict.status is not Status.REFUSED:
        return verdict
    if any(rules.asked(frame, line) for line in lines):
        return verdict
    return Verdict("contract", Status.PASSED, reason=f"{LATER}: {verdict.reason}")
