"""Tables and queries of a file of DuckDB: types, one version, nothing outside of it, nothing quoted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import InputError, Locations
from anon_pipeline.policy import Policy
from anon_pipeline.sources import read_source

CANARY = "Quillfeather-4711"
Small = Callable[..., Policy]


def policy(small_policy: Small, **wanted: Any) -> Policy:
    limits = wanted.pop("limits", {})
    source = {"path": None, "duckdb": {"path": "ware house.duckdb", **wanted}, "limits": limits}
    return small_policy(source=source, schedule={"cron": "0 3 * * 1", "partitions": "daily"})


@pytest.fixture
def duckdb() -> Any:
    """The library, imported late: what tests import early is frozen, which it tells of as leaks."""
    return pytest.importorskip("duckdb", reason="needs the extra duckdb")


@pytest.fixture
def folder(tmp_path: Path, duckdb: Any) -> Path:
    with duckdb.connect(str(tmp_path / "ware house.duckdb")) as connection:
        connection.execute("CREATE TABLE people (id VARCHAR, n BIGINT, x DOUBLE)")
        connection.execute(
            "INSERT INTO people VALUES ('007', 7, 0.5), ('8', NULL, 1.0), (?, ?, NULL)", [CANARY, 2**60 + 1]
        )
        connection.execute('CREATE SCHEMA "of Wards"')
        connection.execute('CREATE TABLE "of Wards"."Be""ds" AS SELECT 1 AS "Bed"')
        connection.execute("CREATE TABLE many AS SELECT range AS i FROM range(50001)")
    (tmp_path / "secret.csv").write_text(f"a\n{CANARY}\n")
    return tmp_path


def refused(found: Policy, folder: Path, **how: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_source(found, folder=folder, **how)
    assert CANARY not in str(caught.value)
    assert str(folder) not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    return str(caught.value)


def test_a_table(folder: Path, small_policy: Small) -> None:
    frame = read_source(policy(small_policy, table="people"), folder=folder)
    assert frame["id"].tolist() == ["007", "8", CANARY]
    assert frame["n"].tolist() == [7, None, 2**60 + 1]
    assert frame["x"].iloc[:2].tolist() == [0.5, 1.0]
    whole = read_source(policy(small_policy, table=["of Wards", 'Be"ds']), folder=folder)
    assert whole.to_dict("list") == {"Bed": [1]}
    assert read_source(policy(small_policy, table="many"), folder=folder)["i"].tolist() == list(range(50_001))


def test_a_query_and_its_types(folder: Path, small_policy: Small) -> None:
    query = """SELECT 1.50::DECIMAL(5,2) AS money, date '2024-01-31' AS day, 'a'::ENUM('a', 'b') AS kind,
        2::HUGEINT AS h"""
    (row,) = read_source(policy(small_policy, query=query), folder=folder).to_dict("records")
    assert row["money"] == Decimal("1.50")
    assert pd.Timestamp(row["day"]) == pd.Timestamp(2024, 1, 31)
    assert (row["kind"], row["h"]) == ("a", 2)


def test_the_partition_is_a_parameter_or_in_the_path(folder: Path, small_policy: Small) -> None:
    found = policy(small_policy, query="SELECT n FROM people WHERE id = $partition")
    assert read_source(found, folder=folder, partition="007")["n"].tolist() == [7]
    assert "source.duckdb.query: $partition must be filled in" in refused(found, folder)
    (folder / "ware house.duckdb").rename(folder / "2026-01-05.duckdb")
    found = policy(small_policy, path="{partition}.duckdb", table="people")
    assert len(read_source(found, folder=folder, partition="2026-01-05")) == 3
    assert "source.duckdb.path: there must be a file 2026-01-06.duckdb" in refused(
        found, folder, partition="2026-01-06"
    )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('{folder}/secret.csv')",
        "FROM '{folder}/secret.csv'",
        "SELECT content FROM read_text('{folder}/secret.csv')",
        "SELECT * FROM glob('{folder}/*')",
        "COPY people TO '{folder}/out.csv'",
        "ATTACH '{folder}/other.duckdb'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "DELETE FROM people",
        "CREATE TABLE other (a INT)",
        "SELECT 1; SELECT 2",
        "",
    ],
)
def test_a_query_stays_within_its_file_and_writes_nothing(
    folder: Path, small_policy: Small, query: str
) -> None:
    if query:
        refused(policy(small_policy, query=query.format(folder=folder)), folder)
    assert sorted(path.name for path in folder.iterdir()) == ["secret.csv", "ware house.duckdb"]
    assert len(read_source(policy(small_policy, table="people"), folder=folder)) == 3


def test_the_path_is_confined(folder: Path, small_policy: Small) -> None:
    found = policy(small_policy, path="../other.duckdb", table="people")
    with pytest.raises(InputError, match=r"^source\.duckdb\.path: must stay within the folder of sources"):
        Locations(folder, folder, folder, folder).confine(found)


@pytest.mark.parametrize(
    "wanted",
    [
        {"table": CANARY},
        {"query": f"SELECT '{CANARY}"},
        {"query": "SELECT id::INTEGER FROM people"},
        {"query": f'SELECT 1 AS "{CANARY}", 2 AS "{CANARY}"'},
    ],
)
def test_what_duckdb_says_of_a_mistake_is_withheld(
    folder: Path, small_policy: Small, wanted: dict[str, str]
) -> None:
    assert refused(policy(small_policy, **wanted), folder).startswith("source.duckdb: ")


def test_another_file_and_one_that_somebody_writes_to(folder: Path, small_policy: Small, duckdb: Any) -> None:
    found = policy(small_policy, table="people")
    with duckdb.connect(str(folder / "ware house.duckdb")):
        assert "must be a DuckDB file that nobody writes to" in refused(found, folder)
    (folder / "ware house.duckdb").write_text(CANARY)
    assert "must be a DuckDB file that nobody writes to" in refused(found, folder)


def test_a_missing_library_is_named_with_its_extra(
    folder: Path, small_policy: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert 'pip install "anon-pipeline[duckdb]"' in refused(policy(small_policy, table="people"), folder)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"rows": 2}, "rows"),
        ({"columns": 2}, "columns"),
        ({"cell_bytes": 5}, "cell_bytes"),
        ({"uncompressed_bytes": 20}, "uncompressed_bytes"),
        ({"file_bytes": 20}, "file_bytes"),
    ],
)
def test_limits_are_kept(folder: Path, small_policy: Small, limits: dict[str, int], message: str) -> None:
    assert f"must keep the limit {message}" in refused(
        policy(small_policy, table="people", limits=limits), folder
    )
