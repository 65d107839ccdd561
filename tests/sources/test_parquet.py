"""A folder of Parquet files is one table, and folders named for values are columns of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.change_guard import files_in
from anon_pipeline.sources.parquet import parquet_folder, read_parquet
from anon_pipeline.sources.parquet_columns import packed_parquet

CANARY = "Quillfeather-4711"


def put(folder: Path, inside: str, **columns: Any) -> None:
    path = folder / inside
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def read(folder: Path, **limits: int) -> pd.DataFrame:
    return parquet_folder("people", files_in(folder), Limits(**limits))


def refused(folder: Path, **limits: int) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, **limits)
    assert CANARY not in str(caught.value)
    assert str(folder) not in str(caught.value)
    return str(caught.value)


def test_what_another_library_wrote_in_partitions(tmp_path: Path) -> None:
    table = pa.table({"id": ["007", "8", "9"], "n": [1, None, 3], "month": ["01", "02", "02"]})
    ds.write_dataset(
        table,
        tmp_path,
        format="parquet",
        partitioning=ds.partitioning(pa.schema([("month", pa.string())]), flavor="hive"),
    )
    frame = read(tmp_path).sort_values("id")
    assert frame["id"].tolist() == ["007", "8", "9"]
    assert frame["n"].tolist() == [1, None, 3]
    assert frame["month"].tolist() == ["01", "02", "02"]  # not 1 and 2


def test_values_in_names_of_folders_are_decoded_and_may_be_missing(tmp_path: Path) -> None:
    put(tmp_path, "city=Z%C3%BCrich/sex=f/a.parquet", n=[1])
    put(tmp_path, "city=__HIVE_DEFAULT_PARTITION__/sex=m/b", n=[2])
    frame = read(tmp_path)
    assert frame["city"].iloc[0] == "Zürich"
    assert frame["city"].isna().tolist() == [False, True]
    assert frame["sex"].tolist() == ["f", "m"]


def test_a_folder_without_keys_is_one_table_in_the_order_of_its_files(tmp_path: Path) -> None:
    put(tmp_path, "2.parquet", b=[2], a=["x"])
    put(tmp_path, "1.parquet", a=["y"], b=[1])
    put(tmp_path, "_metadata", other=[1])
    pd.testing.assert_frame_equal(read(tmp_path), pd.DataFrame({"a": ["y", "x"], "b": [1, 2]}, dtype=None))


def test_a_folder_of_one_file_is_the_file(tmp_path: Path) -> None:
    put(tmp_path, "1.parquet", a=["x", None], b=[2**53 + 1, None], c=[1.5, None], d=[True, False])
    pd.testing.assert_frame_equal(read(tmp_path), read_parquet(tmp_path / "1.parquet"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("a.parquet", {"x": [1]}), ("b.parquet", {"x": ["1"]})),
        (("a.parquet", {"x": [1]}), ("b.parquet", {"x": [1], CANARY: [1]})),
        (("k=1/a.parquet", {"x": [1]}), ("b.parquet", {"x": [1]})),
        (("k=1/a.parquet", {"x": [1]}), (f"{CANARY}=1/b.parquet", {"x": [1]})),
    ],
)
def test_files_that_do_not_fit_together_are_counted(tmp_path: Path, first: Any, second: Any) -> None:
    for inside, columns in (first, second):
        put(tmp_path, inside, **columns)
    assert refused(tmp_path).endswith("lie in folders with the same keys, got 1 others")


def test_a_key_that_is_a_column_too(tmp_path: Path) -> None:
    put(tmp_path, "x=1/a.parquet", y=[1], x=[1])
    assert "columns must be named once, got equal names in 2, 3" in refused(tmp_path)


def test_an_empty_folder_and_files_of_another_format(tmp_path: Path) -> None:
    assert "people: must have Parquet files, got an empty folder" in refused(tmp_path)
    (tmp_path / "notes.txt").write_text(CANARY)
    assert "must be a readable folder of Parquet files" in refused(tmp_path)


@pytest.mark.parametrize(("limit", "most"), [("rows", 5), ("uncompressed_bytes", 200)])
def test_limits_are_of_all_files_together(tmp_path: Path, limit: str, most: int) -> None:
    for inside in "abcdef":
        put(tmp_path, inside, x=[1, 2, 3], y=["1", "2", "3"])
    assert f"people: must keep the limit {limit} ({most})" in refused(tmp_path, **{limit: most})


@pytest.mark.parametrize("packed", [False, True])
def test_numbers_of_16_bits_are_read_as_wider_ones(tmp_path: Path, packed: bool) -> None:
    """Pandas cannot group them."""
    path = tmp_path / "half.parquet"
    pq.write_table(pa.table({"x": pa.array(np.array([0.5, 2.25, 0.5], np.float16))}), path)
    table = packed_parquet(path, limits=Limits()) if packed else read_parquet(path)
    column = table["x"]
    assert column.dtype == np.float32
    assert column.tolist() == [0.5, 2.25, 0.5]
