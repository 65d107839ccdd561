"""A large Parquet source is read column by column: the same table, the same refusals, as when read whole."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base import packed_tables
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import PackedTable, Table, unpack_table
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.change_guard import files_in
from anon_pipeline.sources.parquet import parquet_folder, read_parquet
from anon_pipeline.sources.parquet_columns import packed_folder, packed_parquet

CANARY = "Quillfeather-4711"
TABLE: dict[str, Any] = {
    "text": pa.array(["a", None, "", "b", "a", "ü"]),
    "view": pa.array(["a", None, "b", "b", "a", "long enough for a view of its own"], pa.string_view()),
    "large": pa.array(["x", "x", None, "y", "z", "z"], pa.large_string()),
    "coded": pa.array(["u", "v", None, "u", "u", "v"]).dictionary_encode(),
    "whole": pa.array([1, None, 2**53 + 1, 3, 3, -(2**63)]),
    "small": pa.array([1, 2, 3, 4, 5, 6], pa.uint8()),
    "real": pa.array([1.5, None, float("nan"), -0.0, 0.0, 1e300]),
    "yes": pa.array([True, False, None, True, True, False]),
    "day": pa.array([datetime.date(2020, 1, 1), None, *[datetime.date(1900, 2, 3)] * 4]),
    "moment": pa.array([datetime.datetime(2020, 1, 1, 3, 4)] * 5 + [None], pa.timestamp("us", "UTC")),
    "none": pa.nulls(6),
    "amount": pa.array([1, 2, None, 4, 5, 6]).cast(pa.decimal128(21, 2)),
    "list": pa.array([[1], [], None, [2], [3], [4]]),
}


@pytest.fixture(autouse=True)
def _tables_are_large_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_tables, "PACKED_FROM", 4)


def alike(one: Table, other: pd.DataFrame) -> None:
    assert isinstance(one, PackedTable)
    pd.testing.assert_frame_equal(one.unpack(), other, check_exact=True)


def written(folder: Path, table: pa.Table, name: str = "people.parquet", **how: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, **how)
    return path


@pytest.mark.parametrize("how", [{}, {"row_group_size": 2}, {"use_dictionary": False}])
def test_every_type_is_read_as_from_a_small_file(tmp_path: Path, how: dict[str, Any]) -> None:
    path = written(tmp_path, pa.table(TABLE), **how)
    alike(packed_parquet(path, limits=Limits()), read_parquet(path))
    held = Held(path.name, path.read_bytes())
    alike(packed_parquet(held, limits=Limits()), read_parquet(path))


@given(
    st.lists(
        st.tuples(st.none() | st.text(), st.none() | st.integers(-(2**63), 2**63 - 1), st.floats()),
        min_size=4,
    )
)
def test_any_values(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Any, ...]]) -> None:
    texts, numbers, reals = zip(*rows, strict=True)
    kinds = [pa.string(), pa.int64(), pa.float64()]
    columns = [pa.array(column, kind) for column, kind in zip((texts, numbers, reals), kinds, strict=True)]
    path = written(tmp_path_factory.mktemp("any"), pa.table(columns, names=["t", "n", "r"]))
    alike(packed_parquet(path, limits=Limits()), read_parquet(path))


def test_a_small_file_is_a_table_of_pandas(tmp_path: Path) -> None:
    path = written(tmp_path, pa.table({"x": [1, 2, 3]}))
    assert isinstance(packed_parquet(path, limits=Limits()), pd.DataFrame)


def test_names_with_a_point_are_not_taken_for_paths(tmp_path: Path) -> None:
    columns = {"a.b": [1, 2, 3, 4], "a": [{"b": 5}] * 4}
    path = written(tmp_path, pa.table(columns))
    pd.testing.assert_frame_equal(unpack_table(packed_parquet(path, limits=Limits())), read_parquet(path))


def test_a_folder_with_keys_is_one_table(tmp_path: Path) -> None:
    table = pa.table(TABLE)
    written(tmp_path, table, "month=01/b.parquet")
    written(tmp_path, table.slice(1, 3), "month=02/a.parquet")
    written(tmp_path, table.select(table.column_names[::-1]), "month=__HIVE_DEFAULT_PARTITION__/c.parquet")
    files = files_in(tmp_path)
    whole = parquet_folder("people", files, Limits())
    alike(packed_folder("people", files, Limits()), whole)
    assert whole["month"].isna().sum() == len(table)


def both(read: Callable[[], Table], also: Callable[[], Table]) -> str:
    """Return what two ways of reading say when they refuse, which must be the same."""
    said = []
    for way in (read, also):
        with pytest.raises(InputError) as caught:
            way()
        assert CANARY not in str(caught.value)
        said.append(str(caught.value))
    assert said[0] == said[1]
    return said[0]


@pytest.mark.parametrize(
    "limits",
    [
        {"rows": 5},
        {"columns": 2},
        {"cell_bytes": 15},
        {"uncompressed_bytes": 100},
        {"file_bytes": 100},
    ],
)
def test_limits_are_said_as_of_small_files(tmp_path: Path, limits: dict[str, int]) -> None:
    texts = ["a"] * 5 + [CANARY]
    path = written(tmp_path, pa.table({"x": range(6), "y": texts, "z": ["b"] * 6}))
    bounds = Limits(**limits)
    said = both(lambda: packed_parquet(path, limits=bounds), lambda: read_parquet(path, limits=bounds))
    assert next(iter(limits)) in said


def test_a_long_text_is_named_by_its_place_in_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, pa.table({"x": range(6), "y": ["a"] * 5 + [CANARY]}), use_dictionary=False)
    with pytest.raises(InputError, match=r"people\.parquet, column 2: .*cell_bytes"):
        packed_parquet(path, limits=Limits(cell_bytes=10))


def test_the_bytes_of_all_columns_count_together(tmp_path: Path) -> None:
    text = "a" * 900
    path = written(tmp_path, pa.table({name: [text] * 6 for name in "xyz"}), write_statistics=False)
    assert pq.read_metadata(path).row_group(0).total_byte_size < 6_000
    assert len(packed_parquet(path, limits=Limits(uncompressed_bytes=20_000))) == 6
    with pytest.raises(InputError, match="uncompressed_bytes"):
        packed_parquet(path, limits=Limits(uncompressed_bytes=12_000))


@pytest.mark.parametrize(("limit", "most"), [("rows", 11), ("uncompressed_bytes", 200)])
def test_limits_of_a_folder_are_of_all_files_together(tmp_path: Path, limit: str, most: int) -> None:
    for name in "ab":
        written(tmp_path, pa.table({"x": range(6), "y": [str(at) for at in range(6)]}), name)
    files, bounds = files_in(tmp_path), Limits(**{limit: most})
    both(lambda: packed_folder("people", files, bounds), lambda: parquet_folder("people", files, bounds))


def test_folders_that_do_not_fit_together(tmp_path: Path) -> None:
    written(tmp_path, pa.table({"x": range(6)}), "k=1/a.parquet")
    written(tmp_path, pa.table({"x": [CANARY] * 6}), "k=1/b.parquet")
    files = files_in(tmp_path)
    both(lambda: packed_folder("people", files, Limits()), lambda: parquet_folder("people", files, Limits()))


def test_the_bytes_of_a_key_count(tmp_path: Path) -> None:
    for name in "ab":
        written(tmp_path, pa.table({"x": range(1000)}), f"m={'k' * 200}/{name}.parquet")
    files, bounds = files_in(tmp_path), Limits(uncompressed_bytes=100_000)
    both(lambda: packed_folder("people", files, bounds), lambda: parquet_folder("people", files, bounds))


def test_a_key_that_is_named_twice(tmp_path: Path) -> None:
    written(tmp_path, pa.table({"x": range(6)}), "k=1/k=2/a.parquet")
    files = files_in(tmp_path)
    both(lambda: packed_folder("people", files, Limits()), lambda: parquet_folder("people", files, Limits()))


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = written(tmp_path, pa.table({"x": range(6), "y": ["abcdefgh"] * 6}), compression="none")
    path.write_bytes(path.read_bytes().replace(b"abcdefgh", b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8"))
    both(lambda: packed_parquet(path, limits=Limits()), lambda: read_parquet(path))


def test_a_file_that_is_cut(tmp_path: Path) -> None:
    path = written(tmp_path, pa.table({"x": np.arange(1000), "y": [CANARY] * 1000}))
    path.write_bytes(path.read_bytes()[:-9])
    both(lambda: packed_parquet(path, limits=Limits()), lambda: read_parquet(path))
