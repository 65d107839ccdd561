"""Casting columns: what fits, what is counted, and that nothing is quoted."""

from __future__ import annotations

import datetime as dt
import decimal
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_columns import pack_column
from anon_pipeline.base.packed_tables import PackedTable
from anon_pipeline.base.values import (
    WrittenColumns,
    arrow_codes,
    column_codes,
    text_codes,
    text_ranks,
    to_arrow,
    to_dates,
    to_finite_numbers,
    to_texts,
    to_whole_numbers,
)

CANARY = "-".join(["CANARY", "7f3a"])
NUMBER = 987_654 + 0.321


def column(*values: Any, dtype: Any = None) -> pd.Series:
    return pd.Series(list(values), name="c", dtype=dtype)


def refused(cast: Callable[[pd.Series], Any], values: pd.Series) -> str:
    with pytest.raises(InputError) as caught:
        cast(values)
    error = caught.value
    assert (error.__cause__, error.__context__) == (None, None)
    shown = "".join(traceback.format_exception(error)) + repr(error)
    assert CANARY not in shown
    assert "987654" not in shown
    return str(error)


def plain(values: pd.Series) -> list[Any]:
    """Values as a list, missing ones as None."""
    return [None if pd.isna(value) else value for value in values]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (column(1, 2), [1, 2]),
        (column("1.5", "-2e3", " 7 "), [1.5, -2000, 7]),
        (column(1, None, dtype="Int64"), [1, None]),
        (column(1.5, None, dtype="Float64"), [1.5, None]),
        (column(1.5, None, dtype="double[pyarrow]"), [1.5, None]),
        (column("1", None, dtype="category"), [1, None]),
        (column("1", 2, None, 3.5, dtype=object), [1, 2, None, 3.5]),
        (column(decimal.Decimal("1.25"), dtype=object), [1.25]),
        (column(True, None, dtype="boolean"), [1, None]),
        (column(None, None), [None, None]),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_numbers(values: pd.Series, expected: list[float | None]) -> None:
    cast = to_finite_numbers(values)
    assert cast.dtype == np.float64
    assert plain(cast) == expected


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (column("1", CANARY, CANARY), "c: must be a number, got 2 records with something else"),
        (column("1", CANARY, dtype="category"), "c: must be a number, got 1 record with something else"),
        (column("", " ", "1,5", "0x10", "1_0"), "c: must be a number, got 5 records with something else"),
        (column("nan", "NaN"), "c: must be a number, got 2 records with something else"),
        (column(dt.datetime(2020, 1, 1)), "c: must be a number, got 1 record with something else"),
        (column([1], {}, dtype=object), "c: must be a number, got 2 records with something else"),
        (column(np.inf, NUMBER, -np.inf), "c: must be finite, got 2 records with infinite numbers"),
        (column("inf", "-Infinity", "9" * 400), "c: must be finite, got 3 records with infinite numbers"),
        (
            column(CANARY, "inf", str(NUMBER)),
            "c: must be a number, got 1 record with something else\n"
            "c: must be finite, got 1 record with infinite numbers",
        ),
    ],
)
def test_numbers_that_are_none(values: pd.Series, message: str) -> None:
    assert refused(to_finite_numbers, values) == message


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([1.0, 2.0], np.int64, [1, 2]),
        ([1.0, 2.5], np.float64, [1, 2.5]),
        ([1.0, None], np.float64, [1, None]),
        ([1.0, 1e300], np.float64, [1, 1e300]),
        ([float(2**53), 1.0], np.float64, [2**53, 1]),
    ],
)
def test_whole_numbers(values: list[float | None], dtype: type, expected: list[float | None]) -> None:
    cast = to_whole_numbers(column(*values, dtype=np.float64))
    assert cast.dtype == dtype
    assert plain(cast) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (column("2020-02-29", "1969-12-31"), ["2020-02-29", "1969-12-31"]),
        (column("2020-02-29T23:59:59.5", "20200229 1200"), ["2020-02-29", "2020-02-29"]),
        (column("2020-02-29T23:30Z", "2020-03-01T00:30+01:00"), ["2020-02-29", "2020-03-01"]),
        (column("1600-01-01", "9999-12-31", None), ["1600-01-01", "9999-12-31", None]),
        (column(dt.date(1969, 12, 31), None), ["1969-12-31", None]),
        (column(pd.Timestamp("1969-12-31 23:59"), pd.NaT), ["1969-12-31", None]),
        (column(pd.Timestamp("1969-12-31 23:59", tz="America/New_York")), ["1969-12-31"]),
        (
            column(pd.Timestamp("1969-12-31 23:59", tz="UTC"), pd.Timestamp("2020-01-01")),
            ["1969-12-31", "2020-01-01"],
        ),
        (column("1969-12-31", dtype="date32[day][pyarrow]"), ["1969-12-31"]),
        (column(pd.Timestamp("1969-12-31 23:59"), dtype="timestamp[us][pyarrow]"), ["1969-12-31"]),
        (column("1969-12-31", None, dtype="category"), ["1969-12-31", None]),
        (column(1970, 20200229), ["1970-01-01", "2020-02-29"]),
        (column(None, None), [None, None]),
    ],
)
def test_dates(values: pd.Series, expected: list[str | None]) -> None:
    cast = to_dates(values)
    assert [None if pd.isna(day) else f"{day:%Y-%m-%d}" for day in cast] == expected
    assert all(pd.isna(day) or (day == day.normalize() and day.tz is None) for day in cast)


@pytest.mark.parametrize(
    ("values", "unfit"),
    [
        (column("2020-02-30", CANARY, "2020-01-01"), 2),
        (column("now", "today", "NaT", ""), 4),
        (column("01.02.2020", "02/01/2020"), 2),
        (column(True, False), 2),
        (column(NUMBER, NUMBER), 2),
    ],
)
def test_dates_that_are_none(values: pd.Series, unfit: int) -> None:
    message = (
        f"c: must be a date (YYYY-MM-DD), got {unfit} records with something else. "
        "Other forms are read with type: date and format, under clean.columns."
    )
    assert refused(to_dates, values) == message


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (column("a", None, ""), ["a", None, ""]),
        (column(1, 2), ["1", "2"]),
        (column(1.0, None, -2.0), ["1", None, "-2"]),
        (column(1.0, 2.5), ["1.0", "2.5"]),
        (column(1.0, None, dtype=object), ["1", None]),
        (column(1.0, None, dtype="category"), ["1", None]),
        (column(1, None, dtype="Int64"), ["1", None]),
        (column(1.0, None, dtype="Float64"), ["1", None]),
        (column(1.0, None, dtype="double[pyarrow]"), ["1", None]),
        (column(2.0, 3.0, dtype="float32"), ["2", "3"]),
        (column(1e20, 1.0), ["1e+20", "1.0"]),
        (column(np.inf, 1.0), ["inf", "1.0"]),
        (column(2**60 + 1, None, dtype="Int64"), [str(2**60 + 1), None]),
        (column(2**60 + 1, None, dtype=object), [str(2**60 + 1), None]),
        (column(True, None, dtype="boolean"), ["True", None]),
        (column("02139", None, dtype="category"), ["02139", None]),
        (column("a", 1, None, dtype=object), ["a", "1", None]),
        (column("nul\x00", "ß\n"), ["nul\x00", "ß\n"]),
        (column(dt.date(2020, 1, 1), None), ["2020-01-01", None]),
        (column(pd.Timestamp("2020-01-01"), pd.NaT), ["2020-01-01", None]),
        (
            column(pd.Timestamp("2020-01-01 12:30"), pd.Timestamp("2020-01-01")),
            ["2020-01-01 12:30:00", "2020-01-01 00:00:00"],
        ),
        (column(None, None), [None, None]),
    ],
)
def test_texts(values: pd.Series, expected: list[str | None]) -> None:
    written = to_texts(values)
    assert written.tolist() == expected
    assert written.name == "c"


@given(st.lists(st.none() | st.integers(-(2**52), 2**52), min_size=1))
def test_a_number_has_one_text_whatever_holds_it(values: list[int | None]) -> None:
    wanted = [None if value is None else str(value) for value in values]
    for dtype in ("Int64", "float64", "Float64", "int64[pyarrow]", object):
        assert to_texts(pd.Series(values, dtype=dtype)).tolist() == wanted


def test_the_index_is_kept() -> None:
    values = pd.Series(["1", "2"], index=[7, 7], name="c")
    for cast in (to_texts, to_finite_numbers, lambda c: to_dates(c.map(lambda v: f"2020-01-0{v}"))):
        assert list(cast(values).index) == [7, 7]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (column(1, 2), pa.int64()),
        (column(1, None, dtype="Int64"), pa.int64()),
        (column(1, None, dtype=object), pa.int64()),
        (column(1.5, None), pa.float64()),
        (column(True, None, dtype="boolean"), pa.bool_()),
        (column("a", None), pa.large_string()),
        (column("a", "b", dtype=object), pa.string()),
        (column(dt.date(2020, 1, 1)), pa.date32()),
        (column(dt.time(1)), pa.time64("us")),
        (column(decimal.Decimal("1.5")), pa.decimal128(2, 1)),
        (column(None, None, dtype=object), pa.null()),
    ],
    ids=str,
)
def test_arrow(values: pd.Series, kind: pa.DataType) -> None:
    array = to_arrow(values)
    assert array.type == kind
    assert array.null_count == int(values.isna().sum())


@pytest.mark.parametrize(
    "values",
    [
        column([1], [2]),
        column({CANARY: 1}, None),
        column(CANARY, 1, dtype=object),
        column(NUMBER, CANARY, dtype=object),
        column(CANARY.encode()),
        column({CANARY}),
        column(2**70, dtype=object),
        column(1 + 2j),
        column("\ud800" + CANARY, dtype=object),
        pd.Series(pd.period_range("2020", periods=1, freq="M"), name="c"),
        pd.Series([[1]], dtype=pd.ArrowDtype(pa.list_(pa.int64())), name="c"),
        pd.Series([{CANARY: 1}], dtype=pd.ArrowDtype(pa.struct([(CANARY, pa.int64())])), name="c"),
    ],
    ids=lambda values: str(values.dtype)[:12],
)
def test_what_no_table_file_holds(values: pd.Series) -> None:
    assert refused(to_arrow, values).startswith(
        "c: must hold numbers, booleans, texts or dates, all of one kind"
    )


@pytest.mark.parametrize(
    "values",
    [
        column("b", None, "a", "b", dtype="str"),
        column(2, 1, 2),
        column(2.0, None, 1.0, 2.0),
        column(0.5, -0.0, 0.0, None),
        column(1.5, None, 1.5, dtype="Float64"),
        column(1, None, 1, dtype="Int64"),
        column(dt.datetime(2020, 1, 1), None, dt.datetime(2020, 1, 1)),
        column(dt.datetime(2020, 1, 1, 6), dt.datetime(2020, 1, 1)),
        column(1, True, "1", 1.0, None, dtype=object),
        column("x", None, "y", "x", dtype="category"),
        column(True, False, True),
        column(dtype="str"),
        column(None, None, dtype=object),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_numbers_of_texts_are_those_of_all_texts(values: pd.Series) -> None:
    """Twin: write every cell, then number the texts."""
    codes, texts = text_codes(values)
    slow, written = pd.factorize(to_texts(values), use_na_sentinel=False)
    assert codes.tolist() == slow.tolist()
    assert codes.dtype == np.int64
    assert plain(texts) == plain(pd.Series(written, dtype=object))
    assert text_ranks(values).tolist() == pd.factorize(to_texts(values), sort=True)[0].tolist()


@given(
    st.lists(st.none() | st.sampled_from(["a", "b", "ä", ""])).map(
        lambda cells: pd.Series(cells, dtype="str")
    )
    | st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.5, 1e16, float("nan")])).map(
        lambda cells: pd.Series(cells, dtype=np.float64)
    )
    | st.lists(st.integers(-3, 3)).map(lambda cells: pd.Series(cells, dtype=np.int64))
    | st.lists(st.none() | st.sampled_from(["2020-01-01", "2020-01-02 03:04"])).map(
        lambda cells: pd.to_datetime(pd.Series(cells), format="ISO8601")
    ),
    st.randoms(use_true_random=False),
)
def test_the_texts_of_a_packed_column_are_those_of_its_cells(cells: pd.Series, random: Any) -> None:
    column = pd.concat([cells] * 4, ignore_index=True)
    rows = np.array(random.choices(range(len(column)), k=len(column) // 2) if len(column) else [], np.int64)
    packed = PackedTable({"x": pack_column(column)}, len(column)).take_rows(rows)
    found, texts = column_codes(packed, "x")
    wanted, written = arrow_codes(packed["x"])
    assert (found.tolist(), texts.to_pylist()) == (wanted.tolist(), written.to_pylist())
    assert found.dtype == np.int64


def test_a_column_that_is_made_knows_its_missing_values_already() -> None:
    """Threads share the columns: one that finds a column made asks at once what is missing in it."""

    class Watched(dict[str, Any]):
        def __setitem__(self, name: str, codes: Any) -> None:
            super().__setitem__(name, codes)
            assert there.present([name]) is not None

    frame = pd.DataFrame({"town": ["a", None, "b"], "age": [1, 2, 3]})
    there = WrittenColumns(frame, Watched())
    assert there.codes("town").tolist()[0] != there.codes("town").tolist()[1]
    kept = WrittenColumns(frame).present(["town", "age"])
    assert kept is not None and kept.tolist() == [True, False, True]
    assert WrittenColumns(frame).present(["age"]) is None
