"""Files with values of the data: for their owner alone, ignored by git, never written over an edited one."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from anon_pipeline.base.disk import make_folder, replace_file
from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.vault.git_ignore import ignore_all, ignore_file

_UNREAD = "its .gitignore is no UTF-8 text"


def write_table(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Write a hierarchy table, see `write_private`; `refuse_other_tables` comes before.

    Args:
        path: of the file; its folder is made.
        rows: ``(leaf, level 1, …, top)``.
    Raises:
        InputError: it cannot be written.
    """
    write_private(path, _table(rows))


def refuse_other_tables(tables: Mapping[Path, Sequence[Sequence[str]]]) -> None:
    """Refuse to write over tables that somebody may have edited; those with the same bytes may be there.

    Args:
        tables: what would be written, by path.
    Raises:
        InputError: every file that is there and holds something else.
    """
    problems = []
    for path, rows in tables.items():
        try:
            other = path.is_symlink() or (path.exists() and path.read_bytes() != _table(rows))
        except OSError as error:
            problems.append(f"{path.name} must be readable: {error_words(error)}")
            continue
        if other:
            problems.append(
                f"{path.name}: must not be there yet, with other content: it may have been edited. Move or "
                f"remove it, or name another place (hierarchy: --to; init: --name of the release)."
            )
    if problems:
        raise InputError(problems)


def write_private(path: Path, data: bytes) -> None:
    """Write a file, 0600, that git ignores.

    A folder that has to be made is for private files alone: 0700, and git ignores all of it. In a folder that
    is there, git ignores this file.

    Raises:
        InputError: it cannot be written, or git cannot be kept off it.
    """
    try:
        if path.parent.is_dir():
            ignore_file(path)
        else:
            make_private_folder(path.parent)
        replace_file(path, data, mode=0o600, what="private file")
    except OSError as error:
        reason = error_words(error)
    except UnicodeDecodeError:
        reason = _UNREAD
    else:
        return
    raise InputError(f"{path}: must be a file that can be written: {reason}")


def make_private_folder(folder: Path) -> None:
    """Let git ignore all of a folder; make it, 0700, where it is not there.

    Raises:
        InputError: it cannot be made, or its ``.gitignore`` not written.
    """
    try:
        if not folder.is_dir():
            make_folder(folder)
            folder.chmod(0o700)
        ignore_all(folder)
    except OSError as error:
        reason = error_words(error)
    except UnicodeDecodeError:
        reason = _UNREAD
    else:
        return
    raise InputError(f"{folder.name} must be a folder for private files: {reason}")


def _table(rows: Sequence[Sequence[str]]) -> bytes:
    """Return a hierarchy table as its file holds it."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8")
