"""The public policy that is published with a release: its bytes and its use.

With it a release verifies and gets a report after its policy has moved on. What is private of the policy
stays unmeasured. Decisions: docs/adr/0061-the-policy-beside-its-release.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import InputError, PolicyError, error_words
from anon_pipeline.base.size_bounds import MANIFEST_BYTES, read_small
from anon_pipeline.gate import Verdict
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.public import PublicPolicy, differs, public_document, public_policy
from anon_pipeline.publish.manifest.manifest import BESIDE
from anon_pipeline.publish.release_files import is_file_beside, parsed_json, read_bytes
from anon_pipeline.publish.verify.verify_files import malformed_parts, unmeasured_verdict, verdict_on

PART = "policy"
"""Key of a manifest, and name of the verdict on the file."""
NEEDS_WHOLE = "needs --policy: only the public part of it is stored with the release"
_LIMITS = Limits(file_bytes=MANIFEST_BYTES)


@dataclass(frozen=True, slots=True)
class Beside:
    """The public policy that was found for a release.

    policy: its public part; None: there is none, or it cannot be used.
    verdict: on the file; None: the manifest names none, and none lies there.
    """

    policy: PublicPolicy | None = None
    verdict: Verdict | None = None


def policy_bytes(policy: Policy) -> bytes:
    """Return the file with what is public of a policy; equal for equal policies in the same order."""
    text = json.dumps(public_document(policy), indent=1, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def policy_beside(
    folder: Path, document: Mapping[str, Any], shape: list[str], whole: Policy | None = None
) -> Beside:
    """Read the policy published with a release, and compare it with the manifest.

    Args:
        folder: of the release.
        document: its manifest.
        shape: places of it that are not as its version writes them.
        whole: the policy that made it, if it is known: then the file must say nothing else.
    """
    if PART not in document and not malformed_parts(shape, PART):
        unnamed = _lies_unnamed(folder, document)
        wrong = "the manifest must name the policy of this release that is stored next to it"
        return Beside(verdict=verdict_on(PART, wrong) if unnamed else None)
    try:
        held = _named_document(folder, document, shape)
        policy = public_policy(held)
        _refuse_others(document, policy)
    except PolicyError as error:
        return Beside(verdict=unmeasured_verdict(PART, str(error)))
    except InputError as error:
        return Beside(verdict=verdict_on(PART, str(error)))
    if whole is not None and differs(held, whole):
        return Beside(policy, verdict_on(PART, "it says something else than the policy"))
    return Beside(policy, verdict_on(PART, None))


def _named_document(folder: Path, document: Mapping[str, Any], shape: list[str]) -> Any:
    """Return the document in the file that a manifest names.

    Raises:
        InputError: the file is not the one that it names, or is no JSON.
    """
    item: Any = document.get(PART)
    if malformed_parts(shape, PART) or not is_file_beside(item, BESIDE[PART]):
        raise InputError("the manifest must name it with digest and size")
    try:
        return parsed_json(read_bytes(folder / item["name"], item, _LIMITS))
    except OSError as error:
        raise InputError(error_words(error)) from None
    except (ValueError, RecursionError):
        raise InputError("it must be the public part of a policy, in JSON") from None


def _refuse_others(document: Mapping[str, Any], policy: PublicPolicy) -> None:
    """Refuse a policy that is of another release, or of another policy than the manifest's."""
    facts = document.get("facts")
    stages = list(facts.values()) if isinstance(facts, dict) else []
    if (policy.name, policy.digest) != (document["release"], document["policy_digest"]):
        raise InputError("it must be of the release and the policy that the manifest names")
    if not all(isinstance(one, dict) and one.get("made_by") == policy.making for one in stages):
        raise InputError("it must be of the policy that made the tables, as the facts name it")


def _lies_unnamed(folder: Path, document: Mapping[str, Any]) -> bool:
    """Return whether the folder has the manifest's own policy file, not named by the manifest."""
    named = re.compile(rf"{re.escape(document['release'])}-{PART}-[0-9a-f]{{16}}\.{BESIDE[PART]}")
    for path in folder.iterdir():
        if not named.fullmatch(path.name):
            continue
        try:
            found = parsed_json(read_small(path, MANIFEST_BYTES) or b"")
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(found, dict) and found.get("policy_digest") == document["policy_digest"]:
            return True
    return False
