"""The document: what stands in it, equal bytes for equal releases, and what is not read as one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.base import size_bounds
from anon_pipeline.base.errors import InputError
from anon_pipeline.publish.collection import collection_document
from anon_pipeline.publish.collection.collection_document import (
    collection_bytes,
    describe_collection,
    is_folder_name,
    read_collection,
)
from anon_pipeline.publish.verify.together import verify_together
from anon_pipeline.publish.verify.verify import Against
from tests.publish.collection.conftest import KEYS, Several


def test_it_names_each_release_by_the_digest_of_its_manifest(several: Several) -> None:
    document = several.collect()
    out = several.folder / "out"
    assert [part["folder"] for part in document["parts"]] == [*KEYS]
    for part in document["parts"]:
        data = (out / part["folder"] / "manifest.json").read_bytes()
        manifest = json.loads(data)
        assert part["manifest_sha256"] == hashlib.sha256(data).hexdigest()
        assert part["data_digest"] == manifest["data_digest"]
        assert part["policy_digest"] == manifest["policy_digest"] == several.policy.digest
        assert part["records"] == manifest["facts"]["raw"]["records"] == 300
        assert part["released"] == sum(file["records"] for file in manifest["files"])
        assert (part["partition"], part["release"], part["kind"]) == (part["folder"], "small", None)
    assert (document["release"], document["keys_checked"]) == ("small", True)
    assert document["together"]["records"] == 900
    assert document["report"]["sha256"] == hashlib.sha256((out / "report.html").read_bytes()).hexdigest()
    assert read_collection(out) == document


def test_equal_releases_make_equal_bytes_without_time_and_place(collected: Several) -> None:
    path = collected.folder / "out" / "collection.json"
    before = path.read_bytes()
    collected.collect()
    assert path.read_bytes() == before
    text = before.decode()
    assert str(collected.folder) not in text and collected.folder.name not in text
    assert "made_at" not in text and "person" not in text and "Cork" not in text
    assert list(json.loads(text)) == sorted(json.loads(text))


def test_without_a_policy_no_keys_are_checked(several: Several) -> None:
    found = verify_together(several.folder / "out", Against())
    assert describe_collection(found)["keys_checked"] is False


def test_a_folder_with_a_name_that_is_not_plain_is_refused(several: Several) -> None:
    (several.folder / "out" / "a.3").rename(several.folder / "out" / "x\x1b[31m")
    found = verify_together(several.folder / "out", Against())
    with pytest.raises(InputError, match="must have plain names, 1 have not"):
        describe_collection(found)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("a.1", True),
        ("2026-01", True),
        ("Jänner", True),
        *((name, False) for name in ("", ".", "..", "../a", "a/b", "/", "a\\b", "a\nb", "a\x00", 3, None)),
        ("é" * 128, False),
    ],
)
def test_names_of_folders_lead_nowhere_else(name: object, known: bool) -> None:
    assert is_folder_name(name) is known


MALFORMED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a list": lambda one: [one],
    "no parts": lambda one: one | {"parts": []},
    "parts of another type": lambda one: one | {"parts": {"a": 1}},
    "a part of another type": lambda one: one | {"parts": ["a.1"]},
    "a part twice": lambda one: one | {"parts": [*one["parts"], one["parts"][0]]},
    "a path": lambda one: one | {"parts": [one["parts"][0] | {"folder": "../out/a.1"}]},
    "an absolute path": lambda one: one | {"parts": [one["parts"][0] | {"folder": "/etc"}]},
    "a digest that is none": lambda one: one | {"parts": [one["parts"][0] | {"manifest_sha256": "x"}]},
    "another kind": lambda one: one | {"parts": [one["parts"][0] | {"kind": ["synthetic"]}]},
    "a key too many": lambda one: one | {"more": 1},
    "a key too many in a part": lambda one: one | {"parts": [one["parts"][0] | {"more": 1}]},
    "a key that lacks": lambda one: {key: value for key, value in one.items() if key != "together"},
    "a huge number": lambda one: one | {"together": one["together"] | {"records": 10**30}},
    "a negative number": lambda one: one | {"together": one["together"] | {"records": -1}},
    "a number as text": lambda one: one | {"together": one["together"] | {"records": "900"}},
    "a bit as number": lambda one: one | {"keys_checked": 1},
    "another version": lambda one: one | {"collection_version": 2},
    "a version that is a bit": lambda one: one | {"collection_version": True},
    "another page": lambda one: one | {"report": one["report"] | {"name": "../report.html"}},
    "a signature that is none": lambda one: one | {"signature": "x"},
}


@pytest.mark.parametrize("how", MALFORMED)
def test_a_malformed_document_is_refused_with_a_reason(collected: Several, how: str) -> None:
    path = collected.folder / "out" / "collection.json"
    path.write_text(json.dumps(MALFORMED[how](json.loads(path.read_text()))))
    with pytest.raises(InputError, match=r"not as its version writes it|must list each release once"):
        read_collection(collected.folder / "out")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"a": 1, "a": 1}',
        b'{"a": NaN}',
        b"1" * 5000,
        b"\xef\xbb\xbf{}",
    ],
)
def test_what_is_no_json_is_refused_with_a_reason(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "collection.json").write_bytes(text)
    with pytest.raises(InputError, match="must be JSON in UTF-8"):
        read_collection(tmp_path)


def test_links_folders_and_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_collection(tmp_path) is None
    path = tmp_path / "collection.json"
    path.symlink_to("nowhere")
    with pytest.raises(InputError, match="plain file, got a link"):
        read_collection(tmp_path)
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match="must be a file that can be read"):
        read_collection(tmp_path)
    path.rmdir()
    path.write_text("{}" + " " * 100)
    monkeypatch.setattr(collection_document, "COLLECTION_BYTES", 50)
    with pytest.raises(InputError, match="too large"):
        read_collection(tmp_path)
    with pytest.raises(InputError, match="too large to be read"):
        collection_bytes({"a": "x" * 100})
    assert size_bounds.COLLECTION_BYTES == 2**26
