"""Tables of Arrow in pieces and by column say what whole ones say."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from anon_pipeline.base import arrow_tables, packed_tables
from anon_pipeline.base.arrow_tables import (
    arrow_pieces,
    arrow_schema,
    arrow_table,
    table_from_arrow,
    table_from_columns,
)
from anon_pipeline.base.packed_tables import PackedTable, Table, pack_large

DAY = datetime.date(2020, 2, 29)
COLUMNS: dict[str, Any] = {
    "text": pd.array(["a", None, "b", "a"] * 5, dtype="str"),
    "unlike": pd.array([f"v{i}" for i in range(20)], dtype="str"),
    "whole": np.arange(20),
    "real": np.random.default_rng(0).normal(size=20),
    "gaps": np.array([1.5, np.nan] * 10),
    "moment": pd.to_datetime(["2020-02-29", None] * 10),
    "days at the end": [None] * 18 + [DAY, DAY],
    "amounts": [decimal.Decimal("1.5"), None] * 10,
    "none": [None] * 20,
    "yes": np.array([True, False] * 10),
    "rank": pd.Categorical(["a", "b", None, "a"] * 5, ["b", "a"], ordered=True),
    "small": np.array([1, 2] * 10, np.int8),
    "with NA": pd.array([1, None] * 10, dtype="Int64"),
    "a.b": np.arange(20),
    "a": np.arange(20) % 2,
}


@pytest.fixture(params=[True, False])
def table(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setattr(arrow_tables, "PIECE", 7)
    frame = pd.DataFrame(COLUMNS)
    if not request.param:
        return frame
    monkeypatch.setattr(packed_tables, "PACKED_FROM", 1)
    return pack_large(frame)


@pytest.mark.parametrize(("start", "stop"), [(0, 20), (3, 18), (19, 20), (0, 0), (20, 20)])
def test_pieces_are_the_table(table: Table, start: int, stop: int) -> None:
    whole = arrow_table(table).replace_schema_metadata(None)
    pieces = [*arrow_pieces(table, start, stop)]
    assert len(pieces) == (-(-(stop - start) // 7) or 1 if isinstance(table, PackedTable) else 1)
    assert {piece.schema for piece in pieces} == {whole.schema}
    assert pa.concat_tables(pieces).equals(whole.slice(start, stop - start))
    assert pieces[0].schema.metadata is None


def test_a_table_comes_back_from_its_columns(table: Table) -> None:
    whole = arrow_table(table)
    found = table_from_columns((name, whole.column(name)) for name in whole.column_names)
    wanted = table_from_arrow(whole)
    assert type(found) is type(wanted)
    for name in whole.column_names:
        pd.testing.assert_series_equal(found[name], wanted[name])


def test_one_column_is_held_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_tables, "PACKED_FROM", 1)
    pool = pa.default_memory_pool()
    held = []

    def columns() -> Iterator[tuple[str, pa.ChunkedArray]]:
        """Yield columns of a mebibyte, and note what Arrow holds before each."""
        for at in range(5):
            held.append(pool.bytes_allocated())
            yield f"c{at}", pa.chunked_array([pa.array(np.arange(2**17) % 9).cast(pa.int64())])

    before = pool.bytes_allocated()
    assert len(table_from_columns(columns()).columns) == 5
    assert max(held) - before < 2 * 2**20 + 2**16


def test_the_schema_is_that_of_the_table(table: Table) -> None:
    assert arrow_schema(table).names == [*COLUMNS]
    assert arrow_schema(table).remove_metadata() == arrow_table(table).schema.remove_metadata()
