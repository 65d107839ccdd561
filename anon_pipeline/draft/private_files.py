"""Files with values of the data: for their owner alone, in a folder that git ignores."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from anon_pipeline.base.disk import make_folder, replace_file
from anon_pipeline.base.errors import InputError, error_words

_IGNORE = "*\n"


def write_table(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Write a hierarchy table, 0600, and let git ignore its folder, 0700.

    Args:
        path: of the file; its folder is made.
        rows: ``(leaf, level 1, …, top)``.
    Raises:
        InputError: it cannot be written.
    """
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    write_private(path, text.getvalue().encode("utf-8"))


def write_private(path: Path, data: bytes) -> None:
    """Write a file, 0600, into a folder of its own, 0700, which ignores itself.

    Raises:
        InputError: it cannot be written.
    """
    try:
        if not path.parent.is_dir():
            make_folder(path.parent)
            path.parent.chmod(0o700)
            replace_file(path.parent / ".gitignore", _IGNORE.encode(), mode=0o600, what="ignoring")
        replace_file(path, data, mode=0o600, what="private file")
    except OSError as error:
        raise InputError(f"{path.name} must be writable: {error_words(error)}") from None
