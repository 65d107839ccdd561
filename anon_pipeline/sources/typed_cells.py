"""Records of Python's values, as a spreadsheet, a line of JSON or a database gives them, become a table."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import Held, limit_error
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.bounds import refuse_long_texts

RECORDS_AT_ONCE = 20_000
TITLED = (
    "If lines such as a title come before the names of the columns, write options: {skip_lines: …} next to "
    "its path, with their number."
)
"""What to write for a table that begins with a title."""
_EXACT = 2**53  # whole floats from here on may stand for another whole number
_WORDS = {True: "true", False: "false"}


class Cells:
    """A table that grows by pieces, within the limits of a source.

    Args:
        what: the file or the table, for messages.
        names: of the columns, each once.
        limits: ``columns``, ``rows``, ``cell_bytes``, ``uncompressed_bytes``.
    Raises:
        InputError: a limit that is not kept (its name), repeated names (their places).
    """

    def __init__(self, what: str, names: Sequence[str], limits: Limits) -> None:
        self._what, self._limits = what, limits
        self._names: list[str] = []
        self._pieces: list[tuple[list[pa.Array], int]] = []
        self._rows = self._bytes = 0
        self.widen(names)

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns so far."""
        return self._names

    def widen(self, names: Sequence[str]) -> None:
        """Take in more columns; their cells in records before are missing."""
        whole = [*self._names, *names]
        if len(whole) > self._limits.columns:
            raise limit_error(self._what, "columns", self._limits.columns, got=len(whole))
        refuse_repeated(self._what, whole)
        self._names = whole

    def add(self, columns: Sequence[Sequence[Any]], *, records: int | None = None) -> None:
        """Take in records.

        Args:
            columns: (columns, n) values; None is missing.
            records: n, where there may be no column yet.
        """
        count = (len(columns[0]) if columns else 0) if records is None else records
        self._rows += count
        if self._rows > self._limits.rows:
            raise limit_error(self._what, "rows", self._limits.rows)
        arrays = [arrow_column(column) for column in columns]
        piece = pa.RecordBatch.from_arrays(arrays, [str(place) for place in range(len(arrays))])
        self._bytes += refuse_long_texts(Held(self._what, b""), piece, self._limits)
        if self._bytes > self._limits.uncompressed_bytes:
            raise limit_error(self._what, "uncompressed_bytes", self._limits.uncompressed_bytes)
        self._pieces.append((arrays, count))

    def frame(self) -> pd.DataFrame:
        """Return the table, (n, columns)."""
        return frame_of(self._table())

    def take(self) -> pa.Table:
        """Return the records that were not taken before, (n, columns), and keep them no longer."""
        table = self._table()
        self._pieces = []
        return table

    def _table(self) -> pa.Table:
        whole = [self._whole(place) for place in range(len(self._names))]
        return pa.Table.from_arrays(whole, names=self._names)

    def _whole(self, place: int) -> pa.ChunkedArray:
        """Return a column: of one type, even if its pieces are of several."""
        parts = [piece[place] if place < len(piece) else pa.nulls(count) for piece, count in self._pieces]
        kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
        if len(kinds) > 1:
            return pa.chunked_array([arrow_column([one for part in parts for one in part.to_pylist()])])
        kind = kinds.pop() if kinds else pa.null()
        return pa.chunked_array([part.cast(kind) for part in parts], type=kind)


def frame_of(table: pa.Table) -> pd.DataFrame:
    """Convert a table to pandas; integers stay integers in columns with missing values."""
    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True, integer_object_nulls=True)
    return frame


def refuse_repeated(what: str, names: Sequence[str], *, titled: bool = False) -> None:
    """Refuse repeated names, by their place: in a file without a header they are cells.

    Args:
        titled: whether they may be cells of a title, and the names of the columns come later.
    """
    known = {name: list(names).count(name) for name in names} if len(set(names)) < len(names) else {}
    places = [str(place) for place, name in enumerate(names, 1) if known.get(name, 1) > 1]
    if places:
        said = f"{what}: columns must be named once, got equal names in {', '.join(places)}"
        raise InputError(f"{said}. {TITLED}" if titled else said)


def arrow_column(values: Sequence[Any]) -> pa.Array:
    """Give a column of Python's values one type.

    Values of one kind stay what they are, whole numbers and fractions become floats if that loses nothing. A
    column of several kinds is a column of texts: each value as a CSV file would have it.

    Args:
        values: (n,) None is missing.
    """
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return pa.nulls(len(values))
    if not kinds & _NO_CELLS:
        for fits, made in _RULES:
            if kinds <= fits:
                try:
                    return made(values)
                except (OverflowError, ValueError, pa.ArrowException):
                    break  # too large for the type
        if kinds - {str}:
            return pa.array([None if value is None else text_of(value) for value in values], pa.string())
    return pa.array(values)


def _floats(values: Sequence[Any]) -> pa.Array:
    if any(type(value) is int and abs(value) >= _EXACT for value in values):
        raise OverflowError
    return pa.array([None if value is None else float(value) for value in values], pa.float64())


def _decimals(values: Sequence[Any]) -> pa.Array:
    return pa.array([None if value is None else Decimal(value) for value in values])


def _moments(values: Sequence[Any]) -> pa.Array:
    midnight = datetime.time()
    return pa.array(
        [
            datetime.datetime.combine(value, midnight) if type(value) is datetime.date else value
            for value in values
        ]
    )


_NO_CELLS = {list, dict, tuple, set, bytes, memoryview, bytearray}
"""What no released file can hold: who accepts the table says so, with the name of the column."""
_RULES: tuple[tuple[set[type], Callable[[Sequence[Any]], pa.Array]], ...] = (
    ({str}, lambda values: pa.array(values, pa.string())),
    ({bool}, lambda values: pa.array(values, pa.bool_())),
    ({int}, lambda values: pa.array(values, pa.int64())),
    ({int, float}, _floats),
    ({int, Decimal}, _decimals),
    ({datetime.date}, pa.array),
    ({datetime.date, datetime.datetime}, _moments),
    ({datetime.time}, pa.array),
    ({datetime.timedelta}, pa.array),
)


def text_of(value: Any) -> str:
    """Write a value as a CSV file has it: whole numbers without a point, dates by ISO 8601.

    >>> [text_of(value) for value in ("007", 7, 7.0, 0.5, True, datetime.date(2024, 1, 31))]
    ['007', '7', '7', '0.5', 'true', '2024-01-31']
    """
    if isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, float) and math.isfinite(value) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(sep=" ")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)
