"""A release as it lies somewhere: its manifest and its files, read once and within bounds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.packed_tables import Table, pack_large
from anon_pipeline.base.size_bounds import MANIFEST_BYTES, Held, file_size, limit_error, read_small
from anon_pipeline.base.spelling import is_plain
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.release_kinds import RELEASE_KINDS
from anon_pipeline.catalog.releases import format_of, released_records
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.file_formats import from_bytes, read_release, schema_of
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.parts import MOST_FILES, join_files

VERSIONS = (1, 2)
"""Of manifests that can be read."""
_TEXTS = ("release", "policy_digest", "data_digest")


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A manifest, and the bytes of its data files if they are the ones that it names.

    held: the data file; of several, one file with the records of all (`parts.join_files`).
    wrong: for each data file why there are no bytes of it; None: they are there. None is there if one is
        not, or if they cannot be joined.
    """

    document: Mapping[str, Any]
    held: Held | None
    wrong: tuple[str | None, ...]

    @property
    def items(self) -> Sequence[Mapping[str, Any]]:
        """What the manifest says of each data file."""
        found: Sequence[Mapping[str, Any]] = self.document["files"]
        return found

    @property
    def name(self) -> str:
        """The name of the data file, of several the first one's."""
        return str(self.items[0]["name"])

    @property
    def records(self) -> int:
        """How many records the manifest says that the data files have."""
        return released_records(self.document)

    @property
    def types(self) -> Mapping[str, str] | None:
        """The types of the columns that the manifest names, of all data files; None: it names none."""
        found: Mapping[str, str] | None = self.items[0].get("types")
        return found


def limits_of(policy: Policy | None) -> Limits:
    """Return the limits of the policy's source, else the defaults."""
    return Limits() if policy is None else policy.source.limits


def manifest_of(path: Path) -> dict[str, Any]:
    """Read a manifest.

    Raises:
        InputError: there is none, or none of ours.
    """
    if path.is_symlink():
        raise InputError(f"{path.name}: must be a file, got a link: a release has its manifest in its folder")
    try:
        data = read_small(path, MANIFEST_BYTES)
    except OSError as error:
        raise InputError(f"{path}: must be the manifest of a release: {error_words(error)}") from None
    if data is None:
        raise InputError(f"{path.name}: must be a manifest of anon-pipeline, got a file too large for one")
    return manifest_from(data, path)


def manifest_from(data: bytes, path: Path) -> dict[str, Any]:
    """Read a manifest from its bytes.

    Args:
        path: of the file, for messages.
    Raises:
        InputError: it is none of ours.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: must be the manifest of a release: {error_words(error)}") from None
    try:
        document = parsed_json(text)
        other = RELEASE_KINDS.get(str(document.get("kind"))) if isinstance(document, dict) else None
        version = document["manifest_version"]
        known = (
            type(version) is int
            and version in VERSIONS
            and all(isinstance(document[key], str) for key in _TEXTS)
            and bool(document["files"])
            and all(_is_file(item) for item in document["files"])
            and isinstance(document["gate"]["verdicts"], list)
        )
    except (ValueError, LookupError, TypeError, RecursionError):
        known, other = False, None
    if other is not None:
        raise InputError(f"{path.name}: is of {other.words}, for which this command is not. Use verify.")
    if not known:
        raise InputError(f"{path.name}: must be a manifest of anon-pipeline, version 1 or 2")
    return dict(document)


def parsed_json(text: str | bytes) -> Any:
    """Read JSON in which each key stands once, and each number is finite.

    Raises:
        ValueError: it is none.
    """
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key given twice: two readers could see two manifests in one."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("keys must be unique")
    return dict(pairs)


def _no_number(text: str) -> None:
    """Refuse NaN and Infinity, which are no JSON."""
    raise ValueError("numbers must be finite")


def _is_file(item: Any) -> bool:
    name, types = item["name"], item.get("types", {})
    named = isinstance(name, str) and Path(name).name == name and "\\" not in name and is_plain(name)
    typed = isinstance(types, dict) and all(isinstance(text, str) for text in types.values())
    sized = type(item["size"]) is type(item["records"]) is int
    return named and typed and sized and isinstance(item["sha256"], str)


def read_data_files(folder: Path, document: Mapping[str, Any], limits: Limits) -> Read:
    """Read the data files and keep their bytes if they are the manifest's.

    Args:
        limits: of each file; ``file_bytes`` also of all together. What is beyond them is not read.
    """
    held, wrong, left = list[Held](), list[str | None](), limits.file_bytes
    for place, item in enumerate(document["files"]):
        try:
            if place >= MOST_FILES:
                raise InputError(f"a release has at most {MOST_FILES:,} data files")
            if left < 0:
                raise limit_error("all data files together", "file_bytes", limits.file_bytes)
            data = read_bytes(folder / item["name"], item, limits)
        except (OSError, InputError) as error:
            wrong.append(error_words(error) if isinstance(error, OSError) else str(error))
            continue
        left -= len(data)
        if left >= 0:
            held.append(Held(item["name"], data))
        wrong.append(None)
    if left < 0 and not any(wrong):
        wrong[-1] = str(limit_error("all data files together", "file_bytes", limits.file_bytes))
    if any(wrong):
        return Read(document, None, tuple(wrong))
    try:
        records = [item["records"] for item in document["files"]]
        return Read(document, join_files(held, records, limits), tuple(wrong))
    except InputError as error:
        return Read(document, None, (str(error), *wrong[1:]))


def read_bytes(path: Path, item: Mapping[str, Any], limits: Limits) -> bytes:
    """Read a file in the folder of a manifest.

    Args:
        item: the manifest's size and SHA-256 of it.
    Raises:
        OSError: it cannot be read.
        InputError: it is not the one that the manifest names, or exceeds the limits.
    """
    if path.is_symlink() or not path.is_file():
        raise InputError("it must be a file next to the manifest")
    size = file_size(path)
    if size > limits.file_bytes:
        raise limit_error(path.name, "file_bytes", limits.file_bytes, got=size)
    data = read_small(path, size) if size == item["size"] else None
    if data is None or len(data) != size:
        raise InputError(f"its size must be {item['size']} bytes, got {size}")
    if hashlib.sha256(data).hexdigest() != item["sha256"]:
        raise InputError("its SHA-256 is another than the manifest's")
    return data


def is_page(item: Any) -> bool:
    """Tell whether this describes a report."""
    return is_file_beside(item, "html")


def is_file_beside(item: Any, ending: str) -> bool:
    """Return whether this describes a file in the folder of a manifest: name, digest, size."""
    if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in ("name", "sha256")):
        return False
    name = item["name"]
    beside = Path(name).name == name and "\\" not in name and is_plain(name) and name.endswith(f".{ending}")
    return beside and type(item.get("size")) is int


def readings(read: Read, held: Held, policy: Policy | None) -> Iterator[pd.DataFrame]:
    """Yield the table in each way in which it can be read: a CSV says neither types nor what was neutralized.

    The first reading is bounded by the limits; the others are of a file that has kept them.
    """
    limits = limits_of(policy)
    form = format_of(held.name)
    if form.typed or policy is None:
        yield import_entry(form.loads)(held, limits)
        if form.typed:
            return
    else:
        yield read_release(held, policy)
    like = None if read.types is None else schema_of(read.types)
    if policy is not None:
        yield from_bytes(held.data, form.name, like=like, formulas=policy.publish.formulas)
        return
    yield from_bytes(held.data, form.name, like=like)
    with suppress(InputError):  # then they were kept
        yield from_bytes(held.data, form.name, like=like, formulas="neutralize")


def manifests_in(folder: Path) -> list[Path]:
    """Return the manifests of a release, or of its partitions: in a folder, else in the folders in it.

    Raises:
        InputError: there is none.
    """
    own = folder / MANIFEST
    found = [own] if own.is_file() else sorted(folder.glob(f"*/{MANIFEST}"))
    if not found:
        raise InputError(
            "the folder must hold a release with its manifest, or releases in folders of their own"
        )
    return found


def named_table(manifest: Path, policy: Policy) -> Table:
    """Return the table of the data files that a manifest names, if they are those files.

    Raises:
        InputError: there is no such manifest, or a file is not the one that it describes.
    """
    read = read_data_files(manifest.parent, manifest_of(manifest), limits_of(policy))
    if read.held is None:
        wrong = next(why for why in read.wrong if why is not None)
        raise InputError(f"{MANIFEST}: the data file must be the one that it names: {wrong}")
    return pack_large(read_release(read.held, policy))
