"""The manifest of an ε-DP release, and the public policy beside it: all in them is public or noisy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import InputError, PolicyError, error_words
from anon_pipeline.base.size_bounds import MANIFEST_BYTES, read_small
from anon_pipeline.epsilon_dp.dp_guarantee import dp_guarantee
from anon_pipeline.limits.verdicts import GateReport
from anon_pipeline.policy.epsilon_dp import DP_TYPE, EpsilonDpPolicy
from anon_pipeline.policy.load_epsilon_dp import dp_policy_from
from anon_pipeline.policy.source import placeless
from anon_pipeline.policy.walks import public_fields
from anon_pipeline.publish.manifest.manifest import ReleaseFile, recorded_packages
from anon_pipeline.publish.release_files import parsed_json

KIND = "epsilon_dp"
"""What manifests of these releases have as their kind; others have none."""
VERSION = 3
"""Of these manifests; versions 1 and 2 are of other releases."""


def dp_manifest(
    policy: EpsilonDpPolicy,
    report: GateReport,
    *,
    files: Sequence[ReleaseFile],
    records: int,
    release_id: str | None,
    made: datetime,
) -> dict[str, Any]:
    """Describe an ε-DP release; JSON types only.

    Args:
        records: of the source and of the file, which is public.
        release_id: a random id; None without a ledger.
        made: with its zone.
    """
    return {
        "manifest_version": VERSION,
        "kind": KIND,
        "release": policy.name,
        "partition": None,
        "made_at": made.isoformat(timespec="seconds"),
        "files": [{**asdict(file), "format": policy.publish.format} for file in files],
        "policy_digest": policy.digest,
        "data_digest": report.data_digest,
        "records": records,
        "gate": report.to_json(),
        "epsilon": policy.epsilon,
        "guarantee": dp_guarantee(policy),
        "facts": {"perturbed": {"release_id": release_id}},
        "packages": recorded_packages(),
    }


def read_dp_manifest(path: Path) -> dict[str, Any] | None:
    """Read the manifest of an ε-DP release; None: there is another one, or none.

    Args:
        path: of the manifest.
    Raises:
        InputError: it cannot be read, or is not as these manifests are.
    """
    try:
        data = read_small(path, MANIFEST_BYTES)
        document = parsed_json(data.decode("utf-8")) if data is not None else None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path.name}: must be the manifest of a release: {error_words(error)}") from None
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        return None
    if not _has_parts(document):
        raise InputError(f"{path.name}: must be a manifest of an ε-DP release, as anon-pipeline writes it")
    return document


def _has_parts(document: Mapping[str, Any]) -> bool:
    """Tell whether all that verification looks at is there, of the right type."""
    try:
        return (
            document["manifest_version"] == VERSION
            and all(isinstance(document[key], str) for key in ("release", "data_digest", "policy_digest"))
            and type(document["records"]) is int
            and len(document["files"]) == 1
            and all(isinstance(document["files"][0][key], str) for key in ("name", "sha256", "format"))
            and all(type(document["files"][0][key]) is int for key in ("size", "records"))
            and isinstance(document["files"][0]["types"], dict)
            and isinstance(document["gate"]["verdicts"], list)
            and isinstance(document["guarantee"], list)
        )
    except (LookupError, TypeError):
        return False


def dp_policy_bytes(policy: EpsilonDpPolicy) -> bytes:
    """Return the file with what is public of a policy."""
    document = {
        "type": DP_TYPE,
        "policy_digest": policy.digest,
        "attributes": public_fields(policy, defaults=True),
    }
    return f"{json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)}\n".encode()


def public_dp_policy(data: bytes) -> tuple[EpsilonDpPolicy, str]:
    """Return the policy that a file beside a release describes, its private parts left out, and its digest.

    Raises:
        InputError: it is none.
    """
    try:
        document = parsed_json(data.decode("utf-8"))
        attributes = {key: one for key, one in document["attributes"].items() if one is not None}
        source = placeless().model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        return dp_policy_from({**attributes, "source": source}), str(document["policy_digest"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, PolicyError):
        raise InputError("it must be the public part of a policy, in JSON") from None
