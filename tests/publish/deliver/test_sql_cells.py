"""A released table as columns and rows of a database."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa

from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.policy import Policy
from anon_pipeline.publish.deliver.sql_cells import judged_frame, sql_columns, sql_rows
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
