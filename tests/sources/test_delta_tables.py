"""Versions of Delta Lake tables: types, deleted records, limits, nothing outside, written or quoted."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_pipeline import InputError, Locations
from anon_pipeline.policy import Policy
from anon_pipeline.sources import read_source
from tests.sources.delta_logs import (
    CANARY,
    PEOPLE,
    delete_records,
    demand,
    library,
    rewrite,
    vector_file,
    write,
)
from tests.sources.in_portions import read_in_portions

Small = Callable[..., Policy]


@pytest.fixture(autouse=True)
def _needs_library() -> None:
    library()


def policy(small_policy: Small, **wanted: Any) -> Policy:
    limits = wanted.pop("limits", {})
    place = wanted if {"url", "url_env"} & {*wanted} else {"path": "people", **wanted}
    source = {"path": None, "delta": place, "limits": limits}
    return small_policy(source=source, schedule={"cron": "0 3 * * 1", "partitions": "daily"})


def read(small_policy: Small, folder: Path, **wanted: Any) -> pd.DataFrame:
    frame = read_source(policy(small_policy, **wanted), folder=folder)
    return frame.sort_values(next(iter(frame.columns)), ignore_index=True)


def refused(found: Policy, folder: Path, **how: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_source(found, folder=folder, **how)
    assert CANARY not in str(caught.value)
    assert str(folder) not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    return str(caught.value)


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_newest_version_and_one_by_its_number(tmp_path: Path, small_policy: Small) -> None:
    write(tmp_path / "people")
    write(tmp_path / "people", PEOPLE.slice(0, 2), mode="overwrite")
    before = bytes_in(tmp_path)
    frame = read(small_policy, tmp_path)
    assert frame["id"].tolist() == ["007", "8"]
    assert frame["n"].tolist() == [7, None]
    first = read(small_policy, tmp_path, version=0)
    assert first["id"].tolist()[:4] == ["007", "8", "9", CANARY]
    assert sorted(first["n"].dropna()) == [4, 5, 7, 2**60 + 1]
    assert bytes_in(tmp_path) == before


def test_types_and_columns_of_partitions(tmp_path: Path, small_policy: Small) -> None:
    columns = {
        "id": ["a", "b"],
        "money": pa.array([Decimal("1.50"), None], pa.decimal128(5, 2)),
        "day": pa.array([date(2024, 1, 31), None]),
        "at": pa.array([datetime(2024, 1, 31, 4, tzinfo=UTC), None], pa.timestamp("us", "UTC")),
        "local": pa.array([datetime(2024, 1, 31, 4), None], pa.timestamp("us")),
        "yes": [True, None],
        "x": [0.5, None],
        "ward": pa.array([3, None], pa.int32()),
        "place": ["a/b ü=%2e", ""],
    }
    write(tmp_path / "people", pa.table(columns), partition_by=["ward", "place"])
    frame = read(small_policy, tmp_path)
    assert list(frame.columns) == list(columns)
    row = frame.to_dict("records")[0]
    assert (row["money"], row["yes"], row["x"]) == (Decimal("1.50"), True, 0.5)
    assert row["at"] == pd.Timestamp("2024-01-31 04:00", tz="UTC")
    assert row["local"] == pd.Timestamp("2024-01-31 04:00")
    assert pd.Timestamp(row["day"]) == pd.Timestamp(2024, 1, 31)
    assert frame["ward"].tolist() == [3, None]
    assert frame["place"].tolist() == ["a/b ü=%2e", ""]
    assert frame.iloc[1].isna().sum() == len(columns) - 2


def test_a_column_that_came_later_is_missing_before(tmp_path: Path, small_policy: Small) -> None:
    write(tmp_path / "people", pa.table({"id": ["a"]}))
    write(tmp_path / "people", pa.table({"id": ["b"], "n": [1]}), mode="append", schema_mode="merge")
    assert read(small_policy, tmp_path)["n"].tolist() == [None, 1]
    assert list(read(small_policy, tmp_path, version=0).columns) == ["id"]


def test_times_as_spark_wrote_them_for_long(tmp_path: Path, small_policy: Small) -> None:
    data = pa.table({"at": pa.array([datetime(1900, 1, 31, 4, tzinfo=UTC)], pa.timestamp("us", "UTC"))})
    path = write(tmp_path / "people", data)
    (file,) = path.glob("*.parquet")
    pq.write_table(data, file, use_deprecated_int96_timestamps=True)
    rewrite(path, lambda kind, one: one.update(size=file.stat().st_size) if kind == "add" else None)
    assert read(small_policy, tmp_path)["at"].tolist() == [pd.Timestamp("1900-01-31 04:00", tz="UTC")]


def test_deleted_records_are_not_read(tmp_path: Path, small_policy: Small) -> None:
    delete_records(write(tmp_path / "people"), 1, 3)
    frame = read(small_policy, tmp_path, limits={"rows": 3})
    assert (len(frame), frame["id"].dropna().tolist()) == (3, ["007", CANARY])
    assert "must keep the limit rows (2)" in refused(policy(small_policy, limits={"rows": 2}), tmp_path)


def test_columns_with_other_names_in_the_files(tmp_path: Path, small_policy: Small) -> None:
    path = write(tmp_path / "people")

    def change(kind: str, one: dict[str, Any]) -> None:
        if kind == "metaData":
            schema = json.loads(one["schemaString"])
            for number, field in enumerate(schema["fields"], 1):
                own = {"id": number, "physicalName": field["name"]}
                field["metadata"] = {f"delta.columnMapping.{name}": value for name, value in own.items()}
                field["name"] = {"id": "n", "n": "the id"}[field["name"]]  # exchanged
            one["schemaString"] = json.dumps(schema)
            one["configuration"] = {
                "delta.columnMapping.mode": "name",
                "delta.columnMapping.maxColumnId": "2",
            }

    demand(path, "columnMapping")
    rewrite(path, change)
    frame = read(small_policy, tmp_path)
    assert frame["n"].tolist()[:3] == ["007", "8", "9"]
    assert sorted(frame["the id"].dropna()) == [4, 5, 7, 2**60 + 1]


@pytest.mark.parametrize("feature", ["brandNew", "typeWidening", "v2Checkpoint", "catalogManaged"])
def test_a_feature_that_is_not_read_right_is_refused(
    tmp_path: Path, small_policy: Small, feature: str
) -> None:
    demand(write(tmp_path / "people"), feature)
    assert refused(policy(small_policy), tmp_path).startswith("source.delta")


def test_a_version_of_the_protocol_to_come_is_refused(tmp_path: Path, small_policy: Small) -> None:
    path = write(tmp_path / "people")
    rewrite(path, lambda kind, one: one.update(minReaderVersion=9) if kind == "protocol" else None)
    assert "it needs a feature of tables that deltalake does not have" in refused(
        policy(small_policy), tmp_path
    )


@pytest.mark.parametrize("how", ["absolute", "uri", "up", "escaped", "twice", "store"])
def test_a_log_that_names_files_elsewhere_is_refused(tmp_path: Path, small_policy: Small, how: str) -> None:
    """A shallow clone names the files of its original by their absolute paths."""
    (other,) = write(tmp_path / "other").glob("*.parquet")
    path = write(tmp_path / "people")
    named = {
        "absolute": str(other),
        "uri": other.as_uri(),
        "up": f"../other/{other.name}",
        "escaped": f"%2E%2e/other/{other.name}",
        "twice": f"%252E%252e/other/{other.name}",
        "store": f"s3://{CANARY}/{other.name}",
    }[how]
    rewrite(path, lambda kind, one: one.update(path=named) if kind == "add" else None)
    assert "the log must name files within the table" in refused(policy(small_policy), tmp_path)


def test_deletion_vectors_elsewhere_are_refused(tmp_path: Path, small_policy: Small) -> None:
    path = write(tmp_path / "people")
    delete_records(path, 1, vector=vector_file(tmp_path / "vector.bin", 1))
    assert "the log must name files within the table" in refused(policy(small_policy), tmp_path)
    library().DeltaTable(str(path)).create_checkpoint()
    (path / "_delta_log" / f"{0:020d}.json").unlink()
    assert "the log must name files within the table" in refused(policy(small_policy), tmp_path)
    inside = {"storageType": "u", "pathOrInlineDv": "../x" + "0" * 20, "offset": 1, "sizeInBytes": 1}
    delete_records(write(tmp_path / "up"), 1, vector=inside)
    assert "the log must name files within the table" in refused(policy(small_policy, path="up"), tmp_path)


def test_a_link_out_of_the_table_is_refused(tmp_path: Path, small_policy: Small) -> None:
    (file,) = write(tmp_path / "people").glob("*.parquet")
    file.rename(tmp_path / "hidden.parquet")
    file.symlink_to(tmp_path / "hidden.parquet")
    assert "must have no links to files outside of the table" in refused(policy(small_policy), tmp_path)


def test_the_path_is_confined(tmp_path: Path, small_policy: Small) -> None:
    with pytest.raises(InputError, match=r"^source\.delta\.path: must stay within the folder of sources"):
        Locations(*[tmp_path] * 4).confine(policy(small_policy, path="../people"))


def test_files_that_are_gone_and_others_than_the_log_states(tmp_path: Path, small_policy: Small) -> None:
    path = write(tmp_path / "people")
    (file,) = path.glob("*.parquet")
    data = file.read_bytes()
    file.write_bytes(data + b" ")
    assert "must have data files of the sizes that the log states" in refused(policy(small_policy), tmp_path)
    file.unlink()
    assert "1 data files of this version are gone, as after a vacuum" in refused(
        policy(small_policy), tmp_path
    )
    file.write_bytes(CANARY.encode().ljust(len(data)))
    assert "the version must be complete and readable" in refused(policy(small_policy), tmp_path)
    file.write_bytes(data)
    stats = json.dumps({"numRecords": 4})
    rewrite(path, lambda kind, one: one.update(stats=stats) if kind == "add" else None)
    assert "as many records as the log states" in refused(policy(small_policy), tmp_path)


def test_a_version_that_is_not_there_and_no_table(tmp_path: Path, small_policy: Small) -> None:
    write(tmp_path / "people")
    assert "a Delta Lake table with version 7" in refused(policy(small_policy, version=7), tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text(CANARY)
    for path, said in {
        "empty": "source.delta.path: there must be a Delta Lake table, got none",
        "file": "source.delta.path: must be the folder of a Delta Lake table, got a file",
        "nowhere": "source.delta.path: there must be a file nowhere",
    }.items():
        assert said in refused(policy(small_policy, path=path), tmp_path)
    (tmp_path / "people/_delta_log" / f"{0:020d}.json").write_text(CANARY)
    assert "that the package deltalake can read" in refused(policy(small_policy), tmp_path)


def test_lists_are_refused_by_their_place(tmp_path: Path, small_policy: Small) -> None:
    write(tmp_path / "people", pa.table({"id": ["a"], "all": [[CANARY]], "two": [{"x": CANARY}]}))
    assert "source.delta, column 2, 3: must have plain values" in refused(policy(small_policy), tmp_path)


def test_the_partition_is_in_the_path(tmp_path: Path, small_policy: Small) -> None:
    write(tmp_path / "of 2026-01-05")
    found = policy(small_policy, path="of {partition}")
    assert len(read_source(found, folder=tmp_path, partition="2026-01-05")) == 5
    assert "source.delta.path: {partition} must be filled in" in refused(found, tmp_path)
    assert "there must be a file of 2026-01-06" in refused(found, tmp_path, partition="2026-01-06")


@pytest.mark.parametrize("limit", ["rows", "columns", "cell_bytes", "uncompressed_bytes", "file_bytes"])
def test_limits_are_kept(tmp_path: Path, small_policy: Small, limit: str) -> None:
    path = write(tmp_path / "people")
    most = {"rows": 4, "columns": 1, "cell_bytes": 16, "uncompressed_bytes": 20, "file_bytes": 20}
    found = policy(small_policy, limits={limit: most[limit]})
    assert f"must keep the limit {limit} ({most[limit]})" in refused(found, tmp_path)
    rewrite(path, lambda kind, one: one.update(stats=None) if kind == "add" else None)
    assert f"must keep the limit {limit} ({most[limit]})" in refused(found, tmp_path)
    assert len(read(small_policy, tmp_path, limits={"rows": 5, "columns": 2, "cell_bytes": 17})) == 5


def test_a_long_text_said_often_is_refused_before_it_is_written_out(
    tmp_path: Path, small_policy: Small
) -> None:
    often = pa.DictionaryArray.from_arrays(np.zeros(100_000, np.int32), ["x" * 100_000])  # 10 GB
    path = write(tmp_path / "people", pa.table({"id": ["x"]}))
    (file,) = path.glob("*.parquet")
    pq.write_table(pa.table({"id": often}), file, store_schema=False)
    rewrite(path, lambda kind, one: one.update(size=file.stat().st_size) if kind == "add" else None)
    rewrite(path, lambda kind, one: one.update(stats=None) if kind == "add" else None)
    assert file.stat().st_size < 10**6
    found = policy(small_policy, limits={"uncompressed_bytes": 10**8, "cell_bytes": 10**6})
    assert "must keep the limit uncompressed_bytes" in refused(found, tmp_path)


def test_a_missing_library_is_named_with_its_extra(
    tmp_path: Path, small_policy: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "people")
    monkeypatch.setitem(sys.modules, "deltalake", None)
    assert 'pip install "anon-pipeline[delta]"' in refused(policy(small_policy), tmp_path)


def test_in_portions_it_is_the_same_table(tmp_path: Path, small_policy: Small) -> None:
    write(tmp_path / "people")
    write(tmp_path / "people", PEOPLE, mode="append")
    whole = read(small_policy, tmp_path)
    found, many = read_in_portions(policy(small_policy), tmp_path)
    assert many == 2
    pd.testing.assert_frame_equal(found.sort_values(found.columns[0], ignore_index=True), whole)
    with pytest.raises(InputError, match="rows") as raised:
        read_in_portions(policy(small_policy, limits={"rows": len(whole) - 1}), tmp_path)
    assert CANARY not in str(raised.value)
