"""Partitions' files: every record once, in its order; whole or not there."""

from __future__ import annotations

import errno
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.division import part_files
from anon_pipeline.division.part_files import (
    hold_part_folder,
    remove_part_files,
    removed_unless_done,
    write_parts,
)
from anon_pipeline.vault.crypto import HEADER, Sealer, VaultKey, key_id_of, unseal, vault_key

KEY = vault_key(bytes(range(32)))
OWNERS = np.random.default_rng(5).integers(0, 3, 1_000).astype(np.int16)
TABLE = pa.table({"a": list(range(1_000)), "b": [f"text {i % 7}" if i % 5 else None for i in range(1_000)]})


def pieces(table: pa.Table, many: int = 64) -> Iterator[pa.Table]:
    for begin in range(0, len(table), many):
        yield table.slice(begin, many)


def paths(folder: Path) -> list[Path]:
    return [folder / f"{part}.parquet" for part in range(3)]


def write(rows: Iterator[pa.Table], owners: np.ndarray, folder: Path, *, key: VaultKey | None = None) -> None:
    made: list[Path] = []
    with hold_part_folder(folder, folder / "policy.yaml"), removed_unless_done(made, folder):
        write_parts(rows, owners, paths(folder), made=made, key=key)


def test_only_what_repeats_has_a_dictionary_and_nothing_has_statistics(tmp_path: Path) -> None:
    lists = pa.array([[i % 3] for i in range(1_000)])
    write(pieces(TABLE.append_column("c", lists)), OWNERS, tmp_path / "parts")
    group = pq.ParquetFile(tmp_path / "parts" / "0.parquet").metadata.row_group(0)
    coded = [any("DICT" in one for one in group.column(at).encodings) for at in range(2)]
    assert coded == [False, True]
    assert not any(group.column(at).is_stats_set for at in range(3))


def test_a_partition_without_records_has_its_columns(tmp_path: Path) -> None:
    owners = np.where(OWNERS == 1, 2, OWNERS)
    write(pieces(TABLE), owners, tmp_path / "parts")
    assert pq.read_table(tmp_path / "parts" / "1.parquet").equals(TABLE.schema.empty_table())


@pytest.mark.parametrize(("group", "waiting"), [(2**17, 2**21), (10, 2**21), (2**17, 40), (1, 1)])
def test_every_record_is_in_its_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int, waiting: int
) -> None:
    monkeypatch.setattr(part_files, "_ROW_GROUP", group)
    monkeypatch.setattr(part_files, "_WAITING", waiting)
    folder = tmp_path / "new" / "parts"
    write(pieces(TABLE), OWNERS, folder)
    for part, path in enumerate(paths(folder)):
        assert pq.read_table(path).equals(TABLE.take(np.flatnonzero(part == OWNERS)))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / ".gitignore").read_text().strip() == "*"


def opened(path: Path, key: VaultKey) -> pa.Table:
    with path.open("rb") as file:
        return pq.read_table(pa.BufferReader(b"".join(unseal(file, path.name, {key.id: key}))))


@pytest.mark.parametrize("group", [2**17, 10])
def test_with_a_key_every_partition_is_encrypted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int
) -> None:
    monkeypatch.setattr(part_files, "_ROW_GROUP", group)
    write(pieces(TABLE), OWNERS, tmp_path, key=KEY)
    for part, path in enumerate(paths(tmp_path)):
        data = path.read_bytes()
        assert key_id_of(data[:HEADER]) == KEY.id
        assert b"text 3" not in data and b"PAR1" not in data
        assert opened(path, KEY).equals(TABLE.take(np.flatnonzero(part == OWNERS)))
    with pytest.raises(InputError, match="encrypted with key"):
        opened(paths(tmp_path)[0], vault_key(bytes(range(1, 33))))


def test_an_encrypted_file_that_was_not_finished_does_not_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Sealer) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Sealer, "finish", fail)
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok=False: None)
    with pytest.raises(InputError):
        write(pieces(TABLE), OWNERS, tmp_path, key=KEY)
    monkeypatch.undo()
    with pytest.raises(InputError, match="must be as it was written"):
        opened(paths(tmp_path)[0], KEY)


def test_a_partition_without_records_has_a_file(tmp_path: Path) -> None:
    owners = np.where(OWNERS == 1, 0, OWNERS)
    write(pieces(TABLE), owners, tmp_path)
    assert pq.read_table(tmp_path / "1.parquet").num_rows == 0


@pytest.mark.parametrize("rows", [999, 1_001])
def test_a_source_that_became_another_one_leaves_nothing(tmp_path: Path, rows: int) -> None:
    owners = np.resize(OWNERS, rows)
    with pytest.raises(InputError, match="must not change while it is divided"):
        write(pieces(TABLE), owners, tmp_path)
    assert not list(tmp_path.glob("*.parquet"))


def test_a_full_disk_leaves_nothing_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: object, table: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "text 3")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(InputError, match="must be a folder that files can be written to") as raised:
        write(pieces(TABLE), OWNERS, tmp_path)
    assert "text 3" not in str(raised.value)
    assert not list(tmp_path.glob("*.parquet"))


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_after_a_failure_no_further_row_group_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: VaultKey | None
) -> None:
    """Whoever interrupts waits for the row group that is being written alone; no file can be opened."""
    written, asked = list[int](), threading.Event()
    real = getattr(part_files.PartFile, "_write")  # noqa: B009

    def write(self: part_files.PartFile, tables: list[pa.Table], many: int) -> None:
        asked.wait()
        written.append(many)
        real(self, tables, many)

    def rows() -> Iterator[pa.Table]:
        yield from (pa.table({"a": range(10)}) for _ in range(4))
        threading.Timer(0.2, asked.set).start()
        raise KeyboardInterrupt

    monkeypatch.setattr(part_files, "_ROW_GROUP", 10)
    monkeypatch.setattr(part_files.PartFile, "_write", write)
    with pytest.raises(KeyboardInterrupt):
        write_parts(rows(), np.zeros(50, np.int16), paths(tmp_path), made=[], key=key)
    assert written == [10]
    if key is not None:
        with pytest.raises(InputError, match="must be as it was written"):
            opened(paths(tmp_path)[0], key)


def test_an_interrupted_division_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> Iterator[pa.Table]:
        yield TABLE.slice(0, 500)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(interrupted(), OWNERS, tmp_path)
    assert not list(tmp_path.glob("*.parquet"))


def test_a_file_that_is_there_is_never_written_over(tmp_path: Path) -> None:
    def meanwhile() -> Iterator[pa.Table]:
        (tmp_path / "2.parquet").write_text("mine")
        yield from pieces(TABLE)

    with pytest.raises(InputError, match="can be written to"):
        write(meanwhile(), OWNERS, tmp_path)
    assert (tmp_path / "2.parquet").read_text() == "mine"


def test_files_are_removed_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "d1"
    write(pieces(TABLE), OWNERS, folder)
    (folder / "3.parquet").write_text("of somebody else")
    remove_part_files(folder, ["0", "1"])
    assert folder.exists()
    assert {path.name for path in folder.iterdir()} == {"2.parquet", "3.parquet", ".gitignore"}
    (folder / "3.parquet").unlink()
    remove_part_files(folder, ["2"])
    assert {path.name for path in folder.iterdir()} == {".gitignore"}  # it is not named after the division
    (folder / "d1.1.parquet").touch()
    remove_part_files(folder, ["d1.1"])
    assert not folder.exists()


def test_a_file_that_cannot_be_removed_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "d1" / "0.parquet").mkdir(parents=True)
    with pytest.raises(InputError, match="d1: must be a folder whose files can be removed"):
        remove_part_files(tmp_path / "d1", ["0"])
