"""Sources in portions: the cells of the table that is read as a whole, a part of it in memory at a time."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_pipeline.base.errors import InputError, PluginError, PolicyError
from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.policy import Policy
from anon_pipeline.sources import files, formats, jsonl, parquet, portions, read_source, sql, typed_cells
from anon_pipeline.sources.portions import portions_problem, read_portions
from tests.sources.in_portions import read_in_portions
from tests.sources.test_sources import policy

CANARY = "Quillfeather-4711"
LINES = ['007,"1.234,5",x', '8,,"two\nlines, and ""quotes"""', f'{CANARY},"0,5",NA', '9,7,""', "10,null,ü"]


@pytest.fixture(autouse=True)
def _few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_BLOCK", 64)
    monkeypatch.setattr(parquet, "_BATCH", 2)
    for module in (jsonl, sql):
        monkeypatch.setattr(module, "RECORDS_AT_ONCE", 2)


def same(found: Policy, folder: Path) -> int:
    """Assert that both ways give the same table, and return how many portions there were."""
    parts, many = read_in_portions(found, folder)
    whole = unpack_table(read_source(found, folder=folder))
    pd.testing.assert_frame_equal(parts, whole)
    return many


SMALL = {"line_bytes": 64}


@pytest.mark.parametrize(
    ("options", "encoding"),
    [
        ({}, "utf-8"),
        ({"decimal": ",", "missing": ["NA"]}, "utf-8-sig"),
        ({"encoding": "cp1252", "missing": ["null"]}, "cp1252"),
        ({"encoding": "utf-16"}, "utf-16"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_csv(tmp_path: Path, options: dict[str, Any], encoding: str, packed: bool) -> None:
    data = "\r\n".join(["q,x,n", *LINES * 7, ""]).encode(encoding)
    (tmp_path / "a.csv").write_bytes(gzip.compress(data) if packed else data)
    found = policy(path="a.csv", options=options, limits=SMALL)
    assert "x" in found.numeric
    assert same(found, tmp_path) > 3


def test_csv_with_one_column_and_a_title(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Report\n\nq\n007\n\n8\n")
    assert same(policy(path="a.csv", options={"skip_lines": 2}), tmp_path) == 1


def test_csv_without_records_has_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("q,x\n")
    (only,) = read_portions(policy(path="a.csv"), folder=tmp_path)
    assert only.schema == pa.schema([("q", pa.string()), ("x", pa.string())]) and not len(only)


@pytest.mark.parametrize(
    ("text", "limits", "said"),
    [
        (f"q,x\n1,2\n{CANARY}\n", {}, "every line must have as many fields as the header"),
        (f"q,x\n{CANARY},2\n", {"cell_bytes": 5}, "column 1: must keep the limit cell_bytes"),
        ("q,x\n" + "1,2\n" * 9, {"rows": 8}, "rows"),
        ('q,x\n"' + f"{CANARY}\n" * 20 + '",2\n', {"line_bytes": 32}, "line_bytes"),
        (f"q,q\n{CANARY},2\n", {}, "named once"),
        ("", {}, "must have a header line"),
    ],
)
def test_mistakes_of_csv_are_refused(tmp_path: Path, text: str, limits: dict[str, int], said: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=said) as raised:
        list(read_portions(policy(path="a.csv", limits=limits), folder=tmp_path))
    assert CANARY not in str(raised.value)
    assert raised.value.__cause__ is raised.value.__context__ is None


def test_another_format_is_refused_as_ever(tmp_path: Path) -> None:
    pq.write_table(pa.table({"q": [CANARY]}), tmp_path / "a.csv")
    with pytest.raises(InputError, match="is of the format parquet"):
        list(read_portions(policy(path="a.csv"), folder=tmp_path))
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="must be a file, got a folder"):
        list(read_portions(policy(path="folder"), folder=tmp_path))


def test_parquet_files_and_folders(tmp_path: Path) -> None:
    table = pa.table({"q": ["007", None, CANARY], "x": [1.5, None, 2.0], "n": [1, None, 3]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert same(policy(path="a.parquet", format="parquet"), tmp_path) == 2
    for month in ("01", "02"):
        (tmp_path / "all" / f"month={month}").mkdir(parents=True)
        pq.write_table(table, tmp_path / "all" / f"month={month}" / "part.parquet")
    assert same(policy(path="all", format="parquet"), tmp_path) == 4


def test_json_lines_with_names_that_come_later(tmp_path: Path) -> None:
    lines = ['{"q": "7", "x": 1}', '{"q": null}', '{"q": "NA", "y": true}', '{"x": 0.5}', '{"z": "é"}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    found = policy(path="a.jsonl", format="jsonl", options={"missing": ["NA"]})
    assert same(found, tmp_path) == 3
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, f"[{CANARY}]"]))
    with pytest.raises(InputError, match="got 1 line with something else"):
        list(read_portions(found, folder=tmp_path))


def test_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE people (q TEXT, x REAL, n INTEGER)")
        many = [("007", None, None), (CANARY, None, 2**60 + 1), ("8", 0.5, None)] * 3
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", many)
    monkeypatch.setenv("OWN_URL", f"sqlite:///{tmp_path / 'a.sqlite'}")
    wanted: dict[str, Any] = {"path": None, "sql": {"url_env": "OWN_URL", "table": "people"}}
    assert same(policy(**wanted), tmp_path) == 5
    with pytest.raises(InputError, match="rows") as raised:
        list(read_portions(policy(**wanted, limits={"rows": 8}), folder=tmp_path))
    assert CANARY not in str(raised.value)
    gone = {"path": None, "sql": {"url_env": "OWN_URL", "table": CANARY}}
    with pytest.raises(InputError, match="table or query must be there") as raised:
        list(read_portions(policy(**gone), folder=tmp_path))
    assert CANARY not in str(raised.value)


def test_a_file_of_duckdb(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs the extra duckdb")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT '0' || range AS q FROM range(50001)")
    wanted: dict[str, Any] = {"path": None, "duckdb": {"path": "a.duckdb", "table": "people"}}
    assert same(policy(**wanted), tmp_path) > 2
    with pytest.raises(InputError, match="rows"):
        list(read_portions(policy(**wanted, limits={"rows": 50_000}), folder=tmp_path))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            {"path": "a.xlsx", "format": "excel"},
            "must be one of csv, parquet, jsonl, got excel",
        ),
        ({"path": None, "generate": "patients"}, "source: must be one of path, .*, got generate"),
    ],
)
def test_other_sources_are_read_as_a_whole_only(tmp_path: Path, source: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        list(read_portions(policy(**source), folder=tmp_path))


def test_one_of_a_partition_is_not_asked_for() -> None:
    assert portions_problem(policy(path="{partition}.csv")) == "source: must name no partition"
    assert portions_problem(policy(path="a.csv")) is None


def test_what_a_plugin_yields_is_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portions, "is_plugin", lambda place: True)
    monkeypatch.setattr(portions, "import_entry", lambda place: lambda policy, folder: [{"q": CANARY}])
    with pytest.raises(PluginError, match="must yield tables of Arrow, got dict") as raised:
        list(read_portions(policy(path="a.csv"), folder=tmp_path))
    assert CANARY not in str(raised.value)


def test_the_functions_of_formats_get_what_is_packed(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"q,x\n1,2\n"))
    found = formats.file_portions("csv", tmp_path / "a.csv.gz", *plain_options())
    assert [len(table) for table in found] == [0, 1]


def plain_options() -> tuple[Any, Any, tuple[str, ...]]:
    source = policy(path="a.csv").source
    return source.options, source.limits, ()


def test_cells_that_were_taken_are_not_kept() -> None:
    cells = typed_cells.Cells("a", ["q"], plain_options()[1])
    cells.add([[1, 2]])
    assert cells.take().to_pylist() == [{"q": 1}, {"q": 2}]
    cells.add([["x"]])
    assert cells.take().to_pylist() == [{"q": "x"}]
    assert not len(cells.take())
