"""Files with values are for their owner alone, in a folder that git ignores."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.draft.private_files import write_private, write_table
from anon_pipeline.hierarchy.written import read_table


def test_a_table_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "private" / "people" / "town.csv"
    write_table(path, [('Bern; "old"', "other", "*"), ("Thun", "Thun", "*")])
    levels = read_table(path)
    assert [level.tolist() for level in levels] == [['Bern; "old"', "Thun"], ["other", "Thun"], ["*", "*"]]


def test_it_is_private_and_ignored(tmp_path: Path) -> None:
    path = tmp_path / "private" / "x.csv"
    write_private(path, b"a")
    write_private(path, b"b")
    assert path.read_bytes() == b"b"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert (path.parent / ".gitignore").read_text() == "*\n"


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "private").write_text("a file")
    with pytest.raises(InputError, match=r"x\.csv must be writable"):
        write_private(tmp_path / "private" / "x.csv", b"a")
