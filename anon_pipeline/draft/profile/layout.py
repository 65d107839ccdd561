"""How a file is written: its format, encoding, separator, and whether it begins with names of columns."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from anon_pipeline.base.errors import InputError, private_stage, withhold_text
from anon_pipeline.base.headers import looks_headerless, looks_like_record
from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.base.size_bounds import Held, file_size, open_readable
from anon_pipeline.base.spelling import is_plain, look_alikes
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.sources import DEFAULT_FORMAT, FORMATS
from anon_pipeline.draft.profile.title_lines import SEPARATORS, count_title_rows
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources.change_guard import files_in, refuse_changes
from anon_pipeline.sources.compressed_files import unpack
from anon_pipeline.sources.formats import format_of, read_file, read_folder
from anon_pipeline.sources.sealed_files import unseal_file

_FITS = 0.9  # share of lines with as many fields as a header that needs no title
_HEAD_LINES = 1_000
_HEAD_CHARACTERS = 2**20
_BLOCK = 2**20
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_LIMITS = Limits()
_UNREADABLE = (OSError, ValueError, LookupError, csv.Error)


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file is written, and how sure that is.

    format: name of a format of sources.
    sep: field separator; ``,`` where the format has none.
    encoding: by its name in Python.
    fitting: share of the first lines with as many fields as the header, in [0, 1].
    skip_lines: lines before the names of the columns, such as a title.
    guessed_encoding: whether bytes alone do not determine the encoding (another one-byte encoding would fit,
        too).
    """

    format: str
    sep: str = ","
    encoding: str = "utf-8"
    fitting: float = 1.0
    guessed_encoding: bool = False
    skip_lines: int = 0

    @property
    def written(self) -> dict[str, Any]:
        """What a policy says of it below ``options``; nothing for a format that needs none."""
        own: dict[str, Any] = {"sep": self.sep, "encoding": self.encoding} if self.is_text else {}
        return own | ({"skip_lines": self.skip_lines} if self.skip_lines else {})

    @property
    def options(self) -> SourceOptions:
        """The options of a source, without texts for missing values."""
        return SourceOptions(**self.written)

    @property
    def is_text(self) -> bool:
        """Whether separator and encoding mean anything."""
        return self.format == DEFAULT_FORMAT


def find_layout(path: Path | Held) -> Layout:
    """Find out how a file is written, from its first bytes, its first lines and a pass over its encoding.

    Raises:
        InputError: unreadable, empty, or no separator makes lines of equal length.
    """
    with withhold_text(f"{path.name}: must be a readable file", *_UNREADABLE):
        if isinstance(path, Path) and path.is_dir():
            return folder_layout()
        if not file_size(path):
            raise InputError(f"{path.name}: must have a header line, got an empty file")
        path = unseal_file(path, Limits())
        typed = format_of(path)
        if typed is None:
            path = unpack(path, Limits())
            typed = format_of(path)
        if typed is not None:
            return Layout(typed, skip_lines=_titles_of(typed, path))
        with open_readable(path) as file:
            head = file.read(4)
        encoding, guessed = _guess_encoding(path, head)
        sep, fitting, titles = _separator(_head(path, encoding))
    return Layout(DEFAULT_FORMAT, sep, encoding, fitting, guessed, titles)


def folder_layout() -> Layout:
    """Return how a folder of files is written: in the format that is read of folders."""
    return Layout(next(one.name for one in FORMATS.values() if one.folder))


def _titles_of(form: str, path: Path | Held) -> int:
    """Count the rows of a title, in formats whose tables may have some."""
    place = FORMATS[form].first_rows
    return count_title_rows(import_entry(place)(path)) if place else 0


def _guess_encoding(path: Path | Held, head: bytes) -> tuple[str, bool]:
    """Return the encoding, and whether it is a guess: any byte is a letter in encodings of one byte."""
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if marked:
        return marked, False
    for encoding in ("utf-8", "cp1252", "latin-1"):
        if _decodes(path, encoding):
            return encoding, encoding != "utf-8"
    raise AssertionError("latin-1 decodes every byte")


def _decodes(path: Path | Held, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    with open_readable(path) as file:
        try:
            while block := file.read(_BLOCK):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _head(path: Path | Held, encoding: str) -> str:
    """Return the first lines as one text."""
    own = "utf-8-sig" if encoding == "utf-8" else encoding
    with io.TextIOWrapper(open_readable(path), encoding=own, newline="") as file:
        text = file.read(_HEAD_CHARACTERS)
    cut = len(text) == _HEAD_CHARACTERS
    return text[: text.rfind("\n") + 1] if cut and "\n" in text else text


def _separator(text: str) -> tuple[str, float, int]:
    """Return the separator by which most lines have as many fields as the header, that share, and the lines
    before the header.

    Of equally fitting ones the separator of most fields; a table of one column has a comma. What may be the
    header by another separator is no title.
    """
    readings = [found for sep in SEPARATORS if (found := _read_head(text, sep)) is not None]
    headed = [found for found in readings if not found.titles and found.fitting >= _FITS]
    if any(found.bare for found in readings) and headed:
        readings = [found for found in readings if not found.bare]
    best = max(readings, key=lambda found: (found.fitting, found.fields), default=None)
    return (",", 1.0, 0) if best is None else (best.sep, best.fitting, best.titles)


class _Reading(NamedTuple):
    """The first lines by one separator.

    fitting: share of the lines with as many fields as the header, in [0, 1].
    fields: of the header.
    titles: lines before it.
    bare: whether some line of the title has this separator nowhere, and may be a header by another one.
    """

    sep: str
    fitting: float
    fields: int
    titles: int
    bare: bool


def _read_head(text: str, sep: str) -> _Reading | None:
    """Read the first lines by a separator; None where the header has one field."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    ended, rows = [0], list[list[str]]()
    for row in islice(reader, _HEAD_LINES):
        rows.append(row)
        ended.append(reader.line_num)
    titles = count_title_rows(rows)
    titles *= any(map(any, rows[:titles]))  # empty lines are skipped anyhow
    widths = [len(row) for row in rows[titles:] if row]
    if not widths or widths[0] < 2:
        return None
    share = round(Counter(widths)[widths[0]] / len(widths), 2)
    bare = any(len(row) == 1 for row in rows[:titles])
    return _Reading(sep, share, widths[0], ended[titles], bare)


def read_table(path: Path | Held, layout: Layout, limits: Limits = _LIMITS) -> pd.DataFrame:
    """Read a file as a source is read: a CSV file's cells are texts.

    Args:
        path: the file or folder, or what is held of a file.
        layout: how it is written.
        limits: how large it may be.
    Returns:
        (n, columns), at least one record.
    Raises:
        InputError: see `sources.files`; a header that cannot be one of a policy; no records.
    """
    unchanged = refuse_changes(path) if isinstance(path, Path) else nullcontext()
    with private_stage("source"), unchanged:
        frame = (
            read_folder(layout.format, path.name, files_in(path), limits)
            if isinstance(path, Path) and path.is_dir()
            else read_file(layout.format, path, layout.options, limits, ())
        )
    refuse_header(path.name, [str(name) for name in frame.columns])
    if not len(frame):
        raise InputError(f"{path.name}: must have records, got none")
    table = unpack_table(frame)
    _refuse_repeated_names(path.name, table)
    return table


def _refuse_repeated_names(file: str, table: pd.DataFrame) -> None:
    """Refuse names of columns that are values, too: of a first record that is taken for them, for example."""
    if looks_like_record(table):
        raise InputError(
            f"{file}: the first line must hold the names of the columns, and no other line; many of its "
            "fields are also values of their column. If it is a record, add a line with names. If the names "
            "are repeated among the records, remove the other lines with them. If neither, rename them."
        )


def refuse_header(file: str, names: list[str]) -> None:
    """Refuse names of columns that a policy cannot declare, by their places: they may be cells.

    Raises:
        InputError: no names, control characters, names that look alike, or a first record instead of names.
    """
    unfit = [place for place, name in enumerate(names, 1) if not name.strip() or not is_plain(name)]
    problems = []
    if unfit:
        problems.append(
            f"{file}: every column must have a name, got none (or unseen characters) in the places "
            f"{', '.join(map(str, unfit[:20]))}. Name them in the file."
        )
    elif looks_headerless(names):
        problems.append(
            f"{file}: the first line must hold the names of the columns; it looks like a record. Add a line "
            f"with names."
        )
    for one, other in look_alikes(names):
        problems.append(
            f"{file}: columns must not look alike, got such names in the places {names.index(one) + 1} and "
            f"{names.index(other) + 1}. Rename one."
        )
    if problems:
        raise InputError(problems)
