"""Records within a cell: a stray pair of quotes in a CSV file makes one cell of all that is between them.

The line is then as long as the others, and whole records of other people are in the cell, with their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.mistakes import first_numbers

_BREAK: Final = r"\r\n|\n|\r"
_LEAST: Final = 2  # fields in a cell that must be values of their columns, and half of all of them


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
    found = sorted(
        {before + row + 1 for place in range(table.num_columns) for row in _rows(table, place, sep)}
    )
    if found:
        cells = f"{len(found)} record{'s have' if len(found) > 1 else ' has'}"
        raise InputError(
            f'{name}: {cells} other records within a cell: a quote (") is missing, or there is one too many. '
            "Correct the file; if such cells are right, remove their line breaks.",
            records=[f"{name}, with other records within a cell: {first_numbers(found)}"],
        )


def _rows(table: pa.Table, place: int, sep: str) -> Iterator[int]:
    """Yield the rows of cells of a column that hold records."""
    column, fields = table.column(place), table.num_columns
    if fields == 1 or not pc.any(pc.match_substring_regex(column, r"[\r\n]")).as_py():
        return
    breaks = pc.count_substring_regex(column, _BREAK)
    separators = pc.count_substring(column, sep)
    alike = pc.and_(pc.greater(breaks, 0), pc.equal(separators, pc.multiply(breaks, fields - 1)))
    for row in np.flatnonzero(alike.fill_null(False).to_numpy()).tolist():
        parts = _fields_within(column[row].as_py(), sep, place, fields)
        if parts and _are_values(table, parts):
            yield row


def _fields_within(cell: str, sep: str, place: int, fields: int) -> list[tuple[int, str]]:
    """Take a cell for what is between two quotes; return its fields with their columns, none if it is not."""
    lines = [line.split(sep) for line in re.split(_BREAK, cell)]
    whole = [fields] * (len(lines) - 2)
    if [len(line) for line in lines] != [fields - place, *whole, place + 1]:
        return []
    return [((place + at) % fields, part) for at, part in enumerate(chain.from_iterable(lines))]


def _are_values(table: pa.Table, parts: list[tuple[int, str]]) -> bool:
    """Whether half of some fields are values of other records in their columns."""
    texts = [(column, part.strip(' "')) for column, part in parts if part.strip(' "')]
    known = sum(
        bool(pc.any(pc.equal(table.column(column), pa.scalar(part, pa.string()))).as_py())
        for column, part in texts
    )
    return known >= _LEAST and 2 * known >= len(texts)
