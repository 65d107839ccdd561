"""Lines before the one with the names of the columns: a title, a date, an empty line.

A mistake here would put the cells of a record into a policy, as names. So rows count as a title only if
nothing else is likely: neither names that another separator parts, nor a record.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from anon_pipeline.base.headers import looks_headerless

SEPARATORS = (",", ";", "\t", "|")
"""Field separators that are tried."""

_MOST = 30
"""Rows among which the names of the columns are looked for."""
_FEWEST_BELOW = 5
"""Rows that must come after the names."""
_PLAIN_FORM = re.compile(r"[a ]*")


def count_title_rows(rows: Iterable[Sequence[str]]) -> int:
    """Count the rows before the names of the columns; 0 where the first row may have them.

    A row has the names if it is as wide as most rows, and each of its cells holds another text that neither
    comes again in its column below nor is written like the records there. Rows before it count as a title
    only if each has texts in at most a third of the columns, of which there are at least three, and no
    separator parts such a text into as many columns.

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
        if any(len(cell.split(separator)) == columns for cell in row for separator in SEPARATORS):
            return 0
    return 0


def _names_columns(row: Sequence[str], below: Sequence[Sequence[str]], columns: int) -> bool:
    named = len(row) == columns and all(row) and len(set(row)) == columns and not looks_headerless(row)
    records = [record for record in below if len(record) == columns]
    if not named or len(records) < _FEWEST_BELOW:
        return False
    return not any(_is_like_records(name, [record[at] for record in records]) for at, name in enumerate(row))


def _is_like_records(name: str, cells: Sequence[str]) -> bool:
    """Tell whether a text is one of a column's cells, or is written like most of them: P001 among P002, P003.

    Words alone are written like words, which says nothing.
    """
    form, there = _form_of(name), [cell for cell in cells if cell]
    alike = sum(_form_of(cell) == form for cell in there)
    return name in there or (_PLAIN_FORM.fullmatch(form) is None and 2 * alike > len(there))


def _form_of(text: str) -> str:
    """Return how a text is written: its letters, digits and signs, each kind once in a row.

    >>> [_form_of(text) for text in ("P001", "12 Mar 1940", "Dr. Meier")]
    ['a9', '9 a 9', 'a. a']
    """
    kinds = ("a" if char.isalpha() else "9" if char.isdigit() else char for char in text)
    return re.sub(r"a+", "a", re.sub(r"9+", "9", "".join(kinds)))
