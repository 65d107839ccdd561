"""Tables of Delta Lake whose logs are rewritten as other programs write them, or as an attacker would."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

CANARY = "Quillfeather-4711"
PEOPLE = pa.table({"id": ["007", "8", CANARY, "9", None], "n": [7, None, 2**60 + 1, 4, 5]})
_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def library() -> Any:
    return pytest.importorskip("deltalake", reason="needs the extra delta")


def write(path: Path, data: pa.Table = PEOPLE, **how: Any) -> Path:
    library().write_deltalake(str(path), data, **how)
    return path


def rewrite(path: Path, change: Callable[[str, dict[str, Any]], None], version: int = 0) -> None:
    """Rewrite a commit: each action by its kind."""
    commit = path / "_delta_log" / f"{version:020d}.json"
    actions = [json.loads(line) for line in commit.read_text("utf-8").splitlines()]
    for action in actions:
        for kind, one in action.items():
            change(kind, one)
    commit.write_text("".join(json.dumps(action) + "\n" for action in actions), encoding="utf-8")


def demand(path: Path, *features: str, readers: bool = True) -> None:
    """Let the protocol of a table name features."""

    def change(kind: str, one: dict[str, Any]) -> None:
        if kind == "protocol":
            one.update(minReaderVersion=3, minWriterVersion=7, writerFeatures=[*features])
            one.update(readerFeatures=[*features] if readers else [])

    rewrite(path, change)


def delete_records(path: Path, *rows: int, vector: dict[str, Any] | None = None) -> None:
    """Delete records by a deletion vector: in the log itself, or as `vector` says."""
    data = bits(*rows)
    padded = data + bytes(-len(data) % 4)
    inline = {"storageType": "i", "pathOrInlineDv": _z85(padded), "sizeInBytes": len(data)}

    def change(kind: str, one: dict[str, Any]) -> None:
        if kind == "add":
            one["deletionVector"] = {"cardinality": len(rows), **(vector or inline)}

    demand(path, "deletionVectors")
    rewrite(path, change)


def vector_file(path: Path, *rows: int) -> dict[str, Any]:
    """Write a file with a deletion vector; return what a log says of it."""
    data = bits(*rows)
    path.write_bytes(b"\x01" + struct.pack(">I", len(data)) + data + struct.pack(">I", zlib.crc32(data)))
    place = {"storageType": "p", "pathOrInlineDv": path.absolute().as_uri()}
    return {**place, "offset": 1, "sizeInBytes": len(data)}


def bits(*rows: int) -> bytes:
    """Return rows as a bitmap, in the format RoaringBitmapArray of Delta Lake's protocol."""
    one = struct.pack("<IIHHI", 12346, 1, 0, len(rows) - 1, 16) + struct.pack(f"<{len(rows)}H", *rows)
    return struct.pack("<IQI", 1681511377, 1, 0) + one


def _z85(data: bytes) -> str:
    """Write bytes as text, four by four, as ZeroMQ's RFC 32 says."""
    made = ""
    for start in range(0, len(data), 4):
        number, part = int.from_bytes(data[start : start + 4], "big"), ""
        for _ in range(5):
            part, number = _Z85[number % 85] + part, number // 85
        made += part
    return made
