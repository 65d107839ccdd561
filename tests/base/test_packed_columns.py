"""Packed columns give back what was packed: types, values to the last bit, missing ones, any rows."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_pipeline.base import scratch
from anon_pipeline.base.packed_columns import pack_column


@pytest.fixture(autouse=True, params=["memory", "files"])
def _where_columns_are(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "KEPT_FROM", 1)
    if request.param == "files":
        monkeypatch.setenv(scratch.SCRATCH, str(tmp_path))
    else:
        monkeypatch.delenv(scratch.SCRATCH, raising=False)


def same(found: pd.Series, wanted: pd.Series) -> None:
    """Require equal types, names, indexes and values; of numbers equal bits."""
    pd.testing.assert_series_equal(found, wanted.reset_index(drop=True), check_exact=True)
    if isinstance(wanted.dtype, np.dtype) and wanted.dtype.kind in "iufbM":
        assert found.to_numpy().tobytes() == wanted.to_numpy().tobytes()


def check(series: pd.Series) -> None:
    packed = pack_column(series)
    same(packed.unpack(str(series.name)), series)
    rows = np.random.default_rng(1).integers(0, max(len(series), 1), len(series) // 2 if len(series) else 0)
    taken = pd.DataFrame({0: series.array.take(rows)})[0].rename(series.name)  # objects are typed anew
    same(packed.take(rows).unpack(str(series.name)), taken)


DAY = datetime.date(2020, 2, 29)
COLUMNS: dict[str, Any] = {
    "texts": pd.array(["a", None, "", "ä 1", "a"] * 9, dtype="str"),
    "different texts": pd.array([f"v{i}" for i in range(300)], dtype="str"),
    "no text": pd.array([None] * 4, dtype="str"),
    "texts with NA": pd.array(["a", None, "b"] * 5, dtype=pd.StringDtype("pyarrow")),
    "texts of Python": pd.array(["a", None, "b"] * 5, dtype=pd.StringDtype("python")),
    "close integers": np.arange(1000, 1300),
    "far integers": np.array([-(2**63), 2**63 - 1, 0] * 9),
    "negative integers": np.array([-5, -3, -4] * 9),
    "small integers": np.array([1, 2, 1], np.int16),
    "unsigned integers": np.array([1, 2**64 - 1, 1] * 5, np.uint64),
    "wide range": np.array([0, 2**32 - 1, 2**32 - 1]),
    "beyond the range": np.array([0, 2**32, 2**32]),
    "floats": np.array([0.0, -0.0, np.nan, np.inf, 1.5] * 9),
    "different floats": np.random.default_rng(0).normal(size=300),
    "other NaN": np.array([np.nan, -np.nan] * 5),
    "single floats": np.array([1.5, np.nan] * 5, np.float32),
    "booleans": np.array([True, False] * 5),
    "integers with gaps": pd.array([1, None, 3] * 5, dtype="Int64"),
    "days": pd.to_datetime(["2020-02-29", None, "1900-01-01"] * 5),
    "days of Python": [DAY, None, DAY] * 3,
    "mixed": [1, "a", None, 2.5],
    "categories": pd.Categorical(["a", "b", None, "a"]),
    "big-endian integers": np.array([5, 7, 5] * 9, ">i8"),
    "big-endian floats": np.array([0.5, -0.0, np.nan] * 9, ">f8"),
    "empty texts": pd.array([], dtype="str"),
    "empty numbers": np.array([], np.float64),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_comes_back_as_it_was(name: str) -> None:
    check(pd.Series(COLUMNS[name], name=name))


@given(
    hnp.arrays(np.int64, st.integers(0, 60), elements=st.integers(-(2**63), 2**63 - 1))
    | hnp.arrays(np.int64, st.integers(0, 60), elements=st.integers(-300, 300))
    | hnp.arrays(np.float64, st.integers(0, 60), elements=st.floats(width=64))
    | hnp.arrays(np.float64, st.integers(0, 60), elements=st.sampled_from([0.0, -0.0, 1.5, float("nan")]))
)
def test_numbers_come_back_to_the_last_bit(numbers: np.ndarray) -> None:
    check(pd.Series(numbers, name="x"))


@pytest.mark.parametrize("name", COLUMNS)
def test_different_cells_are_numbered_in_the_order_in_which_they_occur(name: str) -> None:
    series = pd.Series(COLUMNS[name], name=name)
    packed = pack_column(series)
    for column in (packed, packed.take(np.arange(len(series))[::-2])):  # not all values are left
        numbered = column.numbered_cells()
        if numbered is None:
            continue
        numbers, cells = numbered
        same(cells.take(numbers).reset_index(drop=True).rename("x"), column.unpack("x"))
        assert pd.unique(numbers).tolist() == list(range(len(cells)))
        bits = cells.to_numpy().view(np.int64).tolist() if cells.dtype.kind in "fM" else cells.tolist()
        assert len({*bits}) == len(bits)


def test_of_which_columns_the_cells_are_numbered() -> None:
    for values in (["a", "b", "a", None] * 9, [1, 2, 1] * 9, [0.5, float("nan"), 0.5] * 9):
        assert pack_column(pd.Series(values)).numbered_cells() is not None
    for others in ([f"v{i}" for i in range(300)], [0, 2**31], [0.5, 1.5]):
        assert pack_column(pd.Series(others)).numbered_cells() is None


@given(st.lists(st.none() | st.text(st.characters(codec="utf-8"), max_size=3), max_size=40))
def test_texts_come_back(texts: list[str | None]) -> None:
    check(pd.Series(pd.array(texts, dtype="str"), name="x"))


def test_what_repeats_takes_few_bytes() -> None:
    """One byte for each of up to 256 values, and two for each of up to 65,536."""
    few, some = np.arange(10_000) % 250, np.arange(100_000) % 300
    for codes, width in ((few, 1), (some, 2)):
        for column in (pd.Series(codes / 7), pd.Series(codes), pd.Series(codes.astype(str), dtype="str")):
            packed: Any = pack_column(column)
            assert packed.codes.itemsize == width


def test_nobody_else_has_the_cells_of_an_unpacked_column() -> None:
    for values in ([1.5, 2.5, 1.5], np.random.default_rng(0).normal(size=3), ["a", "b", "a"]):
        packed = pack_column(pd.Series(values))
        changed = packed.unpack("x")
        changed[:] = changed.iloc[1]
        assert packed.unpack("x").tolist() == list(values)


def test_the_packed_column_does_not_follow_its_source() -> None:
    source = pd.Series(np.random.default_rng(0).normal(size=3))
    before, packed = source.tolist(), pack_column(source)
    source[:] = 0.0
    assert packed.unpack("x").tolist() == before


@pytest.mark.parametrize("name", COLUMNS)
def test_no_cell_is_in_the_words_for_a_column(name: str) -> None:
    """A number, such as a telephone's, would be read in a traceback."""
    series = pd.Series(COLUMNS[name], name="x")
    shown = repr(pack_column(series))
    cells = {repr(cell) for cell in series.dropna()} | {str(cell) for cell in series.dropna()}
    assert not {cell for cell in cells if len(cell) > 2 and cell in shown}
    assert "12345678901" not in repr(pack_column(pd.Series([12345678901, 12345678902])))


def test_objects_are_packed_once_they_are_texts() -> None:
    objects = pd.Series(["a", None, "b"] * 90, dtype=object)
    taken: Any = pack_column(objects).take(np.arange(270))
    assert taken.dtype == "str"
    assert taken.codes.itemsize == 1
