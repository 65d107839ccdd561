"""What a manifest says of a part; what is no manifest says nothing."""

from __future__ import annotations

import json

import pytest

from anon_pipeline.publish.collection.part import Part, part_of

FILE = {"name": "x.parquet", "sha256": "0", "size": 1, "records": 7}
MANIFEST = {
    "manifest_version": 2,
    "release": "x",
    "partition": "a.1",
    "files": [FILE, {**FILE, "records": 5}],
    "policy_digest": "p",
    "data_digest": "d",
    "gate": {"verdicts": []},
    "facts": {"raw": {"records": 20}},
}
OTHER = {**MANIFEST, "manifest_version": 3, "kind": "synthetic", "records": 30, "facts": {}}


def test_a_release_of_classes_counts_the_records_of_all_files() -> None:
    found = part_of(json.dumps(MANIFEST).encode())
    assert found == Part("x", None, "a.1", "d", "p", 20, 12)
    assert found.to_json()["records"] == 20


def test_a_release_of_another_kind_has_no_released_records() -> None:
    assert part_of(json.dumps(OTHER).encode()) == Part("x", "synthetic", "a.1", "d", "p", 30, None)


def test_without_facts_the_records_are_not_known() -> None:
    for facts in (None, {}, {"raw": None}, {"raw": {"records": True}}, {"raw": {"records": "9"}}):
        found = part_of(json.dumps(MANIFEST | {"facts": facts}).encode())
        assert found is not None and (found.records, found.released) == (None, 12)


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b"[" * 100_000,
        json.dumps(MANIFEST | {"release": 3}).encode(),
        json.dumps(OTHER | {"data_digest": None}).encode(),
        json.dumps(OTHER | {"kind": "other"}).encode(),
        json.dumps(MANIFEST | {"files": []}).encode(),
        b'{"kind": "synthetic", "kind": "synthetic"}',
    ],
)
def test_what_is_no_manifest_is_no_part(data: bytes | None) -> None:
    assert part_of(data) is None
