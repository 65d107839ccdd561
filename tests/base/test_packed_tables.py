"""Packed tables do what the stages ask of a DataFrame, and give the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from anon_pipeline.base import packed_tables
from anon_pipeline.base.arrow_tables import arrow_schema, arrow_table, table_from_arrow
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_columns import pack_column
from anon_pipeline.base.packed_tables import (
    PACKED_FROM,
    PackedTable,
    Table,
    change_cells,
    column_type,
    counted_cells,
    different_cells,
    factorize_column,
    insert_column,
    is_large,
    missing_cells,
    pack_large,
    table_of,
    unpack_table,
    value_numbers,
    with_columns,
    with_text_names,
    without_index,
)
from anon_pipeline.base.rows import keep_rows, some_rows, take_rows


@pytest.fixture(autouse=True)
def _all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_tables, "PACKED_FROM", 1)


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {"age": [40, 30, 40], "city": pd.array(["Cork", None, "Bonn"], dtype="str"), "pay": [1.5, -0.0, 2.0]}
    )


def packed() -> PackedTable:
    found = pack_large(frame())
    assert isinstance(found, PackedTable)
    return found


def same(found: Table, wanted: pd.DataFrame) -> None:
    assert isinstance(found, PackedTable)
    pd.testing.assert_frame_equal(found.unpack(), wanted, check_exact=True)


def test_a_table_comes_back() -> None:
    table = packed()
    same(table, frame())
    assert (len(table), list(table.columns), "age" in table, "sex" in table) == (3, [*frame()], True, False)
    assert {name: column.tolist() for name, column in table[["age", "pay"]].items()} == {
        "age": [40, 30, 40],
        "pay": [1.5, -0.0, 2.0],
    }


def test_other_columns_are_in_their_place_or_behind() -> None:
    wanted = frame().assign(city=["a", "b", "c"], new=[1, 2, 3])
    columns = {"city": pd.Series(["a", "b", "c"]), "new": pd.Series([1, 2, 3])}
    same(packed().assign(city=["a", "b", "c"], new=np.array([1, 2, 3])), wanted)
    same(with_columns(packed(), columns.items()), wanted)
    pd.testing.assert_frame_equal(unpack_table(with_columns(frame(), columns.items())), wanted)


@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_column_is_inserted_by_place_whatever_its_index(place: int) -> None:
    values = pd.Series([7, 8, 9], index=[2, 1, 0])
    wanted = frame()
    wanted.insert(place, "new", values.array)
    same(insert_column(packed(), place, "new", values), wanted)
    before = frame()
    pd.testing.assert_frame_equal(unpack_table(insert_column(before, place, "new", values)), wanted)
    assert list(before) == [*frame()]  # the table that was given stays


def test_columns_are_dropped() -> None:
    same(packed().drop(columns="age"), frame().drop(columns="age"))
    same(packed().drop(columns=["age", "sex"], errors="ignore"), frame().drop(columns="age"))
    with pytest.raises(KeyError, match="must be those of the table"):
        packed().drop(columns=["sex"])


def test_rows_are_taken_kept_and_unpacked() -> None:
    rows = np.array([2, 0, 0])
    wanted = frame().take(rows).reset_index(drop=True)
    same(take_rows(packed(), rows), wanted)
    pd.testing.assert_frame_equal(some_rows(packed(), rows), wanted)
    pd.testing.assert_frame_equal(some_rows(frame(), rows, ["city"]), wanted[["city"]])
    same(keep_rows(packed(), np.array([True, False, True])), frame().iloc[[0, 2]].reset_index(drop=True))
    table = packed()
    assert keep_rows(table, np.ones(3, np.bool_)) is table


def test_columns_of_a_large_table_are_packed_before_the_next_is_made() -> None:
    same(table_of(frame().items(), 3), frame())  # type: ignore[arg-type]


def test_small_tables_and_tables_with_a_name_twice_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert pack_large(twice) is twice
    monkeypatch.undo()
    small = frame()
    assert pack_large(small) is small
    assert isinstance(table_of(frame().items(), 3), pd.DataFrame)  # type: ignore[arg-type]
    assert is_large(PACKED_FROM)
    assert not is_large(PACKED_FROM - 1)


def test_names_become_texts_and_the_index_is_gone() -> None:
    odd = pd.DataFrame({1: [1, 2]}, index=[5, 6])
    assert list(with_text_names(odd).columns) == ["1"]
    assert list(unpack_table(without_index(odd)).index) == [0, 1]
    table = packed()
    assert with_text_names(table) is table
    assert without_index(table) is table


def test_no_cell_is_in_the_words_for_a_table() -> None:
    assert repr(packed()) == "PackedTable(3 records, 3 columns)"


def odd() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "kind": pd.Categorical(["a", None, "b"]),
            "gaps": pd.array([1, None, 3], dtype="Int64"),
            "day": pd.to_datetime(["2020-01-01", None, "2021-01-01"]).astype("datetime64[s]"),
            "other": pd.array(["a", None, "b"], dtype=pd.StringDtype("pyarrow")),
            "text": pd.array(["a", None, "b"], dtype="str"),
            "flag": [True, False, True],
        }
    )


def test_arrow_and_back_keeps_the_types_that_pandas_notes() -> None:
    table = pack_large(odd())
    same(table_from_arrow(arrow_table(table), with_metadata=True), odd())
    assert arrow_table(table).equals(pa.Table.from_pandas(odd(), preserve_index=False))
    noted = pa.Table.from_pandas(odd(), preserve_index=False).schema
    assert arrow_schema(table).equals(noted, check_metadata=True)


def test_arrow_without_metadata_is_read_as_a_file_is() -> None:
    plain = pa.Table.from_pandas(odd(), preserve_index=False)
    wanted = plain.to_pandas(ignore_metadata=True, integer_object_nulls=True)
    same(table_from_arrow(plain), wanted)


def test_a_table_of_arrow_with_a_name_twice_is_not_packed() -> None:
    twice = pa.table([[1], [2]], names=["a", "a"])
    assert isinstance(table_from_arrow(twice), pd.DataFrame)


@pytest.mark.parametrize("name", ["city", "pay", "age", "missing"])
def test_values_are_numbered_as_pandas_numbers_them(name: str) -> None:
    """Texts, numbers with and without gaps: −0.0 is 0.0, a missing value is a value."""
    columns = {
        "city": pd.array(["b", None, "a", "b", None], dtype="str"),
        "pay": [0.0, -0.0, np.nan, 1.5, np.nan],
        "age": [7, 3, 7, 7, 3],
        "missing": pd.array([None] * 5, dtype="str"),
    }
    before = pd.DataFrame(columns)
    rows = np.array([4, 3, 2, 1, 0, 0])
    wanted = pd.factorize(before[name].take(rows), use_na_sentinel=False)[0]
    for table in (take_rows(pack_large(before), rows), take_rows(before, rows)):
        assert value_numbers(table, name).tolist() == wanted.tolist()
        assert column_type(table, name) == before[name].dtype
        for missing in (True, False):
            codes, values = factorize_column(table, name, use_na_sentinel=missing)
            own, known = pd.factorize(before[name].take(rows), use_na_sentinel=missing)
            assert codes.tolist() == own.tolist()
            pd.testing.assert_index_equal(pd.Index(values), pd.Index(known))


def test_cells_of_another_table_are_recognized() -> None:
    """Whatever its own codes are; where nothing is known, who asks compares the cells."""
    before = odd().assign(n=[5, 6, 7], x=[1.5, -0.0, 1.5], y=[0.1, 0.2, 0.3])
    whole = PackedTable({name: pack_column(column) for name, column in before.items()}, 3)  # type: ignore[misc]
    rows = np.array([2, 1, 1])
    few = {name: pack_column(column) for name, column in before.take(rows).items()}
    known = {
        name for name, column in few.items() if column.has_cells_of(whole.packed_column(str(name)), rows)
    }
    assert known == {"text", "other", "n", "x"}
    changed = before.take(rows).assign(text=["a", None, None], n=[7, 6, 5], x=[1.5, 0.0, -0.0], other="c")
    for name, column in changed.items():
        assert not pack_column(column).has_cells_of(whole.packed_column(str(name)), rows)
    assert not few["text"].has_cells_of(whole.packed_column("n"), rows)


@pytest.mark.parametrize("table", [frame(), PackedTable({}, 3)])
def test_a_column_may_be_named_as_an_argument(table: Table) -> None:
    for name in ("self", "table", "columns", "name"):
        table = with_columns(table, [(name, pd.Series([1, 2, 3]))])
        table = insert_column(table, 0, f"{name}2", pd.Series([4, 5, 6]))
    assert table["self"].tolist() == [1, 2, 3]
    assert table["self2"].tolist() == [4, 5, 6]
    assert packed().assign(self=[1, 2, 3])["self"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("column", [[1, 2], [1, 2, 3, 4], 5])
def test_a_column_of_another_length_is_refused_without_its_cells(column: object) -> None:
    with pytest.raises(ValueError, match=r"^a column must have as many records as its table$"):
        packed().assign(age=column)


def test_names_that_are_one_text_are_not_merged() -> None:
    alike = pd.DataFrame([[1, 2]], columns=[1, "1"])
    assert pack_large(alike) is alike


@pytest.mark.parametrize(
    "change",
    [
        lambda cells: cells,
        lambda cells: cells.astype("float64") * 2,
        lambda cells: (cells.astype("float64") > 1).astype("str"),
        lambda cells: pd.Series([0] * len(cells), name=cells.name),
        lambda cells: cells.astype("float64") > 1,
        lambda cells: cells.astype("float64").where(cells > 1),
        lambda cells: (cells.astype("float64") * 2**60).astype("int64"),
    ],
    ids=["same", "numbers", "texts", "equal", "other type", "missing", "far apart"],
)
def test_a_column_that_is_changed_cell_by_cell(change: Callable[[pd.Series], pd.Series]) -> None:
    plain = pd.DataFrame({"pay": [1.5, -0.0, 2.0, 1.5, 2.0, 0.0]})
    table = pack_large(plain)
    assert isinstance(table, PackedTable)
    asked = list[int]()

    def counted(cells: pd.Series) -> pd.Series:
        asked.append(len(cells))
        return change(cells)

    found = with_columns(table, [("pay", change_cells(table, "pay", counted))])
    pd.testing.assert_series_equal(found["pay"], change(plain["pay"]), check_exact=True)
    assert asked[0] == 4
    assert missing_cells(found, "pay").tolist() == change(plain["pay"]).isna().tolist()


def test_what_is_wrong_with_cells_is_counted_in_records() -> None:
    def refuse(cells: pd.Series) -> pd.Series:
        raise InputError(f"{cells.name}: {len(cells)} records")

    table = pack_large(pd.DataFrame({"pay": [1.5, 1.5, 2.0, 1.5]}))
    with pytest.raises(InputError, match="pay: 4 records"):
        change_cells(table, "pay", refuse)


def test_counted_cells_of_any_table() -> None:
    cells, records = counted_cells(
        pack_large(pd.DataFrame({"city": pd.array(["b", None, "b"], "str")})), "city"
    )
    assert (cells.fillna("-").tolist(), records.tolist()) == (["b", "-"], [2, 1])
    cells, records = counted_cells(pd.DataFrame({"city": ["b", "a", "b"]}), "city")
    assert (cells.tolist(), records.tolist()) == (["b", "a", "b"], [1, 1, 1])


def test_missing_cells_of_any_table() -> None:
    for table in (packed(), frame()):
        assert missing_cells(table, "city").tolist() == [False, True, False]


def test_different_cells_are_those_that_occur_each_once_with_name_and_type() -> None:
    often = pd.concat([frame()] * 8, ignore_index=True)
    table = pack_large(often)
    for name in often:
        found, whole = different_cells(table, name), often[name]
        assert (found.name, found.dtype) == (name, whole.dtype)
        assert found.tolist() == pytest.approx([*dict.fromkeys(whole)], nan_ok=True)
    few = different_cells(take_rows(table, np.array([1] * 8)), "city")
    assert (len(few), few.isna().tolist()) == (1, [True])
    assert different_cells(frame(), "age").tolist() == [40, 30, 40]
