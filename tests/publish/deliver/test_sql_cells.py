"""A released table as columns and rows of a database."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sqlalchemy as sa

from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.policy import Policy
from anon_pipeline.publish.deliver.sql_cells import judged_frame, sql_columns, sql_problem, sql_rows
from tests.publish.delivered import parcel_of, publish_in

FRAME = pd.DataFrame(
    {
        "text": ["a", None],
        "whole": [2**60, None],
        "real": [0.1, float("nan")],
        "yes": [True, False],
        "day": [datetime.date(2026, 1, 2), None],
        "time": pd.to_datetime(["2026-01-02 03:04:05.000006", None]),
        "price": [Decimal("1.20"), None],
        "clock": [datetime.time(1, 2, 3, 4), None],
        "kind": pd.Categorical(["x", "y"]),
        "100% (of : all)": [1, 2],
    }
).astype({"whole": object})


@pytest.mark.parametrize("server", ["sqlite", "postgresql"])
def test_values_come_back_as_they_were(server: str, request: pytest.FixtureRequest) -> None:
    url = "sqlite://"
    if server == "postgresql":
        url = request.getfixturevalue("postgres_url").replace("ql://", "ql+psycopg://")
    engine = sa.create_engine(url)
    frame = FRAME if server == "postgresql" else FRAME.drop(columns="price")  # SQLite has no decimals
    table, rows = sa.Table("t", sa.MetaData(), *sql_columns(frame)), sql_rows(frame)
    assert [column.name for column in table.columns] == list(frame.columns)
    with engine.begin() as connection:
        table.create(connection)
        keys = table.columns.keys()
        connection.execute(table.insert(), [dict(zip(keys, row, strict=True)) for row in rows])
        assert [tuple(row) for row in connection.execute(sa.select(table))] == rows
    engine.dispose()
    assert rows[0][1] == 2**60
    assert rows[1][:3] == (None, None, None)


def test_what_a_database_would_not_hold_exactly_is_refused() -> None:
    fine = pd.DataFrame({"at": pd.to_datetime(["2026-01-02 03:04:05.000000007"])})
    with pytest.raises(PublishError, match="whole microseconds, got finer ones in 1 columns") as error:
        sql_rows(fine)
    assert "2026" not in str(error.value)
    with pytest.raises(PublishError, match=r"column 2 has the type .*, which databases do not have"):
        sql_columns(pd.DataFrame({"a": [1], "b": [[1, 2]]}))


def test_the_table_is_the_one_that_the_gate_judged(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    policy: Policy = small_policy(publish={"format": "csv"})
    publish_in(tmp_path, policy, small_people())
    assert list(judged_frame(parcel_of(tmp_path / "out"), policy).columns) == policy.released
    with pytest.raises(InputError, match="must be the table that it describes"):
        judged_frame(parcel_of(tmp_path / "out", data_digest="0" * 64), policy)


@pytest.mark.parametrize(
    ("values", "sqlite", "postgresql"),
    [
        (pa.array([datetime.timedelta(1)]), "the type duration", "the type duration"),
        (pa.array([2**63 + 4711], pa.uint64()), "whole numbers above", "whole numbers above"),
        (pa.array([4711], pa.timestamp("ns")), "finer than microseconds", "finer than microseconds"),
        (pa.array([4711], pa.timestamp("us", "UTC")), "times with a zone", None),
        (pa.array([Decimal("12345678901234.4711")]), "more digits than SQLite keeps", None),
        (pa.array([Decimal("4711.25"), None]), None, None),
        (pa.array([Decimal(10**16 + 1)]), "more digits than SQLite keeps", None),
        (pa.array(["4711", "a\0b"]), None, "the character NUL"),
        (pa.array(["4711", None]), None, None),
        (pa.array([datetime.time(1)]), None, None),
        (pa.nulls(2), None, None),
    ],
)
def test_what_a_kind_of_database_does_not_hold_is_said_without_a_value(
    values: pa.Array, sqlite: str | None, postgresql: str | None
) -> None:
    for database, said in (("sqlite", sqlite), ("postgresql", postgresql)):
        found = sql_problem(pa.chunked_array([values]), database=database)
        assert (found is None) == (said is None), found
        assert said is None or (said in str(found) and "4711" not in str(found))


def test_decimals_that_sqlite_is_said_to_hold_come_back_as_they_were() -> None:
    engine = sa.create_engine("sqlite://")
    drawn = np.random.default_rng(1).integers(-(10**17), 10**17, 400).tolist()
    fits = list[bool]()
    for place, one in enumerate(drawn):
        number = Decimal(one // 10 ** (place % 9)).scaleb(-(place % 5))
        frame = pd.DataFrame({"x": [number]})
        table = sa.Table(f"t{place}", sa.MetaData(), *sql_columns(frame))
        with engine.begin() as connection:
            table.create(connection)
            connection.execute(table.insert(), {"c1": number})
            same = [tuple(row) for row in connection.execute(sa.select(table))] == sql_rows(frame)
        fits.append(same)
        problem = sql_problem(pa.chunked_array([pa.array([number])]), database="sqlite")
        assert same == (problem is None)
    engine.dispose()
    assert {*fits} == {True, False}
