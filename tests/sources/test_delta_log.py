"""What the log of a Delta Lake table names: which paths stay within it, which features are read right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.delta_log import (
    NamedFiles,
    is_within,
    named_files,
    refuse_changed_files,
    refuse_features,
    refuse_vectors_elsewhere,
)
from anon_pipeline.sources.delta_places import DeltaPlace
from tests.sources.delta_logs import PEOPLE, delete_records, library, rewrite, vector_file, write


def place_of(path: Path) -> DeltaPlace:
    library()
    return DeltaPlace(str(path), "source.delta", path)


@pytest.mark.parametrize(
    ("path", "within"),
    [
        ("part-00000.parquet", True),
        ("ward=3/place=a%252Fb/part-0.parquet", True),
        ("place=a:b/part-0.parquet", True),
        ("a..b/..c/x.parquet", True),
        ("/etc/x.parquet", False),
        ("//host/x.parquet", False),
        ("../x.parquet", False),
        ("a/../../x.parquet", False),
        ("a/%2e%2E/x.parquet", False),
        ("a/%252e%252e/x.parquet", False),
        ("a\\..\\x.parquet", False),
        ("\\\\host\\x.parquet", False),
        ("a/.\t./x.parquet", False),
        ("file:///etc/x.parquet", False),
        ("file:x.parquet", False),
        ("s3a://bucket/x.parquet", False),
        ("%66ile:///etc/x.parquet", False),
        ("", False),
    ],
)
def test_which_paths_stay_within_the_table(path: str, within: bool) -> None:
    assert is_within(path) is within


@given(st.text(st.sampled_from("a./%2eE\\:"), max_size=12))
def test_what_is_within_leads_nowhere_else(path: str) -> None:
    if is_within(path):
        for _ in range(3):
            assert ".." not in path.split("/")
            path = path.replace("%2e", ".").replace("%2E", ".").replace("%2f", "/")


def test_the_files_of_a_version_and_their_records(tmp_path: Path) -> None:
    path = write(tmp_path / "people")
    write(path, PEOPLE, mode="append")
    found = named_files(place_of(path).open(), "source.delta", Limits())
    assert {*found.paths} == {file.name for file in path.glob("*.parquet")}
    assert sum(found.sizes) == sum(file.stat().st_size for file in path.glob("*.parquet"))
    assert found.records == 10
    rewrite(path, lambda kind, one: one.update(stats=None) if kind == "add" else None)
    assert named_files(place_of(path).open(), "source.delta", Limits()).records is None


def test_features_are_named_unless_their_names_say_more() -> None:
    refuse_features(frozenset(), "key")
    with pytest.raises(InputError, match=r"^key: must be a table without the features \?, other,"):
        refuse_features(frozenset({"other", "a name of a person"}), "key")


def test_files_of_other_sizes_and_files_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "a b").write_bytes(b"123")
    refuse_changed_files(tmp_path, NamedFiles(("a%20b",), (3,), None), "key")
    with pytest.raises(InputError, match="of the sizes that the log states"):
        refuse_changed_files(tmp_path, NamedFiles(("a%20b",), (4,), None), "key")
    with pytest.raises(InputError, match="1 data files of this version are gone"):
        refuse_changed_files(tmp_path, NamedFiles(("a%20b", "c"), (3, 3), None), "key")
    (tmp_path / "inner").symlink_to("a b")
    refuse_changed_files(tmp_path, NamedFiles(("inner",), (3,), None), "key")


def test_vectors_of_later_versions_do_not_matter(tmp_path: Path) -> None:
    path = write(tmp_path / "people")
    outside = vector_file(tmp_path / "vector.bin", 1)
    write(path, PEOPLE, mode="append")
    change = {"cardinality": 1, **outside}
    rewrite(path, lambda kind, one: one.update(deletionVector=change) if kind == "add" else None, 1)
    place = place_of(path)
    refuse_vectors_elsewhere(place.open(0), place.files(), "key")
    with pytest.raises(InputError, match="with the feature deletionVectors alone"):
        refuse_vectors_elsewhere(place.open(), place.files(), "key")


@pytest.mark.parametrize("spelled", ['"deletionVecto\\u0072"', '"deletionVector"'])
def test_vectors_are_seen_however_their_key_is_spelled(tmp_path: Path, spelled: str) -> None:
    """The library reads JSON, so a search for the bytes of the key would not find all vectors."""
    path = write(tmp_path / "people")
    change = {"cardinality": 1, **vector_file(tmp_path / "vector.bin", 1)}
    rewrite(path, lambda kind, one: one.update(deletionVector=change) if kind == "add" else None, 0)
    log = path / "_delta_log" / f"{0:020d}.json"
    log.write_text(log.read_text().replace('"deletionVector"', spelled))
    place = place_of(path)
    with pytest.raises(InputError, match="with the feature deletionVectors alone"):
        refuse_vectors_elsewhere(place.open(), place.files(), "key")


def test_a_log_with_a_key_given_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "people")
    log = path / "_delta_log" / f"{0:020d}.json"
    log.write_text(log.read_text().replace('{"add":{', '{"add":null,"add":{'))
    place = place_of(path)
    with pytest.raises(ValueError, match="keys must be unique"):
        refuse_vectors_elsewhere(place.open(), place.files(), "key")


def test_a_classic_checkpoint_with_further_files_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "people")
    place = place_of(path)
    table = place.open()
    named = pa.table({"sidecar": pa.array([{"path": "a.parquet"}])})
    pq.write_table(named, path / "_delta_log" / f"{0:020d}.checkpoint.parquet")
    with pytest.raises(InputError, match="without the features v2Checkpoint"):
        refuse_vectors_elsewhere(table, place.files(), "key")


def test_vectors_in_a_checkpoint_are_seen(tmp_path: Path) -> None:
    path = write(tmp_path / "people")
    delete_records(path, 1)
    library().DeltaTable(str(path)).create_checkpoint()
    (path / "_delta_log" / f"{0:020d}.json").unlink()
    place = place_of(path)
    refuse_vectors_elsewhere(place.open(), place.files(), "key")

    class Protocol:
        reader_features = ()

    class Table:
        @staticmethod
        def protocol() -> Any:
            return Protocol

        @staticmethod
        def version() -> int:
            return 0

    with pytest.raises(InputError, match="with the feature deletionVectors alone"):
        refuse_vectors_elsewhere(Table, place.files(), "key")


def test_a_checkpoint_that_names_further_files_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "people")
    place = place_of(path)
    table = place.open()
    (path / "_delta_log" / f"{0:020d}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json").write_text("{}")
    with pytest.raises(InputError, match="without the features v2Checkpoint"):
        refuse_vectors_elsewhere(table, place.files(), "key")
