"""The policy that a release is verified by: the one that is given, or the public part of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from anon_pipeline.base.errors import AnonPipelineError, InputError
from anon_pipeline.gate import Verdict
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.public import PublicPolicy
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.manifest.signatures import broken_signature
from anon_pipeline.publish.policy_file import NEEDS_WHOLE, Beside, policy_beside
from anon_pipeline.publish.release_files import Read, limits_of, manifest_of
from anon_pipeline.publish.verify.verify_files import unmeasured_verdict, verdict_on
from anon_pipeline.publish.verify.versions import RULES_2, Rules
from anon_pipeline.stages.facts.origin import hierarchy_digests

_OTHER = "made by another policy than the one given; checked by the one stored with the release"
_LEAVE_OUT = "leave --policy out, or give the --public-key of a signed release"


POLICY_DIGEST = "policy_digest"
"""Name of the check whether a release was made by the policy that is given."""


@dataclass(frozen=True, slots=True)
class Against:
    """What a release is verified against, in addition to its manifest.

    policy: that it should have been made by. None, or another one: what is public of the policy that did
        make it is taken in its place, if it is published with the release; without it, the gate does not run.
    hierarchies: folder of the hierarchy tables.
    key: that should have signed it; None: a signature is not checked.
    sources: folder of the population's file, if the policy names one; where there is none, the limits on who
        knows the population stay unmeasured.
    ledger: URL of the ledger that knows whether it was withdrawn; None: it is not asked.
    """

    policy: Policy | None = None
    hierarchies: Path = Path()
    key: Ed25519PublicKey | None = None
    sources: Path = Path()
    ledger: str | None = None


def whole_policy(policy: Policy | None) -> Policy | None:
    """Return a policy all of which is known, else None."""
    return None if isinstance(policy, PublicPolicy) else policy


def chosen_policy(
    folder: Path, read: Read, given: Against, shape: list[str], rules: Rules
) -> tuple[list[Verdict], Against]:
    """Read the policy published with a release; use it if the one that made the release is not given.

    Returns:
        The verdict on it, if there is one; what the release is held against.
    """
    made = given.policy is not None and rules.digest(given.policy) == read.document["policy_digest"]
    if rules.version == 1:
        return [], given
    found = policy_beside(folder, read.document, shape, given.policy if made else None)
    verdicts = [] if found.verdict is None else [found.verdict]
    if made or found.policy is None:
        return verdicts, given
    source = found.policy.source.model_copy(update={"limits": limits_of(given.policy)})
    return verdicts, replace(given, policy=found.policy.model_copy(update={"source": source}))


def policy_of_release(path: Path, given: Policy | None) -> Policy:
    """Return the policy to describe a release by: the given one, if it made it, otherwise the published one.

    Args:
        path: folder of the release, or its manifest.
    Raises:
        InputError: there is no manifest, or no policy, or it cannot be used.
    """
    manifest = path / MANIFEST if path.is_dir() else path
    document = manifest_of(manifest)
    if given is not None and given.digest == document["policy_digest"]:
        return given
    found = Beside()
    if document["manifest_version"] == RULES_2.version:
        found = policy_beside(manifest.parent, document, RULES_2.shape(document))
    if found.policy is not None:
        return found.policy
    if given is not None:
        return given  # whoever verifies the release by it says what is wrong
    if found.verdict is not None:
        raise InputError(f"the policy stored with the release: {found.verdict.reason}")
    raise InputError("the policy that made the release must be given (--policy): none is stored with it")


def check_policy(read: Read, given: Against, against: Against, rules: Rules) -> Iterator[Verdict]:
    """Compare the policy and its hierarchy tables with the digests in the manifest.

    Args:
        given: with the policy that whoever verifies has. against: with the one that is used.
    """
    policy = given.policy
    if policy is not against.policy or policy is None:
        why = "needs --policy" if against.policy is None else NEEDS_WHOLE
        yield unmeasured_verdict(POLICY_DIGEST, why) if policy is None else _other_policy(read, given)
        yield unmeasured_verdict("hierarchies", why)
        return
    same = rules.digest(policy) == read.document["policy_digest"] and policy.name == read.document["release"]
    yield verdict_on(POLICY_DIGEST, None if same else "made by another policy than this one")
    try:
        found = hierarchy_digests(policy, against.hierarchies)
    except AnonPipelineError as error:
        yield unmeasured_verdict("hierarchies", str(error))
        return
    if not rules.names_tables:
        if found:
            yield unmeasured_verdict("hierarchies", "a manifest has no digest of private tables")
        return
    same = found == read.document.get("hierarchies")
    yield verdict_on(
        "hierarchies", None if same else "the hierarchy tables differ from those of the manifest"
    )


def _other_policy(read: Read, given: Against) -> Verdict:
    """Judge a policy that did not make the release: refused, unless a signature vouches for the one that did.

    Anyone who can replace the release can replace the policy published with it.
    """
    name = None if given.policy is None else given.policy.name
    signed = given.key is not None and broken_signature(read.document, given.key) is None
    if signed and name == read.document["release"]:
        return unmeasured_verdict(POLICY_DIGEST, f"{_OTHER}; the signature vouches for that one")
    return verdict_on(POLICY_DIGEST, f"{_OTHER}. If it has moved on since, {_LEAVE_OUT}")
