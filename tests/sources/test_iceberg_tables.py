"""Tables of Apache Iceberg: types, snapshots, deletes, limits; nothing written, nothing quoted."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_pipeline import InputError
from anon_pipeline.policy import Policy
from anon_pipeline.sources import read_source
from anon_pipeline.sources.iceberg_tables import iceberg_version
from tests.iceberg_catalog import NAME, catalog_at, catalog_in, files_in
from tests.sources.in_portions import read_in_portions

CANARY = "Quillfeather-4711"
Small = Callable[..., Policy]
PEOPLE = pa.table({"id": ["007", "8", CANARY], "n": pa.array([7, None, 2**60 + 1], pa.int64())})


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    return catalog_in(tmp_path, monkeypatch)


@pytest.fixture
def people(catalog: Any) -> Any:
    """Return the table ``shop.people``."""
    table = catalog.create_table("shop.people", PEOPLE.schema)
    table.append(PEOPLE)
    return table


def policy(small_policy: Small, *, limits: dict[str, int] | None = None, **wanted: Any) -> Policy:
    place = {"catalog": NAME, "table": "shop.people", **wanted}
    source = {"path": None, "iceberg": place, "limits": limits or {}}
    return small_policy(source=source, schedule={"cron": "0 3 * * 1", "partitions": "daily"})


def refused(found: Policy, folder: Path, **how: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_source(found, **how)
    assert CANARY not in str(caught.value)
    assert str(folder) not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    return str(caught.value)


def test_a_table_and_nothing_is_written(small_policy: Small, people: Any, tmp_path: Path) -> None:
    before = files_in(tmp_path)
    frame = read_source(policy(small_policy, table=["shop", "people"]))
    assert frame["id"].tolist() == ["007", "8", CANARY]
    assert frame["n"].tolist() == [7, None, 2**60 + 1]
    assert files_in(tmp_path) == before


def test_a_catalog_in_postgresql_and_files_in_s3(
    small_policy: Small, postgres_url: str, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = catalog_at(postgres_url, s3, monkeypatch).create_table("shop.people", PEOPLE.schema)
    table.append(PEOPLE)
    assert read_source(policy(small_policy))["id"].tolist() == ["007", "8", CANARY]
    (task,) = table.scan().plan_files()
    table.io.delete(task.file.file_path)
    with pytest.raises(InputError, match=r"the table's files must be there .*: it is not there$") as caught:
        read_source(policy(small_policy))
    assert s3 not in str(caught.value)


def test_a_table_without_a_snapshot_has_its_columns(small_policy: Small, catalog: Any) -> None:
    catalog.create_table("shop.people", PEOPLE.schema)
    frame = read_source(policy(small_policy))
    assert (list(frame), len(frame)) == (["id", "n"], 0)


def test_the_library_says_nothing_meanwhile(
    small_policy: Small, people: Any, caplog: pytest.LogCaptureFixture
) -> None:
    read_source(policy(small_policy))
    assert caplog.messages == []


def test_columns_and_partitions_have_their_types(small_policy: Small, catalog: Any) -> None:
    from pyiceberg.transforms import IdentityTransform

    days = [datetime.date(2026, 1, day) for day in (1, 2, 1)]
    ids = [uuid.UUID(int=n) for n in range(3)]
    columns = {
        "day": pa.array(days),
        "ward": pa.array(["01", "2", None]),
        "money": pa.array([Decimal("1.50"), None, Decimal("2.00")], pa.decimal128(9, 2)),
        "at": pa.array([datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)] * 3, pa.timestamp("us", "UTC")),
        "is": pa.array([True, None, False]),
        "who": pa.array([one.bytes for one in ids], pa.uuid()),
    }
    table = catalog.create_table("shop.people", pa.table(columns).schema)
    with table.update_spec() as spec:
        spec.add_field("day", IdentityTransform(), "day")
        spec.add_field("ward", IdentityTransform(), "ward")
    table.append(pa.table(columns))
    assert len(list(table.scan().plan_files())) == 3
    frame = read_source(policy(small_policy)).sort_values("who", ignore_index=True)
    assert frame["day"].tolist() == days
    assert frame["ward"].tolist()[:2] == ["01", "2"] and pd.isna(frame["ward"][2])
    assert frame["money"].tolist() == [Decimal("1.50"), None, Decimal("2.00")]
    assert frame["at"].tolist() == [pd.Timestamp("2026-01-01", tz="UTC")] * 3
    assert frame["is"].tolist() == [True, None, False]
    assert frame["who"].tolist() == [str(one) for one in ids]


def test_a_column_that_came_later_is_missing_before(small_policy: Small, people: Any) -> None:
    from pyiceberg.types import StringType

    with people.update_schema() as schema:
        schema.add_column("town", StringType())
        schema.rename_column("n", "number")
    people.append(pa.table({"id": ["9"], "number": [9], "town": ["Cork"]}))
    frame = read_source(policy(small_policy)).sort_values("id", ignore_index=True)
    assert frame["number"].tolist() == [7, None, 9, 2**60 + 1]
    assert frame["town"].fillna("").tolist() == ["", "", "Cork", ""]


def test_a_snapshot_a_branch_and_a_tag(small_policy: Small, people: Any) -> None:
    first = people.current_snapshot().snapshot_id
    people.manage_snapshots().create_tag(first, "2026-01-05").commit()
    people.append(PEOPLE)
    people.manage_snapshots().create_branch(first, "audited").commit()
    found = {
        len(read_source(policy(small_policy, **wanted)))
        for wanted in ({"snapshot": first}, {"ref": "audited"}, {"ref": "2026-01-05"})
    }
    assert found == {3}
    assert len(read_source(policy(small_policy))) == 6
    assert len(read_source(policy(small_policy, ref="{partition}"), partition="2026-01-05")) == 3


def test_the_partition_is_in_the_name_of_the_table(small_policy: Small, catalog: Any, tmp_path: Path) -> None:
    catalog.create_table("shop.day_2026-01-05", PEOPLE.schema).append(PEOPLE)
    found = policy(small_policy, table="shop.day_{partition}")
    assert len(read_source(found, partition="2026-01-05")) == 3
    assert "source.iceberg.table: must be a table of the catalog, got none" in refused(
        found, tmp_path, partition="2026-01-06"
    )
    assert "source.iceberg.table: {partition} must be filled in" in refused(found, tmp_path)


def test_its_version_is_the_snapshot_that_is_read(small_policy: Small, people: Any) -> None:
    first = str(people.current_snapshot().snapshot_id)
    assert iceberg_version(policy(small_policy).source.place, Path()) == first
    people.append(PEOPLE)
    current = str(people.current_snapshot().snapshot_id)
    assert iceberg_version(policy(small_policy).source.place, Path()) == current
    assert iceberg_version(policy(small_policy, snapshot=int(first)).source.place, Path()) == first


def test_deleted_records_are_not_read(small_policy: Small, people: Any) -> None:
    people.delete("id = '8'")
    assert read_source(policy(small_policy))["id"].tolist() == ["007", CANARY]


def with_deletes(people: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the table have a file that deletes its second record, as engines write them."""
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.table import DataScan

    (task,) = people.scan().plan_files()
    path = task.file.file_path.replace(".parquet", "-deletes.parquet")
    deletes = pa.table({"file_path": [task.file.file_path], "pos": pa.array([1], pa.int64())})
    with people.io.new_output(path).create() as stream:
        pq.write_table(deletes, stream)
    size = len(people.io.new_input(path))
    content = DataFileContent.POSITION_DELETES
    task.delete_files.add(
        DataFile.from_args(
            content=content,
            file_path=path,
            file_format=FileFormat.PARQUET,
            record_count=1,
            file_size_in_bytes=size,
        )
    )
    if kind == "equality":

        def plan(self: Any) -> Any:
            raise ValueError(f"PyIceberg does not yet support equality deletes {CANARY}")

        monkeypatch.setattr(DataScan, "plan_files", plan)
    else:
        monkeypatch.setattr(DataScan, "plan_files", lambda self: [task])


def test_positions_that_are_deleted_are_left_out(
    small_policy: Small, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_deletes(people, "positions", monkeypatch)
    assert read_source(policy(small_policy))["id"].tolist() == ["007", CANARY]


def test_deletes_by_equality_are_refused(
    small_policy: Small, people: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_deletes(people, "equality", monkeypatch)
    assert "have no deletes by equality: ValueError" in refused(policy(small_policy), tmp_path)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"table": f"shop.{CANARY}"}, "source.iceberg.table: must be a table of the catalog, got none"),
        ({"table": f"{CANARY}.people"}, "source.iceberg.table: must be a table of the catalog, got none"),
        (
            {"snapshot": 4711},
            "source.iceberg.snapshot: must be a snapshot that the table has, got none",
        ),
        ({"ref": CANARY}, "source.iceberg.ref: must be a branch or tag that the table has, got none"),
        ({"catalog": "other"}, "PYICEBERG_CATALOG__OTHER__URI is not set"),
    ],
)
def test_what_is_not_there_is_named(
    small_policy: Small, people: Any, tmp_path: Path, wanted: dict[str, Any], said: str
) -> None:
    assert said in refused(policy(small_policy, **wanted), tmp_path)


def test_a_snapshot_that_expired(small_policy: Small, people: Any, tmp_path: Path) -> None:
    first = people.current_snapshot().snapshot_id
    people.append(PEOPLE)
    people.maintenance.expire_snapshots().by_id(first).commit()
    assert "source.iceberg.snapshot: must be a snapshot that the table has" in refused(
        policy(small_policy, snapshot=first), tmp_path
    )


@pytest.mark.parametrize("pattern", ["*.parquet", "*-m0.avro", "snap-*.avro", "*.metadata.json"])
@pytest.mark.parametrize("damage", ["gone", "other bytes"])
def test_a_file_that_is_gone_or_damaged(
    small_policy: Small, people: Any, tmp_path: Path, pattern: str, damage: str
) -> None:
    for path in tmp_path.rglob(pattern):
        if damage == "gone":
            path.unlink()
        else:
            path.write_bytes(CANARY.encode() * 9)
    said = refused(policy(small_policy), tmp_path)
    where = "table's metadata be readable" if pattern.endswith("json") else "table's files must be there"
    assert where in said
    if damage == "gone":
        assert said.endswith(": it is not there")


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"rows": 2}, "rows (2), got 3"),
        ({"columns": 1}, "columns (1), got 2"),
        ({"cell_bytes": 5}, "cell_bytes"),
        ({"uncompressed_bytes": 20}, "uncompressed_bytes"),
        ({"file_bytes": 20}, "file_bytes"),
    ],
)
def test_limits_are_kept(
    small_policy: Small, people: Any, tmp_path: Path, limits: dict[str, int], message: str
) -> None:
    assert f"must keep the limit {message}" in refused(policy(small_policy, limits=limits), tmp_path)


def test_a_text_that_is_repeated_counts_as_often_as_it_stands_there(
    small_policy: Small, catalog: Any, tmp_path: Path
) -> None:
    long = pa.table({"id": ["x" * 10_000] * 1_000})
    catalog.create_table("shop.people", long.schema).append(long)
    stored = sum(path.stat().st_size for path in tmp_path.rglob("*.parquet"))
    assert stored < 100_000
    assert "uncompressed_bytes (1,000,000), got more" in refused(
        policy(small_policy, limits={"uncompressed_bytes": 1_000_000}), tmp_path
    )
    assert read_source(policy(small_policy))["id"].tolist() == long["id"].to_pylist()


def test_what_the_table_has_noted_is_not_trusted(
    small_policy: Small, people: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyiceberg.manifest import DataFile

    monkeypatch.setattr(DataFile, "record_count", property(lambda self: -5))
    monkeypatch.setattr(DataFile, "file_size_in_bytes", property(lambda self: 0))
    for limits in ({"rows": 2}, {"file_bytes": 20}, {"uncompressed_bytes": 20}):
        assert f"must keep the limit {next(iter(limits))}" in refused(
            policy(small_policy, limits=limits), tmp_path
        )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"file_format": SimpleNamespace(name="ORC")}, "the table's files must be Parquet files"),
        ({"file_path": f"/etc/{CANARY}"}, "must not name files of this machine"),
        ({"file_path": f"file:///etc/{CANARY}"}, "must not name files of this machine"),
    ],
)
def test_other_files_are_refused_before_one_is_opened(
    small_policy: Small,
    people: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    said: str,
) -> None:
    from pyiceberg.table import DataScan, Table

    file = {
        "file_path": "s3://b/a.parquet",
        "file_format": SimpleNamespace(name="PARQUET"),
        "record_count": 1,
        "file_size_in_bytes": 1,
    }
    task = SimpleNamespace(file=SimpleNamespace(**file | changes), delete_files=[])
    monkeypatch.setattr(DataScan, "plan_files", lambda self: [task])
    load = type(people.catalog).load_table

    def elsewhere(self: Any, name: Any) -> Table:
        table = load(self, name)
        table.metadata_location = "s3://b/a.metadata.json"
        return table

    monkeypatch.setattr(type(people.catalog), "load_table", elsewhere)
    assert said in refused(policy(small_policy), tmp_path)


def test_in_portions_it_is_the_same_table(small_policy: Small, people: Any) -> None:
    people.append(PEOPLE)
    whole = read_source(policy(small_policy))
    found, many = read_in_portions(policy(small_policy))
    assert many == 2
    pd.testing.assert_frame_equal(found, whole)
    with pytest.raises(InputError, match="rows") as raised:
        read_in_portions(policy(small_policy, limits={"rows": 5}))
    assert CANARY not in str(raised.value)
