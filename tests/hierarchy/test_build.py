"""From a column and a policy's description to codes: every kind, every type of column, values not covered."""

from __future__ import annotations

import datetime as dt
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.hierarchy import code_column
from anon_pipeline.policy.hierarchies import Dates, Intervals, Mask, Numbers, Order, Suppress, Table, Tree
from tests.example_counts import examples_of

CANARY = "-".join(["CANARY", "7f3a"])
SUPPRESS = Suppress(suppress=True)
TREE = Tree(tree={"x": ["1", "2"], "y": ["3"]})


def column(*values: Any, dtype: Any = None) -> pd.Series:
    return pd.Series(list(values), name="q", dtype=dtype)


def released(values: pd.Series, spec: Any, **options: Any) -> list[list[Any]]:
    """The released values, level by level, record by record."""
    codes, hierarchy = code_column(values, spec, **options)
    assert hierarchy.column == "q"
    return [
        [level[lookup[code]] for code in codes]
        for lookup, level in zip(hierarchy.lookups, hierarchy.values, strict=True)
    ]


def refused(values: pd.Series, spec: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        code_column(values, spec, **options)
    assert caught.value.__context__ is None
    assert CANARY not in "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        column(3, 1, 2),
        column("3", "1", "2"),
        column(3.0, 1.0, 2.0),
        column(3, 1, 2, dtype="int8"),
        column(3, 1, 2, dtype="Int64"),
        column(3, 1, 2, dtype="Float64"),
        column(3, 1, 2, dtype="category"),
        column("3", "1", "2", dtype="category"),
        column(3, 1, 2, dtype="int64[pyarrow]"),
        column("3", "1", "2", dtype="string"),
        column("3", "1", "2", dtype=object),
    ],
    ids=lambda values: str(values.dtype),
)
def test_every_type_of_column_meets_the_same_leaves(values: pd.Series) -> None:
    assert released(values, TREE) == [["3", "1", "2"], ["y", "x", "x"], ["*", "*", "*"]]
    assert released(values, SUPPRESS) == [["3", "1", "2"], ["*", "*", "*"]]
    assert released(values, Intervals(intervals=(2,)))[1] == ["[2, 4)", "[0, 2)", "[2, 4)"]


@pytest.mark.parametrize(
    "values",
    [
        column(3, None, 2, dtype="Int64"),
        column(3.0, None, 2.0),
        column("3", None, "2"),
        column("3", None, "2", dtype="category"),
        column(3.0, None, 2.0, dtype="category"),
        column("3", np.nan, "2", dtype=object),
        column(3, pd.NA, 2, dtype=object),
        column(3, None, 2, dtype="int64[pyarrow]"),
    ],
    ids=lambda values: str(values.dtype),
)
def test_missing_values_are_a_leaf_of_their_own(values: pd.Series) -> None:
    assert released(values, TREE) == [["3", None, "2"], ["y", None, "x"], ["*", "*", "*"]]
    assert released(values, SUPPRESS) == [["3", None, "2"], ["*", "*", "*"]]
    assert released(values, Mask(mask=(1,))) == [["3", None, "2"], ["*", None, "*"], ["*", "*", "*"]]
    codes, hierarchy = code_column(values, Intervals(intervals=(2,)))
    assert hierarchy.has_missing
    assert codes[1] == hierarchy.leaves - 1
    assert np.isnan(hierarchy.coordinates[-1])


def test_no_value_at_all() -> None:
    for spec in (SUPPRESS, Mask(mask=(1,)), Intervals(intervals=(1,)), Dates(dates=("year",))):
        assert refused(column(None, None), spec) == "q: must have at least one value, got only missing ones"
    assert released(column(None, None), TREE) == [[None, None], [None, None], ["*", "*"]]


def test_the_index_does_not_matter() -> None:
    values = pd.Series(["1", "2", "3"], index=[5, 5, -1], name="q")
    for spec in (TREE, SUPPRESS, Intervals(intervals=(2,))):
        assert released(values, spec) == released(values.reset_index(drop=True), spec)


def test_coordinates_of_numbers_and_dates() -> None:
    _, numbers = code_column(column("10", "9", "-1.5"), Intervals(intervals=(2,)))
    assert numbers.coordinates is not None
    assert numbers.coordinates.tolist() == [-1.5, 9, 10]
    assert numbers.values[0].tolist() == ["-1.5", "9", "10"]
    _, days = code_column(column("1970-01-03", "1969-12-31"), Dates(dates=("year",)))
    assert days.coordinates is not None
    assert days.coordinates.tolist() == [-1, 2]


def test_negative_zero_is_zero() -> None:
    assert released(column(0.0, -0.0, 1.0), Intervals(intervals=(2,)))[0] == ["0", "0", "1"]


@pytest.mark.parametrize(
    "values",
    [
        column("2020-02-29", "1969-12-31"),
        column(dt.date(2020, 2, 29), dt.date(1969, 12, 31)),
        column(pd.Timestamp("2020-02-29 23:59"), pd.Timestamp("1969-12-31")),
        column(
            pd.Timestamp("2020-02-29 23:59", tz="Asia/Tokyo"), pd.Timestamp("1969-12-31", tz="Asia/Tokyo")
        ),
        column("2020-02-29", "1969-12-31", dtype="date32[day][pyarrow]"),
        column("2020-02-29T23:30:00-08:00", "1969-12-31T00:00:00+01:00"),
    ],
    ids=lambda values: str(values.dtype),
)
def test_dates_of_every_type(values: pd.Series) -> None:
    assert released(values, Dates(dates=("month", "decade"))) == [
        ["2020-02-29", "1969-12-31"],
        ["2020-02", "1969-12"],
        ["2020s", "1960s"],
        ["*", "*"],
    ]


@pytest.mark.parametrize(
    ("values", "spec", "message"),
    [
        (column("1", CANARY, CANARY), TREE, "q: every value must be a leaf of its hierarchy, 2 records have"),
        (column("1", "", None), TREE, "q: every value must be a leaf of its hierarchy, 1 record has"),
        (column("1", CANARY), Intervals(intervals=(2,)), "q: must be a number, got 1 record"),
        (column(1, np.inf), Intervals(intervals=(2,)), "q: must be finite, got 1 record"),
        (
            column("2020-01-01", CANARY),
            Dates(dates=("year",)),
            "q: must be a date (YYYY-MM-DD), got 1 record",
        ),
        (column("2021-02-29", "1x"), Dates(dates=("year",)), "q: must be a date (YYYY-MM-DD), got 2 records"),
        (
            column(1e300, 2, 1e300),
            Intervals(intervals=(2,)),
            "q: must be below 2^53 in size, got 2 records",
        ),
    ],
)
def test_values_outside_are_counted_and_not_shown(values: pd.Series, spec: Any, message: str) -> None:
    assert message in refused(values, spec)


def test_a_table_file(tmp_path: Path) -> None:
    (tmp_path / "h").mkdir()
    (tmp_path / "h" / "t.csv").write_text("b,x,*\na,y,*\nc,x,*\n")
    spec = Table(table="h/t.csv", separator=",")
    assert released(column("a", "b"), spec, folder=tmp_path) == [["a", "b"], ["y", "x"], ["*", "*"]]
    _, hierarchy = code_column(column("a"), spec, folder=tmp_path)
    assert hierarchy.values[0].tolist() == ["b", "c", "a"]
    said = refused(column(CANARY), spec, folder=tmp_path)
    assert "1 record has a value that it does not list. `anon-pipeline hierarchy DATA q --policy" in said
    assert "t.csv: must be a readable UTF-8 table" in refused(column("a"), spec, folder=tmp_path / "gone")


def test_a_table_that_is_not_nested(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"{CANARY};x;1\nb;x;2\n")
    assert refused(column("b"), Table(table="t.csv"), folder=tmp_path) == (
        "q: each value of level 1 must have one parent on level 2, got 1 more. The hierarchy is not nested.\n"
        "q: the top level must have one value, got 2"
    )


@given(
    values=st.lists(st.none() | st.integers(-1000, 1000), min_size=1, max_size=40).filter(
        lambda values: any(value is not None for value in values)
    )
)
def test_records_keep_their_values(values: list[int | None]) -> None:
    wanted = [None if value is None else str(value) for value in values]
    numbers = pd.Series(values, name="q", dtype="Int64")
    for spec in (SUPPRESS, Mask(mask=(1, 3)), Intervals(intervals=(7, 14))):
        assert released(numbers, spec)[0] == wanted
        codes, hierarchy = code_column(numbers, spec)
        assert all((np.diff(lookup) >= 0).all() for lookup in hierarchy.lookups)
        assert set(codes.tolist()) == set(range(hierarchy.leaves))


@pytest.mark.parametrize("values", [(30, 4.5, None, 200, 30), ("30", "4.50", None, "2e2", "30.0")])
def test_numbers_are_themselves_or_anything(values: tuple[Any, ...]) -> None:
    spec = Numbers(numbers=True)
    assert released(column(*values), spec) == [["30", "4.5", None, "200", "30"], ["*"] * 5]
    codes, hierarchy = code_column(column(*values), spec)
    assert hierarchy.coordinates is not None
    np.testing.assert_array_equal(hierarchy.coordinates[codes], [30, 4.5, np.nan, 200, 30])
    assert not hierarchy.ordered


def test_numbers_must_be_numbers() -> None:
    assert "1 record " in refused(column("30", CANARY), Numbers(numbers=True))


def test_an_order_is_that_of_the_policy() -> None:
    spec = Order(order=("low", "middle", "high"))
    values = column("high", "low", None, "high")
    assert released(values, spec) == [["high", "low", None, "high"], ["*"] * 4]
    codes, hierarchy = code_column(values, spec)
    assert codes.tolist() == [2, 0, 3, 2]
    assert hierarchy.values[0].tolist() == ["low", "middle", "high", None]
    assert (hierarchy.ordered, hierarchy.coordinates) == (True, None)
    assert refused(column("low", CANARY, CANARY), spec) == (
        "q: every value must be a leaf of its hierarchy, 2 records have values that it does not list. "
        "`anon-pipeline hierarchy DATA q --policy POLICY --not-leaves FILE` writes which. Add them to it, or "
        "map them to leaves in clean.columns (q: {values: ...})."
    )


def test_without_a_hierarchy_values_are_in_text_order() -> None:
    values = column("b", None, "a", "c")
    codes, hierarchy = code_column(values, None)
    assert codes.tolist() == [1, 3, 0, 2]
    assert [level.tolist() for level in hierarchy.values] == [["a", "b", "c", None], ["*"]]
    assert (hierarchy.ordered, hierarchy.coordinates) == (False, None)


@pytest.mark.parametrize("kind", ["str", "int64", "Int64", "texts in objects", "object"])
@settings(deadline=None, max_examples=examples_of(60))
@given(rows=st.lists(st.sampled_from([94139, 94138, 2139, None]), min_size=1, max_size=30))
def test_coding_distinct_values_is_coding_all(kind: str, rows: list[int | None]) -> None:
    from anon_pipeline.hierarchy import build

    if kind == "int64":
        rows = [row or 0 for row in rows]
    texts = [None if row is None else str(row) for row in rows]
    written: list[Any] = texts if kind in {"str", "texts in objects"} else list(rows)
    if kind == "object":  # equal numbers and texts of several kinds, among them missing values
        written += [text for text in texts if text] + [float(row or 0) for row in rows] + [float("nan"), True]
    column = pd.Series(written, dtype="object" if "object" in kind else kind, name="zip")
    for spec in (Mask(mask=[1, 3]), Intervals(intervals=[10, 100]), Suppress(suppress=True)):
        results = []
        for function in (build.code_column, lambda *given, folder: build.code_each_value(*given, folder)):
            try:
                codes, hierarchy = function(column, spec, folder=Path())
            except InputError as error:
                results.append((error.problems,))
            else:
                values = [list(own) for own in hierarchy.values]
                results.append((codes.tolist(), [own.tolist() for own in hierarchy.lookups], values))
        assert results[0] == results[1]


@pytest.mark.parametrize(
    ("values", "spec", "said"),
    [
        (column("*", "a", "*", "b", None), SUPPRESS, "2 records have such values"),
        (column("*", *"abcdefgh"), SUPPRESS, "1 record has such a value"),
        (column(" *", "a", "*\u200b", "\uff0a", "b"), SUPPRESS, "3 records have such values"),
        (column("*", "a", "*", "b", dtype="string"), None, "2 records have such values"),
        (column("9413*", "94139", "9*", "****"), Mask(mask=(1, 2)), "3 records have such values"),
    ],
)
def test_a_value_that_looks_suppressed_is_refused(values: pd.Series, spec: Any, said: str) -> None:
    message = refused(values, spec)
    assert said in message and "map such values in clean.columns, as q: {missing: ['*']}" in message
    assert "9413" not in message


def test_values_with_a_star_are_values_where_nothing_is_masked() -> None:
    assert released(column("a*", "**", "b"), SUPPRESS) == [["a*", "**", "b"], ["*"] * 3]


def test_a_hierarchy_with_the_mark_as_a_leaf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("1;x;*\n*;x;*\n", encoding="utf-8")
    for spec in (Table(table="q.csv"), Tree(tree={"x": ["1", "*"]}), Tree(tree={"x": ["1", "* "]})):
        message = refused(column("1", "1"), spec, folder=tmp_path)
        assert "the hierarchy must not have the leaf *" in message
    (tmp_path / "q.csv").write_text("1;*;*\n2;y;*\n", encoding="utf-8")  # hidden earlier than others: fine
    table = Table(table="q.csv")
    assert released(column("1", "2"), table, folder=tmp_path) == [["1", "2"], ["*", "y"], ["*", "*"]]
