"""The manifest of a release with declared columns, and the public policy beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InputError, PolicyError, error_words
from anon_pipeline.base.size_bounds import MANIFEST_BYTES, read_small
from anon_pipeline.catalog.release_kinds import ReleaseKind
from anon_pipeline.declared.parts import kind_named, parts_of
from anon_pipeline.limits.verdicts import GateReport
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.load_declared import declared_from
from anon_pipeline.policy.source import placeless
from anon_pipeline.policy.walks import public_fields
from anon_pipeline.publish.manifest.manifest import ReleaseFile, recorded_packages
from anon_pipeline.publish.release_files import parsed_json

VERSION = 3
"""Of these manifests; versions 1 and 2 are of other releases."""
_TEXTS = ("release", "data_digest", "policy_digest")
_KEYS = {
    *("manifest_version", "kind", "release", "partition", "made_at", "files", "policy_digest", "data_digest"),
    *("records", "gate", "epsilon", "guarantee", "facts", "packages", "policy", "report"),
}
UNVERIFIED = ("made_at", "packages", "facts.perturbed.release_id")
"""What nothing but a signature vouches for."""


def digest_of_tables(tables: Sequence[pd.DataFrame]) -> str:
    """Return the digest of one table, or one of the digests of several in their order."""
    digests = [digest_frame(frame) for frame in tables]
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def declared_manifest(
    policy: DeclaredRelease,
    report: GateReport,
    *,
    files: Sequence[ReleaseFile],
    records: int,
    release_id: str | None,
    made: datetime,
) -> dict[str, Any]:
    """Describe a release; JSON types only.

    Args:
        records: of the source, which is public.
        release_id: a random id; None without a ledger.
        made: with its zone.
    """
    return {
        "manifest_version": VERSION,
        "kind": policy.kind.name,
        "release": policy.name,
        "partition": None,
        "made_at": made.isoformat(timespec="seconds"),
        "files": [{**asdict(file), "format": policy.publish.format} for file in files],
        "policy_digest": policy.digest,
        "data_digest": report.data_digest,
        "records": records,
        "gate": report.to_json(),
        "epsilon": float(parts_of(policy.kind).epsilon(policy)) or None,
        "guarantee": parts_of(policy.kind).guarantee(policy),
        "facts": {"perturbed": {"release_id": release_id}},
        "packages": recorded_packages(),
    }


def read_declared_manifest(path: Path) -> tuple[dict[str, Any], ReleaseKind] | None:
    """Read the manifest of a release with declared columns, and its kind; None: there is no such one.

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
    kind = kind_named(document.get("kind")) if isinstance(document, dict) else None
    if kind is None or not isinstance(document, dict):
        return None
    if not _has_parts(document):
        raise InputError(f"{path.name}: must be a manifest of {kind.words}, as anon-pipeline writes it")
    return document, kind


def _has_parts(document: Mapping[str, Any]) -> bool:
    """Tell whether all that these manifests have is there, of the right type, and nothing else."""
    try:
        release_id = document["facts"]["perturbed"]["release_id"]
        return (
            document.keys() - {"signature"} == _KEYS
            and document["manifest_version"] == VERSION
            and document["partition"] is None
            and isinstance(document["made_at"], str)
            and document["facts"] == {"perturbed": {"release_id": release_id}}
            and isinstance(release_id, str | None)
            and {"python", "anon-pipeline"} <= document["packages"].keys()
            and all(isinstance(version, str) for version in document["packages"].values())
            and all(isinstance(document[key], str) for key in _TEXTS)
            and type(document["records"]) is int
            and 1 <= document["records"] <= 2**40
            and bool(document["files"])
            and all(_is_file(item) for item in document["files"])
            and isinstance(document["gate"]["verdicts"], list)
            and isinstance(document["guarantee"], list)
        )
    except (LookupError, TypeError, AttributeError):
        return False


def _is_file(item: Any) -> bool:
    texts = all(isinstance(item[key], str) for key in ("name", "sha256", "format"))
    return (
        texts
        and all(type(item[key]) is int for key in ("size", "records"))
        and isinstance(item["types"], dict)
    )


def declared_policy_bytes(policy: DeclaredRelease) -> bytes:
    """Return the file with what is public of a policy."""
    document = {
        "type": policy.kind.type,
        "policy_digest": policy.digest,
        "attributes": public_fields(policy, defaults=True),
    }
    return f"{json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)}\n".encode()


def public_declared_policy(data: bytes, kind: ReleaseKind) -> tuple[DeclaredRelease, str]:
    """Return the policy that a file beside a release describes, its private parts left out, and its digest.

    Raises:
        InputError: it is none.
    """
    try:
        document = parsed_json(data.decode("utf-8"))
        attributes = {key: one for key, one in document["attributes"].items() if one is not None}
        source = placeless().model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        policy, digest = declared_from({**attributes, "source": source}, kind), document["policy_digest"]
        whole = json.loads(declared_policy_bytes(policy)) | {"policy_digest": digest}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, PolicyError):
        whole, document, digest = None, None, None
    if whole is None or whole != document or not isinstance(digest, str):
        raise InputError("it must be the public part of a policy, in JSON")
    return policy, digest
