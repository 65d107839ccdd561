"""Records within a cell: a stray pair of quotes in a CSV file makes one cell of all that is between them.

The line is then as long as the others, and whole records of other people are in the cell, with their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.record_numbers import RecordNumbers

_BREAK: Final = r"\r\n|\n|\r"
_LEAST: Final = 2  # fields of a cell that must be values of their columns; so must half of all its fields


class _Cell(NamedTuple):
    """A cell with the fields of records: its row, and each field with the column in which it would be."""

    row: int
    parts: list[tuple[int, str]]


def refuse_swallowed_records(name: str, table: pa.Table, sep: str, *, before: int = 0) -> None:
    """Refuse a table with a cell that holds the rest of a record and the beginning of another one.

    A cell with line breaks is one if its lines have as many fields as records would have there, and half of
    these fields are values of the columns in which they would be.

    Args:
        name: of the file.
        table: (n, columns) texts.
        before: records of the file before these.
    Raises:
        InputError: how many such cells there are; which records they are in is withheld.
    """
    cells = [cell for place in range(table.num_columns) for cell in _cells(table, place, sep)]
    found = [before + row + 1 for row in sorted({*_rows_with_values(table, cells)})]
    if found:
        said = f"{len(found)} record{'s have' if len(found) > 1 else ' has'}"
        raise InputError(
            f'{name}: {said} other records within a cell: a quote (") is missing, or there is one too many. '
            "Correct the file; if such cells are right, remove their line breaks.",
            records=[RecordNumbers(f"{name}, with other records within a cell", found)],
        )


def _cells(table: pa.Table, place: int, sep: str) -> Iterator[_Cell]:
    """Yield the cells of a column that have the fields of records."""
    column, fields = table.column(place), table.num_columns
    if fields == 1 or not any(_has_breaks(chunk) for chunk in column.chunks):
        return
    breaks = pc.count_substring_regex(column, _BREAK)
    separators = pc.count_substring(column, sep)
    alike = pc.and_(pc.greater(breaks, 0), pc.equal(separators, pc.multiply(breaks, fields - 1)))
    rows = np.flatnonzero(alike.fill_null(False).to_numpy())
    for row, cell in zip(rows.tolist(), column.take(pa.array(rows)).to_pylist(), strict=True):
        parts = _fields_within(cell, sep, place, fields)
        if parts:
            yield _Cell(row, parts)


def _has_breaks(texts: pa.StringArray) -> bool:
    """Tell whether a byte of some texts ends a line; all of them are looked at together, which is fast."""
    buffer = texts.buffers()[2]
    if buffer is None:
        return False
    own = np.frombuffer(buffer, np.uint8)
    return any(bool((own == ord(end)).any()) for end in "\r\n")


def _fields_within(cell: str, sep: str, place: int, fields: int) -> list[tuple[int, str]]:
    """Take a cell for what is between two quotes; return its fields with their columns, none if it is not."""
    lines = [line.split(sep) for line in re.split(_BREAK, cell)]
    whole = [fields] * (len(lines) - 2)
    if [len(line) for line in lines] != [fields - place, *whole, place + 1]:
        return []
    return [((place + at) % fields, part.strip(' "')) for at, part in enumerate(chain.from_iterable(lines))]


def _rows_with_values(table: pa.Table, cells: Sequence[_Cell]) -> Iterator[int]:
    """Yield the rows of cells of which half of the fields are values of other records in their columns."""
    own = [(at, place, text) for at, cell in enumerate(cells) for place, text in cell.parts if text]
    ats, places = (np.array([part[side] for part in own], np.int64) for side in (0, 1))
    texts, known = pa.array([text for _, _, text in own], pa.string()), np.zeros(len(own), np.bool_)
    for place in np.unique(places).tolist():
        there = np.flatnonzero(places == place)
        found = pc.is_in(texts.take(pa.array(there)), value_set=table.column(place))
        known[there] = found.to_numpy(zero_copy_only=False)
    values, filled = (np.bincount(some, minlength=len(cells)) for some in (ats[known], ats))
    for at in np.flatnonzero((values >= _LEAST) & (2 * values >= filled)).tolist():
        yield cells[at].row
