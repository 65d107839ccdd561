"""What the log of a Delta Lake table names, refused before it is read: files elsewhere, features, sizes.

A log may name files by absolute paths, as shallow clones do, and the library follows them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import limit_error
from anon_pipeline.policy.files import Limits

READ = frozenset({"timestampNtz", "deletionVectors", "columnMapping", "vacuumProtocolCheck"})
"""Features of tables that are read right, each with a test."""
_VECTORS = "deletionVectors"
_COMMIT = re.compile(r"(\d{20})(?:\.\d{20}\.compacted)?\.json")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.\d{10}\.\d{10})?\.parquet")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_UUID = 20  # characters of a file's number in the name of a deletion vector, after a folder's name
_DECODED = 4  # times that an escape may be escaped
_OUTSIDE = "must name files within the table, got others. Of a shallow clone make a deep one."


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """The data files of a version, as its log names them.

    records: of all files; None: the log does not say it, or counts records that are deleted.
    """

    paths: tuple[str, ...]
    sizes: tuple[int, ...]
    records: int | None


def named_files(table: Any, key: str, limits: Limits) -> NamedFiles:
    """Return the files of a version, once nothing speaks against reading them.

    Args:
        table: opened, of the library.
        key: of the policy, for messages.
        limits: ``file_bytes`` of all files together, ``columns``, ``rows``.
    Raises:
        InputError: files outside of the table, a feature that is not read right, a limit that is not kept.
    """
    features = frozenset(table.protocol().reader_features or ())
    refuse_features(features - READ, key)
    added = pa.table(table.get_add_actions(flatten=False))
    paths = tuple(added["path"].to_pylist())
    if not all(is_within(path) for path in paths):
        raise InputError(f"{key}: the log {_OUTSIDE}")
    sizes, counts = tuple(added["size_bytes"].to_pylist()), added["num_records"].to_pylist()
    known = None not in counts and _VECTORS not in features
    found = NamedFiles(paths, sizes, sum(counts) if known else None)
    columns = len(pa.schema(table.schema().to_arrow()))
    for limit, got in (("file_bytes", sum(sizes)), ("columns", columns), ("rows", found.records or 0)):
        if got > getattr(limits, limit):
            raise limit_error(key, limit, getattr(limits, limit), got=got)
    return found


def refuse_features(others: frozenset[str], key: str) -> None:
    """Refuse features of a table that are not supported, by their names.

    Raises:
        InputError: there is one.
    """
    if others:
        names = ", ".join(
            sorted(name if re.fullmatch(r"[A-Za-z0-9-]{1,40}", name) else "?" for name in others)
        )
        raise InputError(f"{key}: must be a table without the features {names}, which are not supported")


def is_within(path: str) -> bool:
    """Tell whether a path of the log stays below the table, however it is escaped.

    >>> [is_within(path) for path in ("p=a%2Fb/x", "/x", "a/%2e%2E/x", "file:/x", "a/.\\t./x")]
    [True, False, False, False, False]
    """
    for _ in range(_DECODED):
        parts = path.replace("\\", "/").split("/")
        if not parts[0] or ".." in parts or _SCHEME.match(path) or any(c < " " for c in path):
            return False
        path = unquote(path)
    return "%2e%2e" not in path.lower()


def refuse_changed_files(folder: Path, found: NamedFiles, key: str) -> None:
    """Refuse a table here whose files are not those of its log, or that has links to elsewhere.

    Raises:
        InputError: a file is gone, as after a vacuum, or has another size; a link leads out of the table.
    """
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            if path.is_symlink() and not path.resolve().is_relative_to(folder):
                raise InputError(f"{key}: must have no links to files outside of the table, got one")
    sizes = [_size(folder / unquote(path)) for path in found.paths]
    gone = sum(size is None for size in sizes)
    if gone:
        raise InputError(
            f"{key}: {gone} data files of this version are gone, as after a vacuum. Read a later version."
        )
    if sizes != list(found.sizes):
        raise InputError(f"{key}: must have data files of the sizes that the log states, got others")


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


def refuse_vectors_elsewhere(table: Any, files: Any, key: str) -> None:
    """Refuse deletion vectors outside of the table: the library reads them wherever they are.

    It also reads them if the table does not have their feature. So the log is read a second time; vectors of
    versions before are refused as well.

    Args:
        table: opened, of the library.
        files: the table's, as a filesystem of Arrow.
    Raises:
        InputError: there is one, or there are vectors and the table does not say so.
    """
    allowed = _VECTORS in (table.protocol().reader_features or ())
    for vector in _vectors(files, table.version(), key):
        if not allowed:
            raise InputError(f"{key}: must have deletion vectors with the feature {_VECTORS} alone")
        kind, place = vector.get("storageType"), str(vector.get("pathOrInlineDv"))
        inside = kind == "u" and re.fullmatch(r"[A-Za-z0-9_-]*", place[:-_UUID]) is not None
        if kind != "i" and not inside:
            raise InputError(f"{key}: the log {_OUTSIDE}")


def _vectors(files: Any, version: int, key: str) -> Iterator[Mapping[str, Any]]:
    """Yield all deletion vectors that a log names up to a version.

    Raises:
        InputError: a checkpoint of the second kind, which names further files.
    """
    import pyarrow.fs as pafs  # noqa: PLC0415

    for info in files.get_file_info(pafs.FileSelector("_delta_log")):
        commit, checkpoint = _COMMIT.fullmatch(info.base_name), _CHECKPOINT.fullmatch(info.base_name)
        found = commit or checkpoint
        if found is None and ".checkpoint." in info.base_name:
            refuse_features(frozenset({"v2Checkpoint"}), key)
        if found is None or int(found[1]) > version:
            continue
        with files.open_input_file(info.path) as file:
            yield from _of_commit(file.readall()) if commit else _of_checkpoint(file, key)


def _of_commit(data: bytes) -> Iterator[Mapping[str, Any]]:
    for line in filter(bytes.strip, data.split(b"\n")):
        added = json.loads(line, object_pairs_hook=_unique).get("add") or {}
        yield from [added["deletionVector"]] if added.get("deletionVector") else []


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key given twice: the library could read the other one.

    Raises:
        ValueError: a key is.
    """
    if len(dict(pairs)) != len(pairs):
        raise ValueError("keys must be unique")
    return dict(pairs)


def _of_checkpoint(file: Any, key: str) -> Iterator[Mapping[str, Any]]:
    names = ("storageType", "pathOrInlineDv")
    parquet = pq.ParquetFile(file)
    there = {parquet.schema.column(place).path for place in range(len(parquet.schema))}
    further = [path for path in there if path.partition(".")[0] == "sidecar"]  # files with more adds
    if further and any(
        batch.column(0).null_count < len(batch) for batch in parquet.iter_batches(columns=further)
    ):
        refuse_features(frozenset({"v2Checkpoint"}), key)
    wanted = [f"add.deletionVector.{name}" for name in names]
    if not {*wanted} <= there:
        return
    for batch in parquet.iter_batches(columns=wanted):
        for added in batch.column("add").to_pylist():
            if added and added["deletionVector"] and added["deletionVector"]["storageType"]:
                yield added["deletionVector"]
