"""Texts that a spreadsheet would run, made harmless in CSV, and back.

A text that begins with one of the marks below gets a ``'`` in front, and so does one in which only such
quotation marks come before: each text has a form of its own, and `restore` undoes it. Classes of equal
values are therefore the same in the file as in the table.
Source: OWASP, "CSV Injection": = + - @, tab, carriage return, line feed, and the full-width marks.

Decision: docs/adr/0008-hostile-input.md.
"""

from __future__ import annotations

import re

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

_MARKS = "=+\\-@\t\r\n＝＋－＠"
_NEUTRALIZE = rf"^('*[{_MARKS}])"
_RESTORE = rf"^'('*[{_MARKS}])"
_RUN = rf"^[{_MARKS}]"
_NUMBER = r"[+-](?:\d[\d.]*(?:[eE][+-]?\d+)?|inf|nan)"  # read as a text, since its column is not known


def neutralize(table: pa.Table) -> pa.Table:
    """Put a ``'`` in front of texts and names of columns that a spreadsheet would run.

    Args:
        table: (r, columns); numbers, dates and booleans are not touched.
    """
    columns = [_replace(_plain(column), _NEUTRALIZE, r"'\1") for column in table.columns]
    return pa.table(columns, names=[re.sub(_NEUTRALIZE, r"'\1", name) for name in table.column_names])


def restore(frame: pd.DataFrame) -> pd.DataFrame:
    """Undo `neutralize` in a table that was read from CSV, (r, columns)."""
    frame = frame.set_axis([re.sub(_RESTORE, r"\1", name) for name in frame.columns], axis=1)
    texts = [name for name in frame.columns if isinstance(frame[name].dtype, pd.StringDtype)]
    for name in texts:
        frame[name] = frame[name].str.replace(_RESTORE, r"\1", regex=True)
    return frame


def count_formulas(frame: pd.DataFrame) -> dict[int, int]:
    """Count the texts of a CSV that a spreadsheet would run.

    Returns:
        Place of the column (from 1) → count, its own name included; only where there are any. A plain number
        is none.
    """
    counts = {}
    for place, name in enumerate(frame.columns, 1):
        found = int(re.match(_RUN, name) is not None)
        if isinstance(frame[name].dtype, pd.StringDtype):
            texts = frame[name].dropna()
            found += int((texts.str.match(_RUN) & ~texts.str.fullmatch(_NUMBER)).sum())
        if found:
            counts[place] = found
    return counts


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write categories out."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _replace(column: pa.ChunkedArray, pattern: str, replacement: str) -> pa.ChunkedArray:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    return pc.replace_substring_regex(column, pattern, replacement)
