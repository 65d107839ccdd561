"""Lines before the one with the names of the columns: a title, a date, an empty line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from anon_pipeline.base.headers import looks_headerless

_MOST = 30
"""Rows among which the names of the columns are looked for."""
_FEWEST_BELOW = 5
"""Rows that must come after the names."""


def count_title_rows(rows: Iterable[Sequence[str]]) -> int:
    """Count the rows before the names of the columns; 0 where the first row may have them.

    A row has the names if it is as wide as most rows, and each of its cells holds another text that does not
    come again in its column below. Rows before it count as a title only if each has texts in at most a third
    of the columns, of which there are at least three: a record is neither a title nor names.

    Args:
        rows: the first ones of a table, with texts, "" where there is nothing; rows may be of any length.
    """
    seen = [[cell.strip() for cell in row] for row in rows]
    width = Counter(len(row) for row in seen if any(row)).most_common(1)
    if not width or width[0][0] < 3:
        return 0
    columns = width[0][0]
    for place, row in enumerate(seen[:_MOST]):
        if 3 * sum(map(bool, row)) > columns:
            return place if _names_columns(row, seen[place + 1 :], columns) else 0
    return 0


def _names_columns(row: Sequence[str], below: Sequence[Sequence[str]], columns: int) -> bool:
    named = len(row) == columns and all(row) and len(set(row)) == columns and not looks_headerless(row)
    records = [record for record in below if len(record) == columns]
    return (
        named
        and len(records) >= _FEWEST_BELOW
        and not any(record[at] == name for record in records for at, name in enumerate(row))
    )
