"""Verifying a release that lies somewhere: is it still what its manifest says, and who signed it.

What is read is bounded: the manifest by `MANIFEST_BYTES`, the file by the limits of the policy's source, else
by their defaults. The file is read once; everything is said of those bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import AnonPipelineError, InputError
from anon_pipeline.facts.origin import hierarchy_digests
from anon_pipeline.gate import GateReport, Status, Verdict, evaluate
from anon_pipeline.limits.structure import CONTRACT
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.extensions import absent, broken_plugins
from anon_pipeline.publish.file_formats import read_release
from anon_pipeline.publish.held import Read, held_file, limits_of, manifest_of, readings
from anon_pipeline.publish.manifest import MANIFEST
from anon_pipeline.publish.outdated import LOOKED_FOR, Warned, warned
from anon_pipeline.publish.recorded import (
    broken_facts,
    broken_gate,
    broken_seen_facts,
    broken_share,
    broken_statements,
)
from anon_pipeline.publish.signing import broken_signature
from anon_pipeline.publish.unverified import Asked, Unverified, unverified
from anon_pipeline.publish.verify_files import (
    FOLDER,
    judged_content,
    judged_file,
    judged_folder,
    judged_page,
    listed,
    misshapen,
    part_of,
    said,
    unsaid,
)
from anon_pipeline.publish.version_1 import RULES_1
from anon_pipeline.publish.versions import RULES_2, Rules
from anon_pipeline.sources.population import read_population

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
    content = tuple(judged_content(read, against.policy))
    same = all(verdict.status is Status.PASSED for verdict in content)
    verdicts = (
        *_signature(read, against.key),
        *judged_file(read, shape, same=same),
        judged_page(manifest.parent, read.document, shape),
        judged_folder(manifest.parent, read, against.policy),
        *content,
        _recorded_gate(read, against.policy, anew, shape, rules),
        *_policy(read, against, rules),
        *_plugins(read, against.policy, shape),
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


def _signature(read: Read, key: Ed25519PublicKey | None) -> Iterator[Verdict]:
    if key is not None:
        yield said("signature", broken_signature(read.document, key))
    elif "signature" in read.document:
        yield unsaid("signature", "needs --public-key")
    else:
        yield unsaid("signature", "the manifest is not signed")


def _recorded_gate(
    read: Read, policy: Policy | None, anew: GateReport | None, shape: list[str], rules: Rules
) -> Verdict:
    wrong = misshapen(shape, "gate") or broken_gate(read.document, policy, anew, rules=rules)
    if not wrong and rules.worded(read.document) and not misshapen(shape, "facts"):
        wrong = broken_share(read.document)
    return listed("recorded gate", wrong)


def _policy(read: Read, against: Against, rules: Rules) -> Iterator[Verdict]:
    """Compare the policy and its hierarchy tables with the digests in the manifest."""
    policy = against.policy
    if policy is None:
        yield unsaid("policy_digest", "needs --policy")
        yield unsaid("hierarchies", "needs --policy")
        return
    same = rules.digest(policy) == read.document["policy_digest"] and policy.name == read.document["release"]
    yield said("policy_digest", None if same else "made by another policy than this one")
    try:
        found = hierarchy_digests(policy, against.hierarchies)
    except AnonPipelineError as error:
        yield unsaid("hierarchies", str(error))
        return
    same = found == read.document.get("hierarchies")
    yield said("hierarchies", None if same else "the hierarchy tables are others than the manifest's")


def _plugins(read: Read, policy: Policy | None, shape: list[str]) -> Iterator[Verdict]:
    """Refuse what plugins made that are not loaded here in the same version, since it cannot be checked."""
    wrong = misshapen(shape, "plugins") or broken_plugins(read.document, policy)
    if wrong or "plugins" in read.document:
        yield listed("plugins", wrong)


def _facts(
    read: Read, against: Against, frame: pd.DataFrame | None, shape: list[str], rules: Rules
) -> Verdict:
    """Compare the facts of all stages with the policy that must have made them, and with the file."""
    wrong = misshapen(shape, "facts")
    if wrong or misshapen(shape, "files", "hierarchies"):
        return listed("facts", wrong)
    policy, facts = against.policy, read.document["facts"]
    problems = broken_facts(read.document, policy, rules=rules)
    if policy is not None:
        with suppress(AnonPipelineError):  # hierarchy tables that cannot be read are said there
            problems += rules.origin(policy, facts, against.hierarchies)
        if frame is not None and not problems:
            folder = against.hierarchies
            problems += broken_seen_facts(read.document, policy, frame, rules=rules, hierarchies=folder)
    return listed("facts", problems)


_PARTS = ("files", "report", "gate", "facts", "plugins")  # of a manifest, with verdicts of their own


def _statements(read: Read, policy: Policy | None, shape: list[str], rules: Rules) -> Iterator[Verdict]:
    """Compare what else the manifest states with what the policy leads to."""
    wrong = misshapen(shape, *(part for place in shape if (part := part_of(place)) not in _PARTS))
    if wrong:
        yield listed("statements", wrong)
        return
    if policy is None:
        yield unsaid("statements", "ε, guarantee, partition: needs --policy")
        return
    yield listed("statements", broken_statements(read.document, policy, rules=rules))
    if not rules.worded(read.document):
        yield unsaid("guarantee", "another version of anon-pipeline has worded it")


def _gate(
    read: Read, against: Against, rules: Rules
) -> tuple[list[Verdict], GateReport | None, pd.DataFrame | None]:
    """Let the gate judge the file by the policy's limits; what needs the originals stays unmeasured."""
    policy = against.policy
    if policy is None or read.held is None:
        why = "needs --policy" if policy is None else "needs the file that the manifest names"
        return [unsaid("gate", why)], None, None
    try:
        frame = read_release(read.held, policy)
    except AnonPipelineError as error:
        return [said("gate", str(error))], None, None
    population = None
    with suppress(AnonPipelineError):  # whoever verifies may not have it: unmeasured then
        population = read_population(policy, folder=against.sources)
    report = evaluate(frame, policy, hierarchies=against.hierarchies, population=population)
    unknown = {kind for plugin in absent(read.document).values() for kind in plugin.kinds}
    verdicts = (
        unsaid(verdict.limit, "made with another version of its plugin")
        if f"limits.{verdict.limit.partition('.')[0]}" in unknown
        else _then(verdict, frame, rules)
        for verdict in report.verdicts
    )
    then = replace(report, verdicts=tuple(verdicts))
    return [replace(verdict, limit=f"gate.{verdict.limit}") for verdict in then.verdicts], then, frame


def _then(verdict: Verdict, frame: pd.DataFrame, rules: Rules) -> Verdict:
    """Return the verdict on the contract that the version's own rules give; of others, the same."""
    lines = (verdict.reason or "").split("; ")
    if verdict.limit != CONTRACT.name or verdict.status is not Status.REFUSED:
        return verdict
    if any(rules.asked(frame, line) for line in lines):
        return verdict
    return Verdict(CONTRACT.name, Status.PASSED, reason=f"{LATER}: {verdict.reason}")
