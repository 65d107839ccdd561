"""The collection: the document that names each release in a folder by the digest of its manifest.

It has no time and no place: the same releases make the same bytes. Manifests are the only source of what it
says; `collection_check` compares it with them.

Decision: docs/adr/0097-a-collection-of-releases.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.size_bounds import COLLECTION_BYTES, read_small
from anon_pipeline.base.spelling import is_plain
from anon_pipeline.catalog.release_kinds import RELEASE_KINDS
from anon_pipeline.gate import Status
from anon_pipeline.publish.manifest.shape import (
    TOP,
    Each,
    Shape,
    is_text,
    is_version,
    is_whole,
    misfits,
    or_none,
)
from anon_pipeline.publish.release_files import parsed_json
from anon_pipeline.publish.verify.together import Verifications
from anon_pipeline.stages.facts.fact_rules import is_digest

COLLECTION: Final = "collection.json"
PAGE: Final = "report.html"
SIGNED: Final = "collection"
"""What is signed, see `signatures.sign`."""
VERSION: Final = 1
_LONGEST: Final = 255  # bytes of a folder's name


def is_folder_name(value: Any) -> bool:
    """Tell whether this is the plain name of a folder, and no path that leads elsewhere."""
    return (
        is_text(value)
        and is_plain(value)
        and Path(value).name == value
        and "\\" not in value
        and value not in (".", "..")
        and len(value.encode("utf-8", "surrogatepass")) <= _LONGEST
    )


def _is_bit(value: Any) -> bool:
    return type(value) is bool


def _is_kind(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value in RELEASE_KINDS)


_SHAPE: Final[Mapping[str, Shape]] = {
    "collection_version": lambda value: type(value) is int and value == VERSION,
    "anon_pipeline": is_version,
    "release": or_none(is_text),
    "keys_checked": _is_bit,
    "parts": Each(
        {
            "folder": is_folder_name,
            "manifest_sha256": is_digest,
            "release": is_text,
            "kind": _is_kind,
            "partition": TOP["partition"],
            "data_digest": is_digest,
            "policy_digest": is_digest,
            "records": or_none(is_whole),
            "released": or_none(is_whole),
        }
    ),
    "together": or_none(
        {
            **dict.fromkeys(("policies", "records", "released"), is_whole),
            **dict.fromkeys(("classes", "smallest", "shared"), or_none(is_whole)),
        }
    ),
    "report": {"name": lambda value: value == PAGE, "sha256": is_digest, "size": is_whole},
    "signature?": TOP["signature?"],
}


def describe_collection(found: Verifications) -> dict[str, Any]:
    """Describe releases that were verified together; JSON types only, without a report.

    Args:
        found: of them none was refused.
    Raises:
        InputError: a folder's name is none that every reader can have.
    """
    strange = sum(not is_folder_name(name) for name in found.each)
    if strange:
        raise InputError(f"folders of releases must have plain names, {strange} have not. Rename them.")
    names = {part.release for part in found.parts.values()}
    return {
        "collection_version": VERSION,
        "anon_pipeline": this_version(),
        "release": next(iter(names)) if len(names) == 1 else None,
        "keys_checked": found.partitions.status is Status.PASSED,
        "parts": [part_row(found, name) for name in sorted(found.each)],
        "together": None if found.together is None else asdict(found.together),
    }


def part_row(found: Verifications, name: str) -> dict[str, Any]:
    """Return what a collection says of a release.

    Raises:
        KeyError: it has no manifest that can be read.
    """
    return {"folder": name, "manifest_sha256": found.digests[name], **found.parts[name].to_json()}


def this_version() -> str:
    """Return the version of this package."""
    return metadata.version("anon-pipeline")


def describe_page(page: bytes) -> dict[str, Any]:
    """Return what a collection says of its page."""
    return {"name": PAGE, "sha256": hashlib.sha256(page).hexdigest(), "size": len(page)}


def without_page(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page about a collection is made of: all of it but page and signature."""
    return {key: value for key, value in document.items() if key not in ("report", "signature")}


def collection_bytes(document: Mapping[str, Any]) -> bytes:
    """Write a collection: equal documents in equal bytes.

    Raises:
        InputError: it would be too large to be read.
    """
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    data = f"{text}\n".encode()
    if len(data) > COLLECTION_BYTES:
        raise InputError(f"{COLLECTION}: would be too large to be read. Collect fewer releases in a folder.")
    return data


def read_collection(folder: Path) -> dict[str, Any] | None:
    """Read the collection of a folder; None: there is none.

    Raises:
        InputError: what is there is none of ours, with the reason.
    """
    path = folder / COLLECTION
    if path.is_symlink():
        raise InputError(f"{COLLECTION} must be a plain file, got a link")
    try:
        data = read_small(path, COLLECTION_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{COLLECTION} must be a file that can be read: {error_words(error)}") from None
    if data is None:
        raise InputError(f"{COLLECTION} is too large for a collection")
    try:
        document = parsed_json(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise InputError(
            f"{COLLECTION} must be JSON in UTF-8, with each key once and finite numbers"
        ) from None
    places = list(misfits({SIGNED: document}, {SIGNED: _SHAPE}))
    if places:
        raise InputError(f"{COLLECTION} is not as its version writes it: {', '.join(dict.fromkeys(places))}")
    names = [part["folder"] for part in document["parts"]]
    if len({*names}) < len(names) or not names:
        raise InputError(f"{COLLECTION} must list each release once, and at least one")
    return dict(document)
