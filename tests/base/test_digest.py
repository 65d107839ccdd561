"""A digest says that two tables say the same: through files, chunks and indices; and that they do not."""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base import digest, packed_tables
from anon_pipeline.base.digest import digest_column, digest_file, digest_frame, digest_packed
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import PackedTable, pack_large
from anon_pipeline.base.values import to_arrow
from anon_pipeline.publish.file_formats import from_bytes, to_bytes
from tests.example_counts import examples_of

CANARY = "-".join(["CANARY", "7f3a"])
ROWS = 3
FORMATS: tuple[str, ...] = ("parquet", "csv")


def of(*values: Any, dtype: Any = None) -> str:
    return digest_frame(pd.DataFrame({"c": pd.Series(list(values), dtype=dtype)}))


COLUMNS = {
    "integers": pd.Series([1, -2, 3]),
    "small integers": pd.Series([1, -2, 3], dtype="int8"),
    "unsigned": pd.Series([1, 2**63, 3], dtype="uint64"),
    "nullable integers": pd.Series([1, -2, 3], dtype="Int64"),
    "integers, some missing": pd.Series([1, None, 3], dtype="Int64"),
    "integers beside None": pd.Series([1, None, 3], dtype=object),
    "floats": pd.Series([0.1, -0.0, 1e300]),
    "floats, some missing": pd.Series([5e-324, np.nan, 123456789.12345679]),
    "nullable floats": pd.Series([1.5, None, 2], dtype="Float64"),
    "booleans": pd.Series([True, False, True]),
    "booleans, some missing": pd.Series([True, None, False], dtype="boolean"),
    "texts": pd.Series(["a", "", "ß\n,;\"'"]),
    "texts, some missing": pd.Series([None, "", "NULL"]),
    "arrow texts": pd.Series(["a", None, ""], dtype=pd.ArrowDtype(pa.string())),
    "nul": pd.Series(["a\x00b", "\x00", ""]),
    "nothing": pd.Series([None, None, None], dtype=object),
    "times": pd.Series(pd.to_datetime(["2020-01-01 12:30:00.000001", None, "1600-01-01"], format="ISO8601")),
    "nanoseconds": pd.Series(pd.to_datetime([1, 10**18 + 1, 0], unit="ns")),
    "seconds": pd.Series(pd.to_datetime(["2020-01-01", "1969-12-31", None])).astype("datetime64[s]"),
    "zoned": pd.Series(pd.to_datetime(["2020-01-01", None, "2021-06-01"])).dt.tz_localize("Europe/Berlin"),
    "days": pd.Series([dt.date(2020, 1, 1), None, dt.date(1969, 12, 31)]),
    "decimals": pd.Series([decimal.Decimal("1.10"), None, decimal.Decimal("2")]),
    "clock": pd.Series([dt.time(1), None, dt.time(2, 3)]),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_table_that_comes_back_from_a_file_has_its_digest(name: str, form: str) -> None:
    table = pd.DataFrame({"n": range(ROWS), name: COLUMNS[name]})
    assert digest_frame(from_bytes(to_bytes(table, form), form, like=table)) == digest_frame(table)


def test_every_column_has_a_digest_of_its_own() -> None:
    """But for integers that are only held otherwise."""
    digests = {name: digest_frame(pd.DataFrame({"c": column})) for name, column in COLUMNS.items()}
    assert digests.pop("nullable integers") == digests["integers"]
    assert digests.pop("integers beside None") == digests["integers, some missing"]
    assert len(set(digests.values())) == len(digests)


TABLES = st.fixed_dictionaries(
    {
        "i": st.lists(st.integers(-(2**63), 2**63 - 1), min_size=ROWS, max_size=ROWS),
        "f": st.lists(st.none() | st.floats(allow_nan=False, width=64), min_size=ROWS, max_size=ROWS),
        "s": st.lists(
            st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
            min_size=ROWS,
            max_size=ROWS,
        ),
        "b": st.lists(st.booleans(), min_size=ROWS, max_size=ROWS),
    }
)


def typed(cells: dict[str, list[Any]]) -> pd.DataFrame:
    dtypes = {"i": "int64", "f": "float64", "s": "str", "b": "bool"}
    return pd.DataFrame({name: pd.Series(cells[name], dtype=dtypes[name]) for name in dtypes})


@settings(max_examples=examples_of(60), deadline=None)
@given(cells=TABLES, form=st.sampled_from(FORMATS))
def test_any_table_comes_back(cells: dict[str, list[Any]], form: str) -> None:
    table = typed(cells)
    assert digest_frame(from_bytes(to_bytes(table, form), form, like=table)) == digest_frame(table)


def said(cells: dict[str, list[Any]]) -> str:
    return repr(sorted(cells.items()))


@settings(max_examples=examples_of(60), deadline=None)
@given(one=TABLES, other=TABLES)
def test_different_tables_differ(one: dict[str, list[Any]], other: dict[str, list[Any]]) -> None:
    assert (digest_frame(typed(one)) == digest_frame(typed(other))) == (said(one) == said(other))


@settings(max_examples=examples_of(100), deadline=None)
@given(cells=TABLES, row=st.integers(0, ROWS - 1), data=st.data())
def test_any_changed_cell_changes_it(cells: dict[str, list[Any]], row: int, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(cells)))
    table = typed(cells)
    changed = {key: list(values) for key, values in cells.items()}
    value = changed[name][row]
    changed[name][row] = {
        "i": lambda: value ^ 1,
        "f": lambda: 0.0 if value is None else None,
        "s": lambda: "" if value is None else value + "x",
        "b": lambda: not value,
    }[name]()
    assert digest_frame(typed(changed)) != digest_frame(table)


def test_pinned() -> None:
    """A digest in an old manifest must still name the same table."""
    table = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    parts = [b"2", b"\x001:a\x00int64\x00", b"\xc0", np.array([1, 2]).tobytes()]
    parts += [b"\x001:b\x00large_string\x00", b"\x80", np.array([1, 0]).tobytes(), b"x"]
    assert digest_frame(table) == hashlib.sha256(b"".join(parts)).hexdigest()


@pytest.mark.parametrize("index", [[5, 5], ["b", "a"], [None, 1]])
def test_the_index_does_not_matter(index: list[Any]) -> None:
    table = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    assert digest_frame(table.set_axis(index, axis=0)) == digest_frame(table)


@pytest.mark.parametrize(
    "name", ["texts, some missing", "integers, some missing", "booleans, some missing", "zoned"]
)
def test_chunks_do_not_matter(name: str) -> None:
    whole = pa.array(COLUMNS[name], from_pandas=True)
    whole = whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
    pieces = [[whole], [whole[:1], whole[1:1], whole[1:]], [whole[i : i + 1] for i in range(ROWS)]]
    digests = {
        digest_frame(pd.DataFrame({"c": pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array(parts)))}))
        for parts in pieces
    }
    assert digests == {digest_frame(pd.DataFrame({"c": COLUMNS[name]}))}


def test_a_part_of_a_table_is_the_table_of_that_part() -> None:
    table = pd.DataFrame({"a": range(20), "b": [None if i % 3 else f"x{i}" for i in range(20)]})
    assert digest_frame(table.iloc[7:12]) == digest_frame(table.iloc[7:12].copy().reset_index(drop=True))
    assert digest_frame(table.iloc[7:12]) != digest_frame(table.iloc[7:13])


def test_how_texts_are_held_does_not_matter() -> None:
    dtypes = (
        "str",
        "string",
        "category",
        object,
        pd.ArrowDtype(pa.string()),
        pd.ArrowDtype(pa.large_string()),
    )
    assert len({of("a", None, "", dtype=dtype) for dtype in dtypes}) == 1


@pytest.mark.parametrize("cells", [["b", None, "", "äö", "b"] * 9, ["x"] * 7, [None] * 3, []])
def test_a_packed_table_has_the_digest_of_its_cells(
    cells: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_tables, "PACKED_FROM", 0)
    monkeypatch.setattr(digest, "_TEXTS", 4)
    frame = pd.DataFrame({"city": pd.array(cells, "str"), "age": np.arange(len(cells)) // 2})
    packed = pack_large(frame)
    assert isinstance(packed, PackedTable)
    assert digest_frame(packed) == digest_frame(frame)
    for name in frame.columns:
        found = digest_packed(name, packed.packed_column(name), len(frame))
        assert found == digest_column(name, to_arrow(frame[name]))


@pytest.mark.parametrize("many", [*range(18), 64, 65])
def test_a_bit_says_of_each_value_that_it_is_there(many: int) -> None:
    """Without missing values the bits are not read off the column."""
    whole = pa.array([*range(many), None], pa.float64())
    for array, bits in ((whole.slice(0, many), [1] * many), (whole, [1] * many + [0])):
        sha = hashlib.sha256(str(len(array)).encode() + b"\x001:c\x00double\x00")
        sha.update(np.packbits(np.array(bits, np.uint8)).tobytes())
        sha.update(array.fill_null(0).to_numpy().tobytes())
        assert digest_column("c", array) == sha.hexdigest()


def test_cells_do_not_run_into_each_other() -> None:
    assert of("ab", "c") != of("a", "bc")
    assert of("a\x00", "b") != of("a", "\x00b")
    assert of(None, "") != of("", None)
    assert of("", "") != of(None, None, dtype="str")
    assert of(0.0, 1.0) != of(None, 1.0)


def test_columns_do_not_run_into_each_other() -> None:
    def digest(**columns: list[str]) -> str:
        return digest_frame(pd.DataFrame(columns, dtype="str"))

    assert len({digest(a=["x"], b=["y"]), digest(b=["y"], a=["x"]), digest(a=["y"], b=["x"])}) == 3
    assert digest(a=["x"]) != digest(b=["x"])
    assert digest(ab=["x"]) != digest(a=["bx"])
    assert digest(a=["x"]) != digest(a=["x"], b=["x"])


def test_names_types_and_order_count() -> None:
    assert of(1, 2) != of(2, 1)
    digests = [
        of(1, 0),
        of(1, 0, dtype="int32"),
        of(1.0, 0.0),
        of(1.0, 0.0, dtype="float32"),
        of("1", "0"),
        of(True, False),
        of(1, 0, dtype="datetime64[us]"),
        of(1, 0, dtype="timedelta64[us]"),
    ]
    assert len(set(digests)) == len(digests)
    zoned = pd.Series(pd.to_datetime(["2020-01-01"]))
    assert len({of(*zoned), of(*zoned.dt.tz_localize("UTC")), of(*zoned.dt.tz_localize("Asia/Tokyo"))}) == 3


def test_no_records_and_no_columns() -> None:
    assert digest_frame(pd.DataFrame({"a": []})) != digest_frame(pd.DataFrame({"b": []}))
    assert digest_frame(pd.DataFrame(index=[0])) != digest_frame(pd.DataFrame())
    empty = pd.Series([], dtype=pd.ArrowDtype(pa.string()))
    assert digest_frame(pd.DataFrame({"a": empty})) == digest_frame(pd.DataFrame({"a": []}, dtype="str"))


def test_large_integers_beside_missing_values_are_not_rounded() -> None:
    assert of(2**60, None, dtype="Int64") != of(2**60 + 1, None, dtype="Int64")


def test_nanoseconds_count() -> None:
    assert of(pd.Timestamp(1000)) == of(pd.Timestamp("1970-01-01 00:00:00.000001"))
    assert len({of(pd.Timestamp(1000)), of(pd.Timestamp(1001)), of(pd.Timestamp(1002))}) == 3


@pytest.mark.parametrize("cells", [[[1]], [{CANARY: 1}], [CANARY.encode()], [CANARY, 1]], ids=str)
def test_what_has_no_digest(cells: list[Any]) -> None:
    with pytest.raises(InputError, match="c: must hold numbers, booleans, texts or dates") as caught:
        of(*cells, dtype=object)
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


def test_the_digest_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert digest_file(path) == hashlib.sha256(b"abc").hexdigest()
