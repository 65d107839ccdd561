"""The sensor asks for a run when a source file is new and whole."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import fsspec
import pandas as pd
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from anon_pipeline.orchestration.resources import FOLDERS
from tests.iceberg_catalog import NAME, catalog_in

Make = Callable[..., Any]
WEEKLY = {"cron": "0 3 * * 1", "partitions": "weekly", "start": "2026-01-05"}


def look(made: Any, cursor: str | None) -> tuple[list[tuple[str | None, str | None]], str | None]:
    """Return the partitions that are asked for with their run keys, and the cursor."""
    repository = made.definitions.get_repository_def()
    sensor = repository.get_sensor_def("small_new_files")
    assert sensor.default_status is dg.DefaultSensorStatus.STOPPED
    context = dg.build_sensor_context(
        cursor=cursor,
        repository_def=repository,
        instance=made.instance,
        resources={FOLDERS: made.definitions.resources[FOLDERS]},
    )
    found = sensor.evaluate_tick(context)
    return [(one.partition_key, one.run_key) for one in found.run_requests or []], found.cursor


def aged(path: Any, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_a_file_is_asked_for_once_when_it_is_whole(project: Make) -> None:
    made = project()
    path = made.folder / "people.csv"
    assert look(made, None)[0] == []  # it may still be written
    aged(path, 3600)
    (asked,), cursor = look(made, None)
    assert asked[0] is None
    assert look(made, cursor)[0] == []
    aged(path, 1800)
    (again,), _ = look(made, cursor)
    assert again[1] != asked[1]


def test_each_partition_has_its_file(project: Make) -> None:
    made = project(schedule=WEEKLY, source={"path": "people-{partition}.csv"})
    for week in ("2026-01-05", "2026-01-12", "2026-01-13"):
        path = made.folder / f"people-{week}.csv"
        path.write_bytes((made.folder / "people.csv").read_bytes())
        aged(path, 3600)
    asked, cursor = look(made, None)
    assert [key for key, _ in asked] == ["2026-01-05", "2026-01-12"]
    assert made.run("small_release", partition=asked[0][0]).success
    assert look(made, cursor)[0] == []


def test_a_folder_is_new_when_any_file_below_it_is(project: Make) -> None:
    made = project(source={"path": "people", "format": "parquet"})
    month = made.folder / "people" / "month=01"
    month.mkdir(parents=True)
    assert look(made, None)[0] == []  # empty
    people = pd.read_csv(made.folder / "people.csv")
    people.to_parquet(month / "a.parquet")
    for path in (month, month.parent):
        aged(path, 7200)
    assert look(made, None)[0] == []  # it may still be written
    aged(month / "a.parquet", 3600)
    (_,), cursor = look(made, None)
    assert look(made, cursor)[0] == []
    people.to_parquet(month / "b.parquet")
    aged(month / "b.parquet", 5000)  # older than the other, and the folders have the time of before
    for path in (month, month.parent):
        aged(path, 7200)
    (_,), cursor = look(made, cursor)
    people.head(100).to_parquet(month / "a.parquet")  # in its own place
    aged(month / "a.parquet", 1800)
    assert len(look(made, cursor)[0]) == 1


def test_a_source_elsewhere_is_asked_for_once_a_version(project: Make) -> None:
    fs = fsspec.filesystem("memory")
    made = project(source={"path": None, "url": "memory://new-files/people.csv"})
    assert look(made, None)[0] == []
    try:
        fs.pipe_file("/new-files/people.csv", (made.folder / "people.csv").read_bytes())
        (asked,), cursor = look(made, None)
        assert "memory" not in str(asked[1])
        assert look(made, cursor)[0] == []
        fs.pipe_file("/new-files/people.csv", b"person,age\n")
        assert len(look(made, cursor)[0]) == 1
    finally:
        fs.rm("/new-files", recursive=True)


def test_a_table_with_snapshots_is_asked_for_once_a_snapshot(
    project: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = catalog_in(tmp_path, monkeypatch)
    place = {"catalog": NAME, "table": "shop.people"}
    made = project(source={"path": None, "iceberg": place})
    assert look(made, None)[0] == []  # there is no table
    people = pa.Table.from_pandas(pd.read_csv(made.folder / "people.csv"), preserve_index=False)
    table = catalog.create_table("shop.people", people.schema)
    table.append(people)
    (asked,), cursor = look(made, None)
    assert str(asked[1]) == f"@{table.current_snapshot().snapshot_id}"
    assert look(made, cursor)[0] == []
    table.append(people)
    assert len(look(made, cursor)[0]) == 1
    named = project(schedule=WEEKLY, source={"path": None, "iceberg": {**place, "ref": "{partition}"}})
    assert not list(named.definitions.sensors or [])


def test_a_new_version_of_a_delta_lake_table_is_a_new_source(project: Make) -> None:
    made = project(source={"path": None, "delta": {"path": "lake"}})
    assert look(made, None)[0] == []  # there is no table
    people = pa.Table.from_pandas(pd.read_csv(made.folder / "people.csv"), preserve_index=False)
    write_deltalake(str(made.folder / "lake"), people)
    (asked,), cursor = look(made, None)
    assert asked[1] == "@0"
    assert look(made, cursor)[0] == []
    write_deltalake(str(made.folder / "lake"), people, mode="append")
    assert [key for _, key in look(made, cursor)[0]] == ["@1"]
    pinned = project(source={"path": None, "delta": {"path": "lake", "version": 0}})
    assert look(pinned, cursor)[0] == []
    named = project(schedule=WEEKLY, source={"path": None, "delta": {"path": "{partition}"}})
    assert not list(named.definitions.sensors or [])


def test_without_a_file_for_each_run_there_is_no_sensor(project: Make) -> None:
    assert not list(project(schedule=WEEKLY).definitions.sensors or [])
