"""A column of Python's values gets one type, loses nothing, and does not depend on its pieces."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.typed_cells import Cells, arrow_column, refuse_repeated, text_of

DAY, MOMENT = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 13, 5)
ONE = uuid.UUID(int=1)


@pytest.mark.parametrize(
    ("values", "kind", "found"),
    [
        (["007", None], pa.string(), ["007", None]),
        ([7, None], pa.int64(), [7, None]),
        ([7, 0.5], pa.float64(), [7.0, 0.5]),
        ([True, None], pa.bool_(), [True, None]),
        ([Decimal("1.50"), Decimal("22")], pa.decimal128(4, 2), [Decimal("1.50"), Decimal("22.00")]),
        ([7, Decimal("0.25"), None], pa.decimal128(3, 2), [Decimal("7.00"), Decimal("0.25"), None]),
        ([DAY], pa.date32(), [DAY]),
        ([DAY, MOMENT], pa.timestamp("us"), [datetime.datetime(2024, 1, 31), MOMENT]),
        ([None, None], pa.null(), [None, None]),
        # several kinds: texts, as a CSV file has them
        (["007", 7, 7.0, 0.5], pa.string(), ["007", "7", "7", "0.5"]),
        ([True, 1], pa.string(), ["true", "1"]),
        ([DAY, "?"], pa.string(), ["2024-01-31", "?"]),
        ([MOMENT, "?"], pa.string(), ["2024-01-31 13:05:00", "?"]),
        ([DAY, 1], pa.string(), ["2024-01-31", "1"]),
        ([ONE], pa.string(), [str(ONE)]),
        # what a float or 64 bits would merge stays a text
        ([2**53 + 1, 0.5], pa.string(), ["9007199254740993", "0.5"]),
        ([2**64, 1], pa.string(), ["18446744073709551616", "1"]),
    ],
)
def test_one_type_for_each_column(values: list[Any], kind: pa.DataType, found: list[Any]) -> None:
    column = arrow_column(values)
    assert column.type == kind
    assert column.to_pylist() == found


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text("a0.", max_size=3),
)


@given(st.lists(CELLS, max_size=8), st.integers(0, 8))
def test_a_column_in_pieces_is_the_column_in_one(values: list[Any], cut: int) -> None:
    whole, parts = (Cells("table", ["a"], Limits()) for _ in range(2))
    whole.add([values])
    parts.add([values[:cut]])
    parts.add([values[cut:]])
    pd.testing.assert_frame_equal(parts.frame(), whole.frame())
    assert len(whole.frame()) == len(values)


@given(CELLS.filter(lambda value: value is not None), CELLS.filter(lambda value: value is not None))
def test_different_cells_stay_different(one: Any, other: Any) -> None:
    """But those that a CSV file could not tell apart."""
    if text_of(one) != text_of(other):
        assert arrow_column([one, other])[0] != arrow_column([one, other])[1]


def test_columns_that_come_later_are_missing_before() -> None:
    cells = Cells("table", ["a"], Limits())
    cells.add([["x", "y"]])
    cells.widen(["b"])
    cells.add([["z"], [2**60 + 1]])
    frame = cells.frame()
    assert frame["b"].isna().tolist() == [True, True, False]
    assert frame["b"].iloc[2] == 2**60 + 1


def test_a_table_without_records_has_its_columns() -> None:
    assert list(Cells("table", ["a", "b"], Limits()).frame().columns) == ["a", "b"]


@pytest.mark.parametrize(
    ("limits", "names", "columns", "message"),
    [
        ({"columns": 1}, ["a", "b"], [], r"table: must keep the limit columns \(1\), got 2"),
        ({"rows": 1}, ["a"], [["x", "y"]], r"table: must keep the limit rows \(1\)"),
        ({"cell_bytes": 2}, ["a", "b"], [["x"], ["xyz"]], r"table, column 2: must keep the limit cell_bytes"),
        ({"uncompressed_bytes": 9}, ["a"], [["x" * 9]], r"table: must keep the limit uncompressed_bytes"),
    ],
)
def test_limits_are_kept(limits: dict[str, int], names: list[str], columns: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        Cells("table", names, Limits(**limits)).add(columns)


def test_repeated_names_are_told_by_their_places() -> None:
    with pytest.raises(InputError, match=r"^t: columns must be named once, got equal names in 1, 3$"):
        refuse_repeated("t", ["Rosa", "b", "Rosa"])
