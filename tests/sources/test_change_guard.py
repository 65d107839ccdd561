"""A file that changes while it is read is refused, however it changes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.sources.change_guard import files_in, last_change, refuse_changes

NAME = "people.csv"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "year=2024").mkdir()
    for path in (tmp_path / NAME, tmp_path / "year=2024" / NAME):
        path.write_text("a\n1\n")
    return tmp_path


def _same_size_and_time(path: Path) -> None:
    before = path.stat()
    path.write_text("a\n2\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)


CHANGES: dict[str, Callable[[Path], object]] = {
    "longer": lambda path: path.write_text("a\n1\n2\n"),
    "same size and time": _same_size_and_time,
    "replaced by a copy": _replaced,
    "gone": Path.unlink,
}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("whole", [False, True])
def test_a_change_is_noticed(folder: Path, how: str, whole: bool) -> None:
    changes = folder / "year=2024" / NAME if whole else folder / NAME
    with (
        pytest.raises(InputError, match=r"must not change while it is read, it did\. Run again"),
        refuse_changes(folder if whole else changes),
    ):
        CHANGES[how](changes)


def test_files_that_come_are_noticed(folder: Path) -> None:
    with pytest.raises(InputError, match="must not change"), refuse_changes(folder):
        (folder / "year=2025").mkdir()
        (folder / "year=2025" / NAME).write_text("a\n")


def test_what_stays_passes_and_an_error_of_the_reader_is_told_instead(folder: Path) -> None:
    with refuse_changes(folder), refuse_changes(folder / NAME):
        (folder / NAME).read_text()
    with pytest.raises(KeyError), refuse_changes(folder / NAME):
        (folder / NAME).unlink()
        raise KeyError


def test_hidden_files_are_no_data(folder: Path) -> None:
    (folder / "_SUCCESS").touch()
    (folder / ".part.crc").touch()
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / NAME).touch()
    assert list(files_in(folder)) == [NAME, f"year=2024/{NAME}"]


def test_a_link_that_leads_out_is_refused(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (folder / "inside").symlink_to(folder / NAME)
    assert "inside" in files_in(folder)
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.touch()
    (folder / "outside").symlink_to(secret)
    with pytest.raises(InputError, match="must have no links to files outside of it, got one"):
        files_in(folder)


def test_the_last_change_of_a_folder_is_that_of_its_newest_file(folder: Path) -> None:
    inner, outer = folder / "year=2024" / NAME, folder / NAME
    hidden = folder / "_SUCCESS"
    hidden.touch()
    for path, when in ((inner, 2_000), (outer, 1_000), (hidden, 9_000)):
        os.utime(path, ns=(0, when))
    assert last_change(outer) == (1_000, 1)
    assert last_change(folder) == (2_000, 2)
    with pytest.raises(FileNotFoundError):
        last_change(folder / "gone")
