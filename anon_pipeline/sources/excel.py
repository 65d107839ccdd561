"""Tables of a workbook in Excel's format (``.xlsx``): a sheet with names of columns in its first row."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.size_bounds import Held, limit_error, open_readable
from anon_pipeline.catalog.extras import import_extra
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources.bounds import refuse_large_file
from anon_pipeline.sources.typed_cells import RECORDS_AT_ONCE, TITLED, Cells, text_of

_PART = "xl/workbook.xml"
_UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, SyntaxError, RuntimeError)
_BROKEN = (zipfile.BadZipFile, NotImplementedError, EOFError, ArithmeticError)


class SheetNotNamedError(InputError):
    """A workbook has several sheets, and nothing says which one to read."""


def is_excel(file: Path | Held) -> bool:
    """Tell whether a zip archive is a workbook."""
    try:
        with open_readable(file) as opened, zipfile.ZipFile(opened) as archive:
            return _PART in archive.namelist()
    except (OSError, ValueError, *_BROKEN):
        return False


def excel_frame(
    path: Path | Held, options: SourceOptions, limits: Limits, numbers: Sequence[str]
) -> pd.DataFrame:
    """Read one sheet of a workbook; cells keep their types.

    Texts stay texts, with leading zeros. A column with texts and other values is a column of texts, so
    nothing is guessed from the first records. Of a formula the result is read that the workbook holds.

    Args:
        options: ``sheet``, needed where there are several; ``missing``: texts that stand for no value.
    Returns:
        (n, columns); rows without a value are left out.
    Raises:
        InputError: no workbook, no such sheet, columns without a name, or a limit that is not kept.
    """
    openpyxl = import_extra("openpyxl")
    with withhold_text(f"{path.name}: must be a readable Excel file (.xlsx)", *_UNREADABLE, *_BROKEN):
        refuse_large_file(path, limits)
        with open_readable(path) as opened:
            _refuse_large_archive(path.name, opened, limits)
            book = _open(openpyxl, opened)
            sheet = _sheet(path.name, book, options.sheet)
            sheet.reset_dimensions()  # what a file says of its size may be wrong
            return _table(path.name, sheet.iter_rows(values_only=True), options, limits)


def first_rows(path: Path | Held, *, most: int = 100) -> list[list[str]]:
    """Return the first rows of a workbook with one sheet, as texts, "" where there is nothing.

    Returns:
        At most ``most`` rows; none where the sheet must be named, or the workbook cannot be read.
    """
    openpyxl = import_extra("openpyxl")
    with suppress(*_UNREADABLE, *_BROKEN), open_readable(path) as opened:
        _refuse_large_archive(path.name, opened, Limits())
        book = _open(openpyxl, opened)
        if len(book.worksheets) == 1:
            sheet = book.worksheets[0]
            sheet.reset_dimensions()
            rows = islice(sheet.iter_rows(values_only=True), most)
            return [["" if cell is None else text_of(cell) for cell in row] for row in rows]
    return []


def _open(openpyxl: Any, opened: Any) -> Any:
    """Open a workbook for reading its values alone."""
    return openpyxl.load_workbook(opened, read_only=True, data_only=True, keep_links=False, keep_vba=False)


def _refuse_large_archive(name: str, opened: Any, limits: Limits) -> None:
    """Refuse a workbook that would fill the memory; no member gives more bytes than it declares."""
    with zipfile.ZipFile(opened) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > limits.uncompressed_bytes:
        raise limit_error(name, "uncompressed_bytes", limits.uncompressed_bytes, got=size)


def _sheet(name: str, book: Any, wanted: str | None) -> Any:
    """Return the sheet that is meant."""
    sheets = book.worksheets
    if wanted is None and len(sheets) == 1:
        return sheets[0]
    if wanted is None:
        raise SheetNotNamedError(
            f"{name}: has {len(sheets)} sheets, and the policy does not say which to read. Write options: "
            "{sheet: …} next to its path."
        )
    found = [sheet for sheet in sheets if sheet.title == wanted]
    if not found:
        raise InputError(f"{name}: must have the sheet that options.sheet names, got {len(sheets)} others")
    return found[0]


def _table(
    name: str, rows: Iterator[tuple[Any, ...]], options: SourceOptions, limits: Limits
) -> pd.DataFrame:
    header = list(next(islice(rows, options.skip_lines, None), ()))
    while header and header[-1] is None:
        header.pop()
    if not header:
        raise InputError(
            f"{name}: must have a row with the names of the columns first, got an empty one. {TITLED}"
        )
    unnamed = [str(place) for place, cell in enumerate(header, 1) if cell is None]
    if unnamed:
        raise InputError(
            f"{name}: every column must have a name in the first row, got none in {', '.join(unnamed[:20])}. "
            f"{TITLED}"
        )
    cells, missing = Cells(name, [text_of(cell) for cell in header], limits), set(options.missing)
    filled = _filled_rows(name, rows, limits)
    while piece := list(islice(filled, RECORDS_AT_ONCE)):
        cells.add(_columns(name, piece, len(header), missing))
    return cells.frame()


def _filled_rows(name: str, rows: Iterator[tuple[Any, ...]], limits: Limits) -> Iterator[tuple[Any, ...]]:
    """Yield the rows with a cell; a few bytes can say that millions of empty ones come first."""
    for place, row in enumerate(rows):
        if place >= limits.rows:
            raise limit_error(name, "rows", limits.rows)
        if any(cell is not None for cell in row):
            yield row


def _columns(name: str, piece: Sequence[Sequence[Any]], width: int, missing: set[str]) -> list[list[Any]]:
    """Turn rows into columns; cells after the last name of a column would be lost."""
    if any(cell is not None for row in piece for cell in row[width:]):
        raise InputError(
            f"{name}: every column must have a name in the first row, got cells to the right of the last "
            f"name. {TITLED}"
        )
    columns: list[list[Any]] = [
        [row[place] if place < len(row) else None for row in piece] for place in range(width)
    ]
    for column in columns:
        for at, cell in enumerate(column):
            if isinstance(cell, str) and (cell == "" or cell in missing):
                column[at] = None
    return columns
