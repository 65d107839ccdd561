"""A part of a collection: what the manifest of one release says that matters for all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.release_kinds import RELEASE_KINDS
from anon_pipeline.catalog.releases import released_records
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.release_files import manifest_from, parsed_json

_TEXTS = ("release", "data_digest", "policy_digest")


@dataclass(frozen=True, slots=True)
class Part:
    """One of several releases, by its manifest.

    kind: of a release with declared columns; None of all others.
    partition: its key; whatever a manifest says that was not verified.
    records: of its input; None: a manifest that was not verified does not say it.
    released: records of its data files; None of other kinds, whose records are not those of the input.
    """

    release: str
    kind: str | None
    partition: Any
    data_digest: str
    policy_digest: str
    records: int | None
    released: int | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return asdict(self)


def part_of(data: bytes | None) -> Part | None:
    """Return what a manifest says; None: it is none.

    Args:
        data: the bytes of the file; None: it cannot be read, or is too large.
    """
    with suppress(InputError, ValueError, LookupError, TypeError, RecursionError):
        document = parsed_json(data or b"")
        kind = document.get("kind") if isinstance(document, dict) else None
        if isinstance(kind, str) and kind in RELEASE_KINDS and all(_is_text(document, key) for key in _TEXTS):
            return _part(document, kind, _count(document, "records"), None)
        known = manifest_from(data or b"", Path(MANIFEST))
        return _part(known, None, _count(known, "facts", "raw", "records"), released_records(known))
    return None


def _is_text(document: Mapping[str, Any], key: str) -> bool:
    return isinstance(document.get(key), str)


def _count(document: Mapping[str, Any], *keys: str) -> int | None:
    """Return the whole number below some keys; None: there is none."""
    found: Any = document
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if type(found) is int else None


def _part(document: Mapping[str, Any], kind: str | None, records: int | None, released: int | None) -> Part:
    texts = {key: document[key] for key in _TEXTS}
    return Part(kind=kind, partition=document.get("partition"), records=records, released=released, **texts)
