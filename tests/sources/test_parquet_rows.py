"""Records of Parquet some at a time: the table that is read as a whole, in its order."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources import parquet
from anon_pipeline.sources.change_guard import files_in
from anon_pipeline.sources.parquet import parquet_folder, read_parquet
from anon_pipeline.sources.parquet_rows import files_of, read_rows

CANARY = "Quillfeather-4711"
TABLE = pa.table({"a": [1, None, 3, 4, 5], "b": ["x", None, "y", "x", "ü"], "c": [1.5, 2.5, None, 0.0, 1e9]})


def read(path: Path, limits: Limits) -> list[pa.Table]:
    return list(read_rows(path.name, files_of(path).items(), limits))


@pytest.fixture(autouse=True)
def _few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_BATCH", 2)


def test_a_file_piece_by_piece(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(TABLE, path)
    tables = read(path, Limits())
    assert [len(table) for table in tables] == [0, 2, 2, 1]
    assert {table.schema for table in tables} == {TABLE.schema}
    assert pa.concat_tables(tables).equals(TABLE)
    assert len(read_parquet(path)) == 5


def test_a_folder_with_keys_is_read_in_the_order_of_the_whole(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    for key, rows in (("month=02", TABLE[:2]), ("month=01", TABLE[2:])):
        (folder / key).mkdir(parents=True)
        pq.write_table(rows, folder / key / "part.parquet")
    found = pa.concat_tables(read(folder, Limits())).to_pandas()
    want = parquet_folder("people", files_in(folder), Limits())
    assert list(found.columns) == list(want.columns)
    for name in want.columns:
        assert found[name].isna().tolist() == want[name].isna().tolist()
        assert found[name].dropna().tolist() == want[name].dropna().tolist()
    assert found["month"].tolist() == ["01", "01", "01", "02", "02"]


def test_files_unlike_the_first_are_refused(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "1.parquet")
    pq.write_table(TABLE.drop_columns(["c"]), tmp_path / "2.parquet")
    with pytest.raises(InputError, match="all files must have the columns"):
        read(tmp_path, Limits())


@pytest.mark.parametrize(("limit", "most"), [("rows", 6), ("uncompressed_bytes", 60), ("cell_bytes", 8)])
def test_limits_hold_of_all_files_together(tmp_path: Path, limit: str, most: int) -> None:
    for name in ("1", "2"):
        pq.write_table(TABLE.set_column(1, "b", pa.array([CANARY] * 5)), tmp_path / f"{name}.parquet")
    with pytest.raises(InputError, match=limit) as raised:
        read(tmp_path, Limits(**{limit: most}))
    assert CANARY not in str(raised.value)


def test_what_is_no_parquet(tmp_path: Path) -> None:
    (tmp_path / "people.parquet").write_text(CANARY)
    with pytest.raises(InputError, match="must be readable Parquet") as raised:
        read(tmp_path / "people.parquet", Limits())
    assert CANARY not in str(raised.value)
