"""Tables and queries of real databases: types, one version, nothing written, nothing quoted."""

from __future__ import annotations

import datetime
import sqlite3
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy import Policy
from anon_pipeline.sources import read_source, sql

CANARY = "Quillfeather-4711"
VARIABLE = "WAREHOUSE_URL"
ROWS = [("007", 7, 0.5), ("8", None, 1.0), (CANARY, 2**60 + 1, None)]

Small = Callable[..., Policy]


def policy(small_policy: Small, **wanted: Any) -> Policy:
    limits = wanted.pop("limits", {})
    source = {"path": None, "sql": {"url_env": VARIABLE, **wanted}, "limits": limits}
    return small_policy(source=source, schedule={"cron": "0 3 * * 1", "partitions": "daily"})


@pytest.fixture
def lite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of SQLite, which the environment names."""
    path = tmp_path / "ware house.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (id TEXT, n INTEGER, x REAL)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
    connection.close()
    monkeypatch.setenv(VARIABLE, f"sqlite:///{path}")
    return path


@pytest.fixture
def postgres(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Engine]:
    """A database of a real server, which the environment names."""
    monkeypatch.setenv(VARIABLE, postgres_url)
    engine = sa.create_engine(sa.make_url(postgres_url).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE people (id text, n bigint, x double precision)")
        connection.exec_driver_sql("INSERT INTO people VALUES (%s, %s, %s)", ROWS)
        connection.exec_driver_sql('CREATE SCHEMA "of Wards"')
        connection.exec_driver_sql('CREATE TABLE "of Wards"."Beds" AS SELECT 1 AS "Bed"')
    yield engine
    engine.dispose()


def refused(found: Policy, **how: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_source(found, **how)
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    return str(caught.value)


def _same(frame: pd.DataFrame) -> None:
    assert frame["id"].tolist() == ["007", "8", CANARY]
    assert frame["n"].tolist() == [7, None, 2**60 + 1]
    assert frame["x"].iloc[:2].tolist() == [0.5, 1.0]
    assert frame["x"].isna().iloc[2]


def test_a_table_of_sqlite(lite: Path, small_policy: Small) -> None:
    _same(read_source(policy(small_policy, table="people")))


def test_a_table_of_postgresql(postgres: sa.Engine, small_policy: Small) -> None:
    _same(read_source(policy(small_policy, table="people")))
    frame = read_source(policy(small_policy, table=["of Wards", "Beds"]))
    assert frame.to_dict("list") == {"Bed": [1]}


def test_types_of_postgresql(postgres: sa.Engine, small_policy: Small) -> None:
    query = """SELECT 1.50::numeric AS money, date '2024-01-31' AS day,
        timestamp '2024-01-31 13:05' AS moment,
        true AS yes, 'a'::char(3) AS padded, NULL::text AS none, 1::smallint AS little,
        '00000000-0000-0000-0000-000000000001'::uuid AS one"""
    (row,) = read_source(policy(small_policy, query=query)).to_dict("records")
    assert row["money"] == Decimal("1.50")
    assert row["day"] == datetime.date(2024, 1, 31)
    assert row["moment"] == pd.Timestamp(2024, 1, 31, 13, 5)
    assert (row["yes"], row["padded"], row["little"]) == (True, "a  ", 1)
    assert row["none"] is None
    assert row["one"] == "00000000-0000-0000-0000-000000000001"


def test_a_query_with_the_partition_as_its_parameter(lite: Path, small_policy: Small) -> None:
    found = policy(small_policy, query="SELECT id, n AS b FROM people WHERE id = :partition")
    assert read_source(found, partition="007").to_dict("list") == {"id": ["007"], "b": [7]}
    assert len(read_source(found, partition="2026-01-05")) == 0
    assert refused(found) == "source.sql.query: :partition must be filled in, got no partition"


def test_a_query_of_postgresql_with_the_partition(postgres: sa.Engine, small_policy: Small) -> None:
    query = "SELECT id FROM people WHERE date '2026-01-05' = cast(:partition AS date)"
    assert len(read_source(policy(small_policy, query=query), partition="2026-01-05")) == 3
    assert len(read_source(policy(small_policy, query=query), partition="2026-01-06")) == 0


def test_a_column_of_sqlite_may_hold_several_types(lite: Path, small_policy: Small) -> None:
    query = "SELECT '007' AS mixed UNION ALL SELECT 7 UNION ALL SELECT 0.5 ORDER BY 1"
    assert sorted(read_source(policy(small_policy, query=query))["mixed"]) == ["0.5", "007", "7"]


@pytest.mark.parametrize("server", ["lite", "postgres"])
def test_many_records_in_pieces(server: str, request: pytest.FixtureRequest, small_policy: Small) -> None:
    request.getfixturevalue(server)
    step = "SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 50001"
    series = f"WITH RECURSIVE s(i) AS ({step}) SELECT i FROM s"
    frame = read_source(policy(small_policy, query=series))
    assert frame["i"].tolist() == list(range(1, 50_002))


class _Between:
    """Cells that let somebody else write between two pieces."""

    def __init__(self, write: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
        whole = sql.Cells.add
        self.written = 0

        def add(cells: Any, columns: Any) -> None:
            whole(cells, columns)
            if not self.written:
                self.written += 1
                write()

        monkeypatch.setattr(sql.Cells, "add", add)
        monkeypatch.setattr(sql, "RECORDS_AT_ONCE", 1)


def test_postgresql_is_read_in_one_version(
    postgres: sa.Engine, small_policy: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write() -> None:
        with postgres.begin() as connection:
            connection.exec_driver_sql("INSERT INTO people SELECT id || 'x', n, x FROM people")
            connection.exec_driver_sql("DELETE FROM people WHERE id = '8'")

    between = _Between(write, monkeypatch)
    _same(read_source(policy(small_policy, table="people")))
    assert between.written == 1
    assert len(read_source(policy(small_policy, table="people"))) == 5


def test_sqlite_is_read_in_one_version(
    lite: Path, small_policy: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite3.connect(lite) as connection:
        connection.execute("PRAGMA journal_mode=WAL")  # else a writer waits for the reader
        connection.commit()

        def write() -> None:
            connection.execute("DELETE FROM people WHERE id = '8'")
            connection.commit()

        between = _Between(write, monkeypatch)
        _same(read_source(policy(small_policy, table="people")))
        assert between.written == 1
        assert len(read_source(policy(small_policy, table="people"))) == 2
    connection.close()


@pytest.mark.parametrize("server", ["lite", "postgres"])
@pytest.mark.parametrize("statement", ["DELETE FROM people", "CREATE TABLE other (a int)"])
def test_nothing_is_written(
    server: str, statement: str, request: pytest.FixtureRequest, small_policy: Small
) -> None:
    request.getfixturevalue(server)
    refused(policy(small_policy, query=statement))
    _same(read_source(policy(small_policy, table="people")))


def test_a_file_of_sqlite_that_is_not_there_is_not_made(
    tmp_path: Path, small_policy: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f"sqlite:///{tmp_path}/gone.sqlite")
    assert "must be reachable" in refused(policy(small_policy, table="people"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("server", ["lite", "postgres"])
@pytest.mark.parametrize(
    "wanted",
    [
        {"table": CANARY},
        {"table": [CANARY, "people"]},
        {"query": f"SELECT '{CANARY}' FROM nowhere"},
        {"query": f"SELECT '{CANARY}"},
        {"query": f'SELECT \'{CANARY}\' AS "{CANARY}", 2 AS "{CANARY}"'},
    ],
)
def test_what_a_database_says_of_a_mistake_is_withheld(
    server: str, wanted: dict[str, str], request: pytest.FixtureRequest, small_policy: Small
) -> None:
    request.getfixturevalue(server)
    assert refused(policy(small_policy, **wanted)).startswith("source.sql")


def test_a_cell_that_postgresql_quotes_is_withheld(postgres: sa.Engine, small_policy: Small) -> None:
    said = refused(policy(small_policy, query="SELECT cast(id AS integer) FROM people ORDER BY id DESC"))
    assert said == "source.sql: table or query must be there, correct, and readable: DataError"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (f"postgresql://{CANARY}:{CANARY}@127.0.0.1:1/{CANARY}?connect_timeout=2", "must be reachable"),
        (CANARY, "source.sql.url_env: must hold a URL as SQLAlchemy writes it"),
        (f"{CANARY}://host/base", "source.sql.url_env: "),
        (f"postgresql://{CANARY}:{CANARY}@127.0.0.1:port/base", "must hold a URL as SQLAlchemy writes it"),
        (
            f"dialectof{CANARY.lower()[:5]}://{CANARY}@host/base",
            "the driver of the database must be installed",
        ),
        (
            f"mysql+pymysql://{CANARY}@host/base",
            "the driver of the database must be installed: pip install pymysql",
        ),
        ("", "the environment variable WAREHOUSE_URL is not set: it must hold a URL"),
    ],
)
def test_no_credential_is_in_a_message(
    url: str, message: str, small_policy: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, url)
    assert message in refused(policy(small_policy, table="people"))


def test_a_wrong_password_is_not_repeated(
    postgres_url: str, small_policy: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server of the tests trusts everybody: a login that it does not know is what it refuses."""
    place = sa.make_url(postgres_url).set(username=CANARY, password=CANARY)
    monkeypatch.setenv(VARIABLE, place.render_as_string(hide_password=False))
    said = refused(policy(small_policy, table="people"))
    assert said.endswith("must be reachable, and accept the login of the URL: OperationalError")


def test_a_missing_driver_is_named_with_its_extra(
    small_policy: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setenv(VARIABLE, f"postgresql://{CANARY}@host/base")
    assert 'pip install "anon-pipeline[postgres]"' in refused(policy(small_policy, table="people"))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"rows": 2}, "rows"),
        ({"columns": 2}, "columns"),
        ({"cell_bytes": 5}, "cell_bytes"),
        ({"uncompressed_bytes": 20}, "uncompressed_bytes"),
    ],
)
def test_limits_are_kept(lite: Path, small_policy: Small, limits: dict[str, int], message: str) -> None:
    assert f"must keep the limit {message}" in refused(policy(small_policy, table="people", limits=limits))


def test_sqlite_sorts_in_memory(lite: Path) -> None:
    with sql.reading_engine(f"sqlite:///{lite}", "key").connect() as connection:
        assert connection.exec_driver_sql("PRAGMA temp_store").scalar() == 2
