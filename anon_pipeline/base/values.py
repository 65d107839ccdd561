"""The types a column can be asked to have: finite numbers, dates, texts, anything that a table file holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.mistakes import counted_records
from anon_pipeline.base.packed_tables import Table, numbered_cells
from anon_pipeline.base.text_numbers import number_texts

_DIGIT = r"\s*\d"
_EXACT = 2**53  # whole floats from here on may stand for another whole number
_OFFSET = r"([T ]\d{2}:?\d{2}.*?)(?:Z|[+-]\d{2}(?::?\d{2})?)$"


_RELEASABLE = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_boolean,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_temporal,
    pa.types.is_null,
)


def to_arrow(column: pd.Series) -> pa.Array | pa.ChunkedArray:
    """Bring a column to Arrow as it is, if a table file can hold it.

    Args:
        column: (n,) numbers, booleans, texts, dates or times; missing values of any kind.
    Raises:
        InputError: values of several kinds, or lists, bytes and the like.
    """
    rule = f"{column.name}: must hold numbers, booleans, texts or dates, all of one kind"
    with withhold_text(rule, pa.ArrowException, ArithmeticError, TypeError, ValueError):
        array = pa.array(column, from_pandas=True)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if not any(fits(kind) for fits in _RELEASABLE):
        raise InputError(f"{rule}, got something else")
    return array


def _unfit(column: pd.Series, cast: pd.Series) -> int:
    return int((cast.isna() & column.notna()).sum())


def to_finite_numbers(column: pd.Series) -> pd.Series:
    """Cast a column to finite floats; missing values stay missing.

    Args:
        column: (n,) numbers, or texts that are numbers.
    Raises:
        InputError: texts that are no numbers, infinite ones, or some beyond 2^53, where floats no longer
            distinguish whole numbers; with the column and the count.
    """
    if pd.api.types.is_complex_dtype(column.dtype):
        raise InputError(f"{column.name}: must be a number, got complex ones")
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
        cast = column.astype(np.float64)
    else:
        with withhold_text(f"{column.name}: must be a number", ArithmeticError, TypeError):
            cast = pd.to_numeric(column.astype(object), errors="coerce").astype(np.float64)
    problems = []
    unfit = _unfit(column, cast)
    if unfit:
        problems.append(f"{column.name}: must be a number, got {counted_records(unfit)} with something else")
    infinite = int(np.isinf(cast.to_numpy()).sum())
    if infinite:
        problems.append(
            f"{column.name}: must be finite, got {counted_records(infinite)} with infinite numbers"
        )
    inexact = int((np.abs(cast.to_numpy()) >= _EXACT).sum()) - infinite
    if inexact:
        problems.append(
            f"{column.name}: must be below 2^53 in size, got {counted_records(inexact)} with more"
        )
    if problems:
        raise InputError(problems)
    return cast


def to_dates(column: pd.Series) -> pd.Series:
    """Cast a column to dates (time of day and its offset cut off); missing values stay missing.

    Args:
        column: (n,) datetimes, or texts in ISO 8601.
    Raises:
        InputError: texts that are no dates; with the column and the count.
    """
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        cast = pd.to_datetime(column)
    else:
        written = pd.Series(to_texts(column), dtype="str").str.replace(_OFFSET, r"\1", regex=True)
        dated = written.where(written.str.match(_DIGIT))  # pandas would read "now" and "today"
        cast = pd.to_datetime(dated, errors="coerce", format="ISO8601")
    unfit = _unfit(column, cast)
    if unfit:
        raise InputError(
            f"{column.name}: must be a date (YYYY-MM-DD), got {counted_records(unfit)} with something else. "
            "Other forms are read with type: date and format, under clean.columns."
        )
    return (cast if cast.dt.tz is None else cast.dt.tz_localize(None)).dt.normalize()


def to_whole_numbers(numbers: pd.Series) -> pd.Series:
    """Make integers of floats, (n,), if all are there, whole and exact; else return them as they are."""
    whole = numbers.notna() & (numbers == np.floor(numbers)) & (numbers.abs() < _EXACT)
    if bool(whole.all()):
        return numbers.astype(np.int64)
    return numbers


def to_texts(column: pd.Series) -> pd.Series:
    """Cast a column to texts as a table file would write them: whole numbers without ``.0``.

    Args:
        column: (n,) anything; missing values stay missing (None). Datetimes that are all at midnight are
            written as dates.
    """
    if column.dtype == object or isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
        if pd.api.types.infer_dtype(column) != "integer":  # in a column with None they would become floats
            column = column.infer_objects()
    if pd.api.types.is_float_dtype(column.dtype):
        column = _without_point(column)
    elif pd.api.types.is_datetime64_any_dtype(column.dtype):
        days = bool((column.dropna() == column.dropna().dt.normalize()).all())
        column = column.dt.strftime("%Y-%m-%d") if days else column
    return column.astype("str").astype(object).where(column.notna(), None)


def text_codes(column: pd.Series) -> tuple[NDArray[np.int64], pd.Series]:
    """Number the texts that `to_texts` makes of a column, in the order in which they are first there.

    Args:
        column: (n,) anything.
    Returns:
        (n,) numbers, and (m,) the texts; missing values are one of them (None).
    """
    codes, texts = arrow_codes(column)
    return codes, pd.Series(texts.to_numpy(zero_copy_only=False), dtype=object)


def arrow_codes(column: pd.Series) -> tuple[NDArray[np.int64], pa.LargeStringArray]:
    """Number texts as `text_codes` does, and leave them in Arrow: of many texts Python's take longer.

    Numbers and dates are distinguished before they are written, so that each is written once.
    """
    written = arrow_texts(column)
    if written is not None:
        return number_texts(written)
    if not _written_alike(column):
        return number_texts(pa.array(to_texts(column), type=pa.large_string()))
    codes, values = pd.factorize(column, use_na_sentinel=False)
    again, texts = arrow_codes(to_texts(pd.Series(values, dtype=column.dtype)))
    return again[codes], texts


def arrow_texts(column: pd.Series) -> pa.LargeStringArray | None:
    """Return a column of texts as Arrow has them, (n,); None: it is none."""
    if not isinstance(column.dtype, pd.StringDtype):
        return None
    texts = pa.array(column, type=pa.large_string())
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def column_codes(table: Table, name: str) -> tuple[NDArray[np.int64], pa.LargeStringArray]:
    """Number the texts of a table's column as `arrow_codes` does; of a packed one each is written once."""
    packed = numbered_cells(table, name)
    if packed is None:
        return arrow_codes(table[name])
    numbers, cells = packed
    codes, texts = arrow_codes(cells)
    return codes[numbers], texts


def text_ranks(column: pd.Series) -> NDArray[np.int64]:
    """Rank the texts that `to_texts` makes of a column, (n,), −1 where it is missing."""
    codes, texts = arrow_codes(column)
    order = pc.sort_indices(texts).to_numpy()
    ranks = np.empty(len(texts), np.int64)
    ranks[order] = np.arange(len(texts))
    ranks[texts.is_null().to_numpy(zero_copy_only=False)] = -1
    return ranks[codes]


@dataclass(frozen=True, slots=True, eq=False)
class WrittenColumns:
    """The numbers of `arrow_codes` of a table's columns: each is asked for by several, and made once.

    frame: (n, columns).
    """

    frame: Table = field(repr=False)
    _made: dict[str, NDArray[np.signedinteger]] = field(default_factory=dict, repr=False)
    _missing: dict[str, int | None] = field(default_factory=dict, repr=False)

    def both(self, name: str) -> tuple[NDArray[np.signedinteger], pa.LargeStringArray]:
        """Return a column's numbers, (n,), and texts, (m,), which are made anew."""
        codes, texts = column_codes(self.frame, name)
        self._missing[name] = int(np.argmax(texts.is_null().to_numpy(False))) if texts.null_count else None
        self._made[name] = narrow_integers(codes)  # last: other threads take what is made for complete
        return self._made[name], texts

    def codes(self, name: str) -> NDArray[np.signedinteger]:
        """Return a column's numbers, (n,), in few bytes."""
        if name not in self._made:
            self.both(name)
        return self._made[name]

    def present(self, names: Iterable[str]) -> NDArray[np.bool_] | None:
        """Tell which records, (n,), have a value in each of some columns; None: all."""
        there = [codes != missing for codes, missing in map(self._with_missing, names) if missing is not None]
        return np.logical_and.reduce(there) if there else None

    def _with_missing(self, name: str) -> tuple[NDArray[np.signedinteger], int | None]:
        """Return a column's numbers, and the one of its missing values."""
        return self.codes(name), self._missing[name]


def _written_alike(column: pd.Series) -> bool:
    """Tell whether equal values of a column are written alike: not 0 and −0, nor 1 and True."""
    if pd.api.types.is_float_dtype(column.dtype):
        numbers = column.to_numpy(np.float64, na_value=np.nan)
        return not np.signbit(numbers[numbers == 0]).any()
    of_kind = (pd.api.types.is_integer_dtype, pd.api.types.is_datetime64_any_dtype)
    return any(fits(column.dtype) for fits in of_kind)


def _without_point(column: pd.Series) -> pd.Series:
    """Turn floats that are all whole into integers."""
    present = column.dropna()
    whole = bool((present == np.floor(present)).all()) and bool((present.abs() < _EXACT).all())
    return column.astype("Int64") if whole else column
