"""What `init`, `profile` and `hierarchy` can be given: each kind of source that lies on this machine."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb
import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.base.places import TableUrl
from anon_pipeline.draft.profile.source_file import read_given
from tests.cli.projects import Folder, accept_questions
from tests.iceberg_catalog import NAME, catalog_in

N = 400


@pytest.fixture
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "customer": [f"C{i:05d}" for i in rng.permutation(N)],
            "age": rng.integers(18, 90, N),
            "town": rng.choice(["Cork", "Galway", "Sligo"], N),
            "height": rng.normal(170, 9, N).round(1),
            "illness": rng.choice(["asthma", "flu", "none"], N),
        }
    )


def in_sqlite(people: pd.DataFrame, folder: Path) -> dict[str, object]:
    with sqlite3.connect(folder / "people.sqlite") as database:
        people.to_sql("people", database, index=False)
    (folder / ".env").write_text(f"PLACE=sqlite:///{folder / 'people.sqlite'}\n", encoding="utf-8")
    return {"sql": {"url_env": "PLACE", "table": "people"}}


def in_a_query(people: pd.DataFrame, folder: Path) -> dict[str, object]:
    in_sqlite(people, folder)
    return {"sql": {"url_env": "PLACE", "query": "SELECT * FROM people WHERE age > 20"}}


def in_duckdb(people: pd.DataFrame, folder: Path) -> dict[str, object]:
    with duckdb.connect(str(folder / "people.duckdb")) as database:
        database.register("frame", people)
        database.execute("CREATE TABLE people AS SELECT * FROM frame")
    return {"duckdb": {"path": "people.duckdb", "table": "people"}}


def in_iceberg(people: pd.DataFrame, folder: Path) -> dict[str, object]:
    with pytest.MonkeyPatch.context() as patch:
        catalog = catalog_in(folder, patch)
    table = pa.Table.from_pandas(people, preserve_index=False)
    catalog.create_table("shop.people", table.schema).append(table)
    return {"iceberg": {"catalog": NAME, "table": "shop.people"}}


def in_a_sheet(people: pd.DataFrame, folder: Path) -> dict[str, object]:
    with pd.ExcelWriter(folder / "people.xlsx") as book:
        people.iloc[:3].to_excel(book, sheet_name="draft", index=False)
        people.to_excel(book, sheet_name="final", index=False)
    return {"path": "people.xlsx", "format": "excel", "options": {"sheet": "final"}}


def in_partitions(people: pd.DataFrame, folder: Path) -> dict[str, object]:
    people.to_parquet(folder / "people", partition_cols=["town"], index=False)
    return {"path": "people", "format": "parquet"}


def in_lines(people: pd.DataFrame, folder: Path) -> dict[str, object]:
    people.to_json(folder / "people.jsonl", orient="records", lines=True)
    return {"path": "people.jsonl", "format": "jsonl"}


KINDS = (in_sqlite, in_a_query, in_duckdb, in_iceberg, in_a_sheet, in_partitions, in_lines)
Making = Callable[[pd.DataFrame, Path], dict[str, object]]


@pytest.mark.parametrize("make", KINDS)
def test_a_policy_for_each_kind_of_source_runs_as_proposed(
    make: Making,
    people: pd.DataFrame,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    (tmp_path / "where.yaml").write_text(yaml.safe_dump({"source": make(people, tmp_path)}), encoding="utf-8")
    monkeypatch.setenv("PLACE", f"sqlite:///{tmp_path / 'people.sqlite'}")
    monkeypatch.setenv("PYICEBERG_CATALOG__WARE_HOUSE__URI", f"sqlite:///{tmp_path / 'catalog.db'}")
    project = Folder(tmp_path, capsys, monkeypatch)
    drafted = project.call("init", "where.yaml", "--yes", "--to", "policy.yaml")
    assert drafted.code == 0, drafted.err
    written = yaml.safe_load((tmp_path / "policy.yaml").read_text(encoding="utf-8"))["attributes"]
    assert written["source"] == yaml.safe_load((tmp_path / "where.yaml").read_text())["source"]
    assert {*written["columns"]} == {*people.columns}
    assert str(tmp_path) not in (tmp_path / "policy.yaml").read_text(encoding="utf-8")
    accept_questions(tmp_path / "policy.yaml")
    made = project.call("run", "policy.yaml")
    assert made.code == 0, made.err


def written(people: pd.DataFrame) -> bytes:
    """Return a file as a colleague writes it, with a letter beyond ASCII in it."""
    changed = people.assign(town=people["town"].replace("Sligo", "Münster"))
    return changed.to_csv(index=False, sep=";").encode("cp1252")


def at_a_url(people: pd.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    fsspec.filesystem("memory").pipe_file(f"/{folder.name}/people.csv.gz", gzip.compress(written(people)))
    return f"memory://{folder.name}/people.csv.gz"


def in_yaml(people: pd.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (folder / "people.csv").write_bytes(written(people))
    (folder / "where.yaml").write_text("source: {path: people.csv}", encoding="utf-8")
    return "where.yaml"


def in_a_variable(people: pd.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PLACE", at_a_url(people, folder, monkeypatch))
    (folder / "where.yaml").write_text("source: {url_env: PLACE}", encoding="utf-8")
    return "where.yaml"


@pytest.mark.parametrize("make", [at_a_url, in_yaml, in_a_variable])
def test_how_a_file_is_written_is_found_out_wherever_it_is(
    make: Callable[[pd.DataFrame, Path, pytest.MonkeyPatch], str],
    people: pd.DataFrame,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = make(people, tmp_path, monkeypatch)
    project = Folder(tmp_path, capsys, monkeypatch)
    drafted = project.call("init", data, "--yes", *(["--to", "people.yaml"] if data == "where.yaml" else []))
    assert drafted.code == 0, drafted.err
    text = (tmp_path / "people.yaml").read_text(encoding="utf-8")
    attributes = yaml.safe_load(text)["attributes"]
    assert attributes["name"] == "people"
    assert attributes["source"]["options"] == {"sep": ";", "encoding": "cp1252"}
    assert ("if the file is read as cp1252" in " ".join(text.replace("#", "").split())) is True
    accept_questions(tmp_path / "people.yaml")
    ran = project.call("run", "people.yaml")
    assert ran.code == 0, ran.err


def test_a_folder_of_partitions_at_a_url(people: pd.DataFrame, tmp_path: Path) -> None:
    place = fsspec.filesystem("memory")
    for town, some in people.groupby("town"):
        place.pipe_file(f"/{tmp_path.name}/town={town}/part.parquet", some.drop(columns="town").to_parquet())
    given = read_given(TableUrl(f"memory://{tmp_path.name}"))
    assert (given.layout.format, sorted(given.frame["age"])) == ("parquet", sorted(people["age"]))
    assert given.source == {"url": f"memory://{tmp_path.name}", "format": "parquet"}


def test_what_a_section_says_of_a_file_is_not_found_out_again(people: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(written(people))
    said = {"path": "people.csv", "options": {"sep": ";", "encoding": "latin-1"}}
    (tmp_path / "where.yaml").write_text(yaml.safe_dump({"source": said}), encoding="utf-8")
    assert read_given(tmp_path / "where.yaml").source == said


@pytest.mark.parametrize(
    "url", ["sqlite:///people.db", "postgresql://me:CANARY@host/db", "s3://b/x?token=CANARY"]
)
@pytest.mark.parametrize("command", ["init", "profile", "hierarchy"])
def test_a_url_that_a_policy_may_not_name_is_refused_with_the_way_to_go(
    url: str,
    command: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = Folder(tmp_path, capsys, monkeypatch).call(
        command, url, *(["town"] if command == "hierarchy" else [])
    )
    assert (done.code, "docs/init.md#tables-elsewhere" in done.err) == (2, True)
    assert "CANARY" not in done.out + done.err


def test_what_is_read_is_the_table(people: pd.DataFrame, tmp_path: Path) -> None:
    given = {}
    for make in (in_duckdb, in_a_sheet):
        (tmp_path / "where.yaml").write_text(
            yaml.safe_dump({"source": make(people, tmp_path)}), encoding="utf-8"
        )
        given[make] = read_given(tmp_path / "where.yaml")
    people.to_csv(tmp_path / "people.csv", index=False)
    file = read_given(tmp_path / "people.csv")
    assert (file.source, file.layout.format) == (None, "csv")
    for one in given.values():
        assert (
            one.frame["customer"].tolist() == people["customer"].tolist() == file.frame["customer"].tolist()
        )


def test_profile_and_hierarchy_look_at_it_too(
    people: pd.DataFrame,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "where.yaml").write_text(
        yaml.safe_dump({"source": in_duckdb(people, tmp_path)}), encoding="utf-8"
    )
    project = Folder(tmp_path, capsys, monkeypatch)
    assert project.call("profile", "where.yaml", "--json-to", "profile.json").code == 0
    document = json.loads((tmp_path / "profile.json").read_text(encoding="utf-8"))
    assert (document["records"], document["layout"]["format"]) == (N, "duckdb")
    assert project.call("hierarchy", "where.yaml", "town").code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: x\nsource: {path: p.csv}\n", "must have the key source alone"),
        ("- 1\n", "must have the key source alone"),
        ("source: {path: a.csv, sql: {url_env: A, table: b}}\n", "source"),
        ("source: {path: 'p_{partition}.csv'}\n", "must name one table, got a source with partitions"),
        ("source: {path: nowhere.csv}\n", "nowhere.csv"),
        ("source: {asset: [warehouse, customers]}\n", "source"),
    ],
)
def test_what_names_no_table_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "where.yaml").write_text(text, encoding="utf-8")
    with pytest.raises((InputError, PolicyError), match=said):
        read_given(tmp_path / "where.yaml")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"where\.yaml: must be a readable file"):
        read_given(tmp_path / "where.yaml")


@pytest.mark.parametrize("elsewhere", [False, True], ids=["a file", "a URL"])
def test_of_several_sheets_it_says_how_to_name_one(
    people: pd.DataFrame, tmp_path: Path, elsewhere: bool
) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "data").mkdir()
    with pd.ExcelWriter(tmp_path / "data" / "people.xlsx") as book:
        pd.DataFrame({"read": ["me"]}).to_excel(book, sheet_name="CANARY", index=False)
        people.to_excel(book, sheet_name="Data", index=False)
    data: Path | TableUrl = tmp_path / "data" / "people.xlsx"
    if elsewhere:
        with fsspec.open("memory://sheets/people.xlsx", "wb") as file:
            file.write((tmp_path / "data" / "people.xlsx").read_bytes())
        data = TableUrl("memory://sheets/people.xlsx")
    with pytest.raises(InputError, match="has several sheets") as raised:
        read_given(data)
    assert "CANARY" not in str(raised.value) and "policy" not in str(raised.value)
    (line,) = (line for line in str(raised.value).splitlines() if line.startswith("  source: "))
    if not elsewhere:
        assert "path: data/people.xlsx" in line
        where = tmp_path / "data" / "sheet.yaml"
        where.write_text(line.strip().replace("NAME", "Data"))
        assert len(read_given(where).frame) == N
        where.write_text("source: {path: data/people.xlsx, format: excel}")
        with pytest.raises(InputError, match="does not say which to read"):
            read_given(where)
