"""Verifying a release that lies somewhere: is it still what its manifest says, and who signed it.

What is read is bounded: the manifest by `MANIFEST_BYTES`, the file by the limits of the policy's source, else
by their defaults. The file is read once; everything is said of those bytes.
Belongs here: digests, the gate's file-only part, the signature. Does not belong here: the limits themselves
(`gate`), what a manifest says beside its digests (`recorded`), printing.
"""

from __future__ import annotations

import hashlib
import json
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
from anon_pipeline.limits import MANIFEST_BYTES, REPORT_BYTES, Held, exceeded, file_size, read_small
from anon_pipeline.measure.origin import broken_origin, hierarchy_digests
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.names import plain
from anon_pipeline.policy.sections import Limits, SourceOptions
from anon_pipeline.publish.manifest import MANIFEST
from anon_pipeline.publish.recorded import broken_facts, broken_gate, broken_statements, of_this_version
from anon_pipeline.publish.signing import broken_signature
from anon_pipeline.publish.tables import from_bytes, read_release, schema_of
from anon_pipeline.sources.files import read_csv, read_parquet
from anon_pipeline.sources.population import read_population

__all__ = ["Against", "verified_table", "verify_release"]

_STAGES = ("raw", "deidentified", "k_anonymized", "perturbed", "shuffled", "suppressed")
_TEXTS = ("release", "policy_digest", "data_digest")


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


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """A manifest, the folder it is in, and its data file's bytes if they are the ones that it names.

    item: what the manifest says of the data file.
    wrong: why there are no bytes.
    """

    document: Mapping[str, Any]
    item: Mapping[str, Any]
    held: Held | None
    wrong: str | None = None


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
    read = _held(manifest.parent, _document(manifest), _limits(against.policy))
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
    document = _document(manifest)
    read = _held(manifest.parent, document, _limits(against.policy))
    if read.held is not None:
        for frame in _readings(read, read.held, against.policy):
            if digest_frame(frame) == document["data_digest"]:
                return document, frame
    raise InputError("the release must be the one that its manifest names, it has changed meanwhile")


def _limits(policy: Policy | None) -> Limits:
    return Limits() if policy is None else policy.source.limits


def _document(path: Path) -> dict[str, Any]:
    try:
        data = read_small(path, MANIFEST_BYTES)
        if data is None:
            raise InputError(
                f"{path.name}: must be a manifest of anon-pipeline, got a file too large for one"
            )
        text = data.decode("utf-8")
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
    name, types = item["name"], item.get("types", {})
    named = isinstance(name, str) and Path(name).name == name and "\\" not in name and plain(name)
    typed = isinstance(types, dict) and all(isinstance(text, str) for text in types.values())
    sized = type(item["size"]) is type(item["records"]) is int
    return named and typed and sized and isinstance(item["sha256"], str)


def _said(limit: str, wrong: str | None) -> Verdict:
    return Verdict(limit, Status.REFUSED if wrong else Status.PASSED, reason=wrong)


def _wrong(limit: str, problems: list[str]) -> Verdict:
    return _said(limit, "; ".join(problems) or None)


def _unsaid(limit: str, why: str) -> Verdict:
    return Verdict(limit, Status.UNMEASURED, reason=why)


def _signature(read: _Read, key: Ed25519PublicKey | None) -> Iterator[Verdict]:
    if key is not None:
        yield _said("signature", broken_signature(read.document, key))
    elif "signature" in read.document:
        yield _unsaid("signature", "needs --public-key")
    else:
        yield _unsaid("signature", "the manifest is not signed")


def _held(folder: Path, document: Mapping[str, Any], limits: Limits) -> _Read:
    """Read the data file, no more than the limits allow, and keep its bytes if they are the manifest's."""
    item = document["files"][0]
    try:
        data = _bytes(folder / item["name"], item, limits)
    except OSError as error:
        return _Read(document, item, None, in_words(error))
    except InputError as error:
        return _Read(document, item, None, str(error))
    return _Read(document, item, Held(item["name"], data))


def _bytes(path: Path, item: Mapping[str, Any], limits: Limits) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise InputError("it must be a file beside the manifest")
    size = file_size(path)
    if size > limits.file_bytes:
        raise exceeded(path.name, "file_bytes", limits.file_bytes, got=size)
    data = read_small(path, size) if size == item["size"] else None
    if data is None or len(data) != size:
        raise InputError(f"its size must be {item['size']} bytes, got {size}")
    if hashlib.sha256(data).hexdigest() != item["sha256"]:
        raise InputError("its SHA-256 is another than the manifest's")
    return data


def _file(read: _Read) -> Iterator[Verdict]:
    files = len(read.document["files"])
    yield _said("files", None if files == 1 else f"a release has one data file, got {files}")
    yield _said(f"file.{read.item['name']}", read.wrong)


def _report(folder: Path, document: Mapping[str, Any]) -> Verdict:
    """Compare the page beside the manifest with the digest there; releases made before have none."""
    if "report" not in document:
        return _unsaid("report", "the manifest names none")
    item = document["report"]
    try:
        if not _is_page(item):
            raise InputError("the manifest must name it with digest and size")
        _bytes(folder / item["name"], item, Limits(file_bytes=REPORT_BYTES))
    except OSError as error:
        return _said("report", in_words(error))
    except InputError as error:
        return _said("report", str(error))
    return _said("report", None)


def _is_page(item: Any) -> bool:
    """Tell whether this describes a report."""
    if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in ("name", "sha256")):
        return False
    name = item["name"]
    beside = Path(name).name == name and "\\" not in name and plain(name) and name.endswith(".html")
    return beside and type(item.get("size")) is int


def _content(read: _Read, policy: Policy | None) -> Iterator[Verdict]:
    """Compare the table's content with the manifest: its number of records, its digest."""
    name = read.item["name"]
    if read.held is None:
        yield _said("data_digest", f"{name} is not the file that the manifest names")
        return
    records, same = 0, False
    try:
        for frame in _readings(read, read.held, policy):
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


def _readings(read: _Read, held: Held, policy: Policy | None) -> Iterator[pd.DataFrame]:
    """Yield the table in each way in which it can be read: a CSV says neither types nor what was neutralized.

    The first reading is bounded by the limits; the others are of a file that has kept them.
    """
    limits = _limits(policy)
    if not held.name.endswith(".csv"):
        yield read_parquet(held, limits=limits)
        return
    if policy is None:
        yield read_csv(held, options=SourceOptions(), limits=limits, quoted_missing=False)
    else:
        yield read_release(held, policy)
    like = schema_of(read.item["types"]) if "types" in read.item else None
    if policy is not None:
        yield from_bytes(held.data, "csv", like=like, formulas=policy.publish.formulas)
        return
    yield from_bytes(held.data, "csv", like=like)
    with suppress(InputError):  # then they were kept
        yield from_bytes(held.data, "csv", like=like, formulas="neutralize")


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


def _facts(read: _Read, against: Against) -> Iterator[Verdict]:
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


def _statements(read: _Read, policy: Policy | None) -> Iterator[Verdict]:
    """Compare what else the manifest states with what the policy leads to."""
    if policy is None:
        yield _unsaid("statements", "ε, guarantee, partition: needs --policy")
        return
    yield _wrong("statements", broken_statements(read.document, policy))
    if not of_this_version(read.document):
        yield _unsaid("guarantee", "another version of anon-pipeline has worded it")


def _gate(read: _Read, against: Against) -> tuple[list[Verdict], GateReport | None]:
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
