"""Verifying a release that lies somewhere: is it still what its manifest says, and who signed it.

What is read is bounded: the manifest by `MANIFEST_BYTES`, the file by the limits of the policy's source, else
by their defaults. The file is read once; everything is said of those bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import AnonPipelineError, InputError
from anon_pipeline.base.packed_tables import Table, pack_large
from anon_pipeline.gate import GateReport, Status, Verdict, evaluate
from anon_pipeline.limits.table import limit_of
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.public import PublicPolicy
from anon_pipeline.publish.file_formats import read_release
from anon_pipeline.publish.manifest.acknowledgement_dates import broken_acknowledgements
from anon_pipeline.publish.manifest.extensions import absent, broken_plugins
from anon_pipeline.publish.manifest.manifest import BESIDE, MANIFEST
from anon_pipeline.publish.manifest.signatures import broken_signature
from anon_pipeline.publish.release_files import Read, limits_of, manifest_of, read_data_files, readings
from anon_pipeline.publish.verify.manifest_facts import (
    broken_facts,
    broken_gate,
    broken_seen_facts,
    broken_share,
    broken_statements,
)
from anon_pipeline.publish.verify.old_warnings import LOOKED_FOR, Warned, warnings_for
from anon_pipeline.publish.verify.public_verdicts import evaluate_in_part
from anon_pipeline.publish.verify.unverifiable_leaves import Asked, Unverified, list_unverified
from anon_pipeline.publish.verify.verify_files import (
    FOLDER,
    check_content,
    check_files,
    check_folder,
    check_report_file,
    malformed_parts,
    top_level_key,
    unmeasured_verdict,
    verdict_on,
    verdict_on_list,
)
from anon_pipeline.publish.verify.verify_policy import Against, check_policy, chosen_policy, whole_policy
from anon_pipeline.publish.verify.versions import RULES_2, Rules
from anon_pipeline.publish.verify.withdrawn import warn_if_withdrawn
from anon_pipeline.publish.version_1.version_1 import RULES_1
from anon_pipeline.sources.population import read_population

__all__ = ["LATER", "Against", "Verification", "verified_table", "verify_in_detail", "verify_release"]

LATER = "kept by the rules of its version; later ones refuse"
"""Begins the reason of a contract that only rules of later versions break."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found of a release.

    report: a verdict per check; what could not be verified is unmeasured and says why.
    unverified: leaves of the manifest that nothing vouches for; none where its signature was verified. Of a
        release that is refused there is no list.
    warnings: that it was withdrawn; what its manifest revealed too much, if it is of a version that did.
    policy: that it was verified with; None: there was none.
    table: what was released, as this policy reads it; None: without a policy, or it cannot be read.
    """

    report: GateReport
    unverified: tuple[Unverified, ...]
    warnings: tuple[Warned, ...]
    policy: Policy | None = field(default=None, repr=False)
    table: Table | None = field(default=None, repr=False, compare=False)

    @property
    def in_part(self) -> bool:
        """Whether the policy was the public one of the release, which is only a part of the policy."""
        return isinstance(self.policy, PublicPolicy)

    def without_table(self) -> Verification:
        """Return the same without what was released, to keep it."""
        return replace(self, table=None)


def verify_release(path: Path, against: Against) -> GateReport:
    """Recompute every digest of a release, and let the gate judge what it can on the file alone.

    Args:
        path: folder of the release, or its manifest.
    Returns:
        A verdict per check; what could not be verified is unmeasured and says why.
    Raises:
        InputError: there is no manifest, or none of ours.
    """
    return verify_in_detail(path, against).report


def verify_in_detail(path: Path, against: Against) -> Verification:
    """Verify a release as `verify_release` does; list what was not compared, and warn of what it reveals.

    Args:
        path: folder of the release, or its manifest.
        against: policy and key, where there are any.
    Raises:
        InputError: there is no manifest, or none of ours.
    """
    manifest = path / MANIFEST if path.is_dir() else path
    read = read_data_files(manifest.parent, manifest_of(manifest), limits_of(against.policy))
    rules = RULES_1 if read.document["manifest_version"] == 1 else RULES_2
    shape, given = rules.shape(read.document), against
    beside, against = chosen_policy(manifest.parent, read, given, shape, rules)
    gate, anew, frame = _gate(read, against, rules)
    content = tuple(check_content(read, against.policy, frame))
    verdicts = (
        *_signature(read, against.key),
        *check_files(
            read, shape, policy=against.policy, same=all(one.status is Status.PASSED for one in content)
        ),
        check_report_file(manifest.parent, read.document, shape),
        *beside,
        check_folder(manifest.parent, read, given.policy),
        *content,
        _recorded_gate(read, against.policy, anew, shape, rules),
        *check_policy(read, given, against, rules),
        *_plugins(read, against.policy, shape),
        _facts(read, against, frame, shape, rules),
        *_statements(read, against.policy, frame, shape, rules),
        *gate,
    )
    report = GateReport(verdicts, read.document["data_digest"], read.document["policy_digest"])
    left: tuple[Unverified, ...] = ()
    if against.key is None and not report.with_status(Status.REFUSED):
        left = tuple(list_unverified(read.document, _held_against(read, against, report, anew, rules)))
    later = any(one.reason and one.reason.startswith(LATER) for one in gate)
    withdrawn = warn_if_withdrawn(read.document, given.ledger)
    warned = (
        *([] if withdrawn is None else [withdrawn]),
        *warnings_for(read.document),
        *([LOOKED_FOR] if later else []),
    )
    return Verification(report, left, warned, against.policy, frame)


def _held_against(
    read: Read, against: Against, report: GateReport, anew: GateReport | None, rules: Rules
) -> Asked:
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
    """Return the manifest and the table of a release that agrees with its manifest, ignoring other files.

    Args:
        path: folder of the release, or its manifest.
        against: with the policy that made it; None: its public part, published with it.
    Raises:
        InputError: there is no manifest, or a check of `verify_release` was refused: each is named.
    """
    refused = [v for v in verify_release(path, against).with_status(Status.REFUSED) if v.limit != FOLDER]
    if refused:
        raise InputError([verdict.as_text() for verdict in refused])
    manifest = path / MANIFEST if path.is_dir() else path
    document = manifest_of(manifest)
    read = read_data_files(manifest.parent, document, limits_of(against.policy))
    if read.held is not None:
        for frame in readings(read, read.held, against.policy):
            if digest_frame(frame) == document["data_digest"]:
                return document, frame
    raise InputError("the release must be the one that its manifest names, it has changed meanwhile")


def _signature(read: Read, key: Ed25519PublicKey | None) -> Iterator[Verdict]:
    if key is not None:
        yield verdict_on("signature", broken_signature(read.document, key))
    elif "signature" in read.document:
        yield unmeasured_verdict("signature", "needs --public-key")
    else:
        yield unmeasured_verdict("signature", "the manifest is not signed")


def _recorded_gate(
    read: Read, policy: Policy | None, anew: GateReport | None, shape: list[str], rules: Rules
) -> Verdict:
    wrong = malformed_parts(shape, "gate") or broken_gate(read.document, policy, anew, rules=rules)
    if not wrong and rules.worded(read.document) and not malformed_parts(shape, "facts"):
        wrong = broken_share(read.document)
    return verdict_on_list("recorded gate", wrong)


def _plugins(read: Read, policy: Policy | None, shape: list[str]) -> Iterator[Verdict]:
    """Refuse what plugins made that are not loaded here in the same version, since it cannot be checked."""
    wrong = malformed_parts(shape, "plugins") or broken_plugins(read.document, whole_policy(policy))
    if wrong or "plugins" in read.document:
        yield verdict_on_list("plugins", wrong)


def _facts(read: Read, against: Against, frame: Table | None, shape: list[str], rules: Rules) -> Verdict:
    """Compare the facts of all stages with the policy that must have made them, and with the file."""
    wrong = malformed_parts(shape, "facts")
    if wrong or malformed_parts(shape, "files", "hierarchies"):
        return verdict_on_list("facts", wrong)
    policy, facts = against.policy, read.document["facts"]
    problems = broken_facts(read.document, policy, rules=rules)
    if policy is not None:
        with suppress(AnonPipelineError):  # hierarchy tables that cannot be read are said there
            problems += rules.origin(policy, facts, against.hierarchies)
        if frame is not None and not problems:
            folder = against.hierarchies
            problems += broken_seen_facts(read.document, policy, frame, rules=rules, hierarchies=folder)
    return verdict_on_list("facts", problems)


_PARTS = (*BESIDE, "files", "gate", "facts", "plugins")  # of a manifest, with verdicts of their own


def _statements(
    read: Read, policy: Policy | None, frame: Table | None, shape: list[str], rules: Rules
) -> Iterator[Verdict]:
    """Compare what else the manifest states with what the policy leads to."""
    wrong = malformed_parts(shape, *(part for place in shape if (part := top_level_key(place)) not in _PARTS))
    if wrong:
        yield verdict_on_list("statements", wrong)
        return
    if policy is None:
        yield unmeasured_verdict("statements", "ε, guarantee, partition: needs --policy")
        return
    problems = broken_statements(read.document, policy, rules=rules)
    if rules.version != 1 and not malformed_parts(shape, "facts"):
        problems += broken_acknowledgements(read.document, policy, frame)
    yield verdict_on_list("statements", problems)
    if not rules.worded(read.document):
        yield unmeasured_verdict("guarantee", "another version of anon-pipeline has worded it")


def _gate(
    read: Read, against: Against, rules: Rules
) -> tuple[list[Verdict], GateReport | None, Table | None]:
    """Let the gate judge the file by the policy's limits; what needs the originals stays unmeasured."""
    policy = against.policy
    if policy is None or read.held is None:
        why = "needs --policy" if policy is None else "needs the file that the manifest names"
        return [unmeasured_verdict("gate", why)], None, None
    try:
        frame = pack_large(read_release(read.held, policy))
    except AnonPipelineError as error:
        return [verdict_on("gate", str(error))], None, None
    if isinstance(policy, PublicPolicy):
        report = evaluate_in_part(frame, policy)
    else:
        population = None
        with suppress(AnonPipelineError):  # whoever verifies may not have it: unmeasured then
            population = read_population(policy, folder=against.sources, hierarchies=against.hierarchies)
        report = evaluate(frame, policy, hierarchies=against.hierarchies, population=population)
    unknown = {kind for plugin in absent(read.document).values() for kind in plugin.kinds}
    verdicts = (
        unmeasured_verdict(verdict.limit, "made with another version of its plugin")
        if f"limits.{verdict.limit.partition('.')[0]}" in unknown
        else _verdict_of_version(verdict, frame, rules)
        for verdict in report.verdicts
    )
    then = replace(report, verdicts=tuple(verdicts))
    shown = _with_recorded_warnings(then.verdicts, read.document)
    return [replace(verdict, limit=f"gate.{verdict.limit}") for verdict in shown], then, frame


_WARNED_THEN = "it warned when the release was made, according to the manifest"


def _with_recorded_warnings(verdicts: Iterable[Verdict], document: Mapping[str, Any]) -> Iterator[Verdict]:
    """Add to the reason of each unmeasured limit that the manifest records a warning of it, if it does."""
    gate = document.get("gate")
    recorded = gate.get("verdicts") if isinstance(gate, dict) else None
    warned = [
        one.get("limit")
        for one in (recorded if isinstance(recorded, list) else [])
        if isinstance(one, dict) and one.get("status") == Status.WARNED
    ]
    for verdict in verdicts:
        if verdict.status is Status.UNMEASURED and verdict.limit in warned:
            yield replace(verdict, reason=f"{verdict.reason}; {_WARNED_THEN}")
        else:
            yield verdict


def _verdict_of_version(verdict: Verdict, frame: Table, rules: Rules) -> Verdict:
    """Return the verdict that the version's own rules give, where they decide; else the same."""
    lines = (verdict.reason or "").split("; ")
    if not limit_of(verdict.limit).published.by_version or verdict.status is not Status.REFUSED:
        return verdict
    if any(rules.asked(frame, line) for line in lines):
        return verdict
    return Verdict(verdict.limit, Status.PASSED, reason=f"{LATER}: {verdict.reason}")
