"""Files with values are for their owner alone, in a folder that git ignores."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.draft.private_files import (
    make_private_folder,
    refuse_other_tables,
    write_private,
    write_table,
)
from anon_pipeline.hierarchy.table_files import read_table


def test_a_table_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "private" / "people" / "town.csv"
    write_table(path, [('Bern; "old"', "other", "*"), ("Thun", "Thun", "*")])
    levels = read_table(path)
    assert [level.tolist() for level in levels] == [['Bern; "old"', "Thun"], ["other", "Thun"], ["*", "*"]]


def test_a_folder_that_it_makes_is_private_and_ignored(tmp_path: Path) -> None:
    path = tmp_path / "private" / "x.csv"
    write_private(path, b"a")
    write_private(path, b"b")
    assert path.read_bytes() == b"b"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert (path.parent / ".gitignore").read_text() == "*\n"


def test_in_a_folder_that_is_there_the_file_is_ignored_and_the_rest_stays(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    write_private(tmp_path / "x.csv", b"a")
    assert stat.S_IMODE((tmp_path / "x.csv").stat().st_mode) == 0o600
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert (tmp_path / ".gitignore").read_text() == "/x.csv\n"


def test_a_folder_for_private_files_that_is_there_is_ignored(tmp_path: Path) -> None:
    folder = tmp_path / "private"
    folder.mkdir(mode=0o750)
    (folder / ".gitignore").touch()  # left by a crash
    make_private_folder(folder)
    write_private(folder / "x.csv", b"a")
    assert (folder / ".gitignore").read_text() == "*\n"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o750


def test_other_tables_are_refused_and_stay(tmp_path: Path) -> None:
    rows = [("Bern", "*")]
    tables = {
        tmp_path / name: rows for name in ("gone.csv", "same.csv", "edited.csv", "link.csv", "folder.csv")
    }
    for path in (tmp_path / "same.csv", tmp_path / "edited.csv"):
        write_table(path, rows)
    refuse_other_tables(tables)
    with (tmp_path / "edited.csv").open("a") as file:
        file.write("Thun;*\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "same.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError) as caught:
        refuse_other_tables(tables)
    assert [problem.partition(" ")[0].rstrip(":") for problem in caught.value.problems] == [
        "edited.csv",
        "link.csv",
        "folder.csv",
    ]
    assert "must not be there yet" in caught.value.problems[0]
    assert "Bern" not in str(caught.value)
    assert (tmp_path / "edited.csv").read_text() == "Bern;*\nThun;*\n"


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "private").write_text("a file")
    with pytest.raises(InputError, match=r"private must be a folder for private files"):
        write_private(tmp_path / "private" / "x.csv", b"a")


@pytest.mark.parametrize("write", [lambda folder: write_private(folder / "x.csv", b"a"), make_private_folder])
def test_nothing_is_written_where_git_cannot_be_kept_off(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    (tmp_path / ".gitignore").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"its \.gitignore is no UTF-8 text"):
        write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".gitignore"]
