"""Joining what has waited with what arrives: each value stays, and only a real change of type is refused."""

from __future__ import annotations

import datetime
import decimal
import io
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.arrow_tables import arrow_table, table_from_arrow
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.windows.joined_records import join_records

LARGE = 9_007_199_254_740_999  # as a floating-point number it would be rounded
TYPES: dict[str, tuple[Any, Any, Any]] = {
    "int64": (pa.int64(), LARGE, -2),
    "int8": (pa.int8(), 1, -2),
    "uint64": (pa.uint64(), 1, 2**63 - 1),
    "bool": (pa.bool_(), True, False),
    "double": (pa.float64(), 1.5, 2.0),
    "text": (pa.string(), "a", "b"),
    "date": (pa.date32(), datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)),
    "time": (pa.time64("us"), datetime.time(1), datetime.time(2)),
    "moment": (pa.timestamp("us"), datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)),
    "decimal": (pa.decimal128(10, 2), decimal.Decimal("1.50"), decimal.Decimal("2.25")),
    "category": (pa.dictionary(pa.int32(), pa.string()), "a", "b"),
}


def arrived(kind: str, cells: list[Any]) -> pd.DataFrame:
    """Return a column as sources read it."""
    array = pa.array(cells, type=pa.string() if kind == "category" else TYPES[kind][0])
    if kind == "category":
        array = array.dictionary_encode()
    return unpack_table(table_from_arrow(pa.table({"x": array})))


def stored(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table as the vault gives it back."""
    file = io.BytesIO()
    pq.write_table(arrow_table(frame), file)
    return unpack_table(table_from_arrow(pq.read_table(io.BytesIO(file.getvalue())), with_metadata=True))


def cells_of(frame: pd.DataFrame) -> list[Any]:
    return [None if pd.isna(cell) else cell for cell in frame["x"]]


@given(kind=st.sampled_from([*TYPES]), data=st.data())
def test_missing_values_and_lacking_categories_are_no_other_type(kind: str, data: st.DataObject) -> None:
    """For every type of a source, whatever is missing on some days, day after day through the vault."""
    days = st.lists(st.sampled_from([None, *TYPES[kind][1:]]), min_size=1, max_size=4)
    every = data.draw(st.lists(days, min_size=2, max_size=4))
    joined = arrived(kind, every[0])
    for cells in every[1:]:
        joined = join_records(stored(joined), arrived(kind, cells))
    expected = [cell for cells in every for cell in cells]
    found = cells_of(joined)
    assert found == expected
    assert all(
        type(one) is not float or type(other) is float for one, other in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("gone", [None, np.nan])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pd.Series([LARGE, 2]), pd.Series([1, None], dtype="Int64")),
        (pd.Series([True, False]), pd.Series([True, None], dtype="boolean")),
        (pd.Series([LARGE, 2]), pd.Series([1.0, np.nan])),  # as pandas has whole numbers with gaps
        (pd.Series([0.5, 2]), pd.Series([1, 2])),  # as CSV has a day without decimals
        (pd.Series([1.5, 2.5]), pd.Series([1.5, None], dtype="Float64")),
        (pd.Series(["a", "b"], dtype="category"), pd.Series(["c"], dtype="category")),
        (pd.Series(["a", "b"], dtype=object), pd.Series(["c", None], dtype="str")),
        (pd.Series([1, "a"], dtype=object), pd.Series(["c"], dtype=object)),
    ],
)
def test_types_that_pandas_has_for_the_same_are_joined(one: pd.Series, other: pd.Series, gone: Any) -> None:
    nothing = pd.Series([gone, gone], dtype=object)
    parts = {"1": one, "2": other, "3": nothing}
    for first in parts.values():
        for second in parts.values():
            joined = join_records(first.to_frame("x"), second.to_frame("x"))
            assert cells_of(joined) == [*cells_of(first.to_frame("x")), *cells_of(second.to_frame("x"))]


def ordered(*categories: str) -> pd.Series:
    return pd.Series(pd.Categorical([categories[0]], categories=[*categories], ordered=True))


def test_ordered_categories_are_joined_if_one_lacks_some() -> None:
    joined = join_records(ordered("low", "high").to_frame("x"), ordered("low", "mid", "high").to_frame("x"))
    assert [*joined["x"].cat.categories] == ["low", "mid", "high"] and joined["x"].cat.ordered
    for other in (ordered("high", "low"), ordered("low", "mid"), pd.Series(["low"], dtype="category")):
        with pytest.raises(InputError, match="the type that they had in the partition before: x"):
            join_records(ordered("low", "high").to_frame("x"), other.to_frame("x"))


def test_whole_numbers_of_two_widths_are_not_rounded() -> None:
    small, large = pd.Series([-1, LARGE]), pd.Series([2**63 + 5, 3], dtype=np.uint64)
    assert cells_of(join_records(large.to_frame("x"), abs(small).to_frame("x"))) == [2**63 + 5, 3, 1, LARGE]
    joined = join_records(small.to_frame("x"), (large // 4).to_frame("x"))
    assert joined["x"].dtype == np.int64 and cells_of(joined) == [-1, LARGE, 2**61 + 1, 0]
    with pytest.raises(InputError, match="the type that they had in the partition before: x"):
        join_records(small.to_frame("x"), large.to_frame("x"))


REAL: list[tuple[Any, Any]] = [
    (pd.Series([1]), pd.Series(["1"])),
    (pd.Series([1]), pd.Series([True])),
    (pd.Series([1, None], dtype=object), pd.Series([True, None], dtype=object)),
    (pd.Series([LARGE]), pd.Series([1.0, 2.0])),
    (pd.Series([LARGE]), pd.Series([1.5, np.nan])),
    (pd.Series([1]), pd.Series([float(2**53), np.nan])),
    (pd.Series(["a"]), pd.Series(["a"], dtype="category")),
    (pd.Series([1], dtype="category"), pd.Series(["a"], dtype="category")),
    (pd.Series(["2020-01-01"]), pd.Series([datetime.date(2020, 1, 1)], dtype=object)),
    (pd.Series([decimal.Decimal(1)], dtype=object), pd.Series([datetime.date(2020, 1, 1)], dtype=object)),
    (pd.Series(pd.to_datetime(["2020-01-01"])), pd.Series(pd.to_datetime(["2020-01-01"], utc=True))),
]


@pytest.mark.parametrize(("one", "other"), REAL)
def test_another_type_is_refused_by_name(one: pd.Series, other: pd.Series) -> None:
    for first, second in ((one, other), (other, one)):
        with pytest.raises(InputError, match="the type that they had in the partition before: x"):
            join_records(first.to_frame("x"), second.to_frame("x"))


def test_columns_have_the_order_of_what_arrives() -> None:
    joined = join_records(pd.DataFrame({"a": [1], "b": ["x"]}), pd.DataFrame({"b": ["y"], "a": [2]}))
    assert joined.to_numpy().tolist() == [["x", 1], ["y", 2]] and [*joined.columns] == ["b", "a"]
    with pytest.raises(InputError, match="the columns that it had"):
        join_records(pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]}))


def test_nobody_has_no_types() -> None:
    frame, nobody = pd.DataFrame({"a": [1]}), pd.DataFrame({"a": pd.Series([], dtype=object)})
    assert join_records(frame, nobody)["a"].dtype == join_records(nobody, frame)["a"].dtype == np.int64
