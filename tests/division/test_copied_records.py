"""Copies of a source's records: one type for each column, in order, encrypted, and gone afterwards."""

from __future__ import annotations

import datetime
import stat
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.division import copied_records
from anon_pipeline.division.copied_records import copy_limits, copy_records
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.parquet_rows import files_of, read_rows
from anon_pipeline.sources.typed_cells import Cells, frame_of
from anon_pipeline.vault.crypto import MAGIC
from anon_pipeline.vault.keys import keys_from

CANARY = "Quillfeather-4711"


def copied(tables: list[pa.Table], folder: Path, **limits: int) -> pa.Table:
    folder.mkdir(exist_ok=True)
    wanted = Limits(**limits)
    with copy_records(tables, folder, wanted, key=keys_from().current) as place:
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        found = pa.concat_tables(read_rows("copies", files_of(place).items(), copy_limits(wanted)))
    assert not place.exists()
    return found


@pytest.mark.parametrize("key", [None, bytes(range(32)).hex()])
def test_records_keep_their_order_over_many_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    if key:
        monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", key)
    monkeypatch.setattr(copied_records, "_RECORDS", 10)
    tables = [pa.table({"a": range(7 * i, 7 * i + 7), "b": [f"{CANARY} {i}"] * 7}) for i in range(40)]
    with copy_records(tables, tmp_path, Limits(), key=keys_from().current) as place:
        files = files_of(place)
        assert len(files) == 20
        for file in files.values():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert file.read_bytes().startswith(MAGIC) == bool(key)
            assert (CANARY.encode() in file.read_bytes()) != bool(key)
        found = pa.concat_tables(read_rows("copies", files.items(), Limits()))
    assert found.equals(pa.concat_tables(tables).combine_chunks()) or found == pa.concat_tables(tables)
    assert not list(tmp_path.iterdir())


MIXED: list[list[Any]] = [
    [[None, None], [1, 2], [None, 3]],
    [[1, None], [0.5, 2.0]],
    [[Decimal("1.50")], [Decimal("1000.125"), None], [None]],
    [[1], [Decimal("0.25")]],
    [[Decimal(10**37)], [Decimal("0.25"), 1]],
    [["a"], [None], ["b"]],
    [[datetime.date(2024, 2, 29)], [None]],
]


@pytest.mark.parametrize("portions", MIXED)
@pytest.mark.parametrize("records", [1, 1000])
def test_a_column_has_the_type_that_it_has_in_a_table_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, portions: list[list[Any]], records: int
) -> None:
    monkeypatch.setattr(copied_records, "_RECORDS", records)
    whole, tables = Cells("whole", ["a"], Limits()), list[pa.Table]()
    for values in portions:
        whole.add([values])
        own = Cells("portion", ["a"], Limits())
        own.add([values])
        tables.append(own.take())
    found, want = frame_of(copied(tables, tmp_path / "parts")), whole.frame()
    assert str(found.dtypes["a"]) == str(want.dtypes["a"])
    assert list(map(repr, found["a"])) == list(map(repr, want["a"]))


@pytest.mark.parametrize(
    "portions", [[["a"], [1]], [[True], [1]], [[2**53 + 1], [0.5]], [[0.5], [2**53 + 1]]], ids=repr
)
def test_values_of_several_kinds_are_refused(tmp_path: Path, portions: list[list[Any]]) -> None:
    tables = [pa.table({"x": [CANARY], "a": values}) for values in portions]
    with pytest.raises(InputError, match="source, column 2: must have values of one kind") as raised:
        copied(tables, tmp_path / "parts")
    assert CANARY not in str(raised.value) and "9007199254740993" not in str(raised.value)
    assert not list((tmp_path / "parts").iterdir())
    (tmp_path / "named").mkdir()
    with (
        pytest.raises(InputError, match=r"^a: must have values of one kind.*Cast it in the query"),
        copy_records(tables, tmp_path / "named", Limits(), known=["a"], key=None),
    ):
        pass


def test_columns_that_come_later_are_missing_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copied_records, "_RECORDS", 1)
    tables = [pa.table({"a": [1]}), pa.table({"a": [2], "b": ["x"]}), pa.table({"b": ["y"], "c": [1.5]})]
    assert copied(tables, tmp_path / "parts").to_pylist() == [
        {"a": 1, "b": None, "c": None},
        {"a": 2, "b": "x", "c": None},
        {"a": None, "b": "y", "c": 1.5},
    ]


def test_the_limit_of_records_holds_for_all_together(tmp_path: Path) -> None:
    tables = [pa.table({"a": [1, 2, 3]})] * 3
    assert len(copied(tables, tmp_path / "parts", rows=9)) == 9
    with pytest.raises(InputError, match="rows"):
        copied(tables, tmp_path / "parts", rows=8)


def test_an_error_on_the_way_leaves_nothing(tmp_path: Path) -> None:
    def failing() -> Any:
        yield pa.table({"a": [1]})
        raise InputError("the source is gone")

    with pytest.raises(InputError, match="is gone"), copy_records(failing(), tmp_path, Limits(), key=None):
        pass
    assert not list(tmp_path.iterdir())


def test_a_copy_that_somebody_changes_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="must not change"),
        copy_records([pa.table({"a": [1]})], tmp_path, Limits(), key=None) as place,
    ):
        next(place.iterdir()).touch()


def test_decimals_among_fractions_are_refused(tmp_path: Path) -> None:
    for at, portions in enumerate(([[Decimal("0.1")], [0.1]], [[0.1], [Decimal("0.1")]])):
        with pytest.raises(InputError, match="must have values of one kind"):
            copied([pa.table({"a": values}) for values in portions], tmp_path / str(at))


def test_a_type_that_parquet_does_not_have(tmp_path: Path) -> None:
    interval = pa.array([(1, 2, 3)], pa.month_day_nano_interval())
    with pytest.raises(InputError, match="must have a type that a Parquet file can hold"):
        copied([pa.table({"a": interval})], tmp_path / "parts")
    assert not list((tmp_path / "parts").iterdir())


def test_a_file_of_somebody_else_hides_no_error(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="enough"),
        copy_records([pa.table({"a": [1]})], tmp_path, Limits(), key=None) as place,
    ):
        (place / ".DS_Store").touch()
        raise InputError("enough")
    assert [path.name for path in tmp_path.rglob("*")] == ["copies", ".DS_Store"]
