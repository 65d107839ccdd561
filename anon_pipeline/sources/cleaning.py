"""The texts of a source become values, as the policy's section ``clean`` says; Arrow and pandas do it.

Belongs here: one column, one table. Does not belong here: how a text becomes a number, a day or a boolean
(`sources.type_readers`).

Decision: docs/adr/0051-cleaning-in-the-policy.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.mistakes import Mistake
from anon_pipeline.base.packed_tables import Table, with_columns
from anon_pipeline.base.values import to_arrow, to_dates, to_texts
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.policy.column_cleaning import ColumnCleaning
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.type_readers import Read, Wrong
from anon_pipeline.sources.value_maps import read_value_maps

_OF_TEXTS = {"unicode", "case", "values", "values_file", "truncate"}


@dataclass(frozen=True, slots=True, eq=False)
class Cleaned:
    """A table once it is cleaned.

    frame: (n, columns). In place of a cell with a mistake there is another value of its column, so that what
        else is wrong can be found: with mistakes it must not be used for anything else.
    mistakes: of all columns.
    unread: columns of which no value could be read: what else is wrong with them cannot be said.
    """

    frame: Table = field(repr=False)
    mistakes: tuple[Mistake, ...] = ()
    unread: tuple[str, ...] = ()


def clean_frame(frame: Table, policy: Policy, *, folder: Path = Path()) -> Cleaned:
    """Clean the columns of a table that the policy declares; without ``clean`` it stays as it is.

    Args:
        frame: (n, columns) as they were read; names that are repeated are left to `base.headers`.
        folder: what ``values_file`` is relative to.
    Raises:
        InputError: a value map that cannot be read.
    """
    made, mistakes, unread = frame, list[Mistake](), list[str]()
    maps = read_value_maps(policy, folder)
    for name, how in policy.cleaned.items():
        if list(frame.columns).count(name) == 1:
            column, wrong = clean_column(frame[name], how, maps.get(name, how.values or {}))
            made = with_columns(made, [(name, column)])
            mistakes += (_mistake(name, how, one) for one in wrong)
            unread += [name] if wrong and column.isna().all() else []
    return Cleaned(made, tuple(mistakes), tuple(unread))


def clean_column(
    series: pd.Series, how: ColumnCleaning, values: Mapping[str, str]
) -> tuple[pd.Series, tuple[Wrong, ...]]:
    """Clean one column.

    Args:
        series: (n,) texts, or values that have a type already.
        values: whole value → what takes its place.
    Returns:
        (n,) values, and what could not be read; a wrong cell has another value of the column.
    """
    series = series.astype(object) if isinstance(series.dtype, pd.CategoricalDtype) else series
    try:
        column = _one_array(to_arrow(series))
    except InputError:
        return series, ()  # of several kinds: what accepts the table says so
    if _is_text(column.type) or (how.type.keeps_texts and "type" in how.own):
        texts = column if _is_text(column.type) else pa.array(to_texts(series), pa.large_string())
        read = import_entry(how.type.reads)(_clean_texts(texts.cast(pa.large_string()), how, values), how)
    else:
        read = _native(series, column, how)
    return _as_series(_fill(read), series), read.wrong


def _clean_texts(column: pa.Array, how: ColumnCleaning, values: Mapping[str, str]) -> pa.Array:
    """Do with texts all that comes before their type, (n,)."""
    if how.unicode is not None:
        column = pc.utf8_normalize(column, form=how.unicode)
    if how.strip:
        column = pc.utf8_trim_whitespace(column)
    gone = [*how.missing, *([""] if how.strip else [])]
    if gone:
        absent = pc.is_in(column, pa.array(gone, pa.large_string()))
        column = pc.if_else(absent, pa.scalar(None, pa.large_string()), column)
    if how.case is not None:
        column = {"lower": pc.utf8_lower, "upper": pc.utf8_upper}[how.case](column)
    if values:
        place = pc.index_in(column, pa.array(list(values), pa.large_string()))
        others = [None if text in how.missing else text for text in values.values()]
        taken = pa.array(others, pa.large_string()).take(place)
        column = pc.if_else(pc.is_valid(place), taken, column)
    return column


def _native(series: pd.Series, column: pa.Array, how: ColumnCleaning) -> Read:
    """Take values that have a type already, if it is the one that the policy says."""
    there = column.is_valid().to_numpy(zero_copy_only=False)
    if how.missing:
        there = there & ~to_texts(series).isin(how.missing).to_numpy()
        column = pc.if_else(pa.array(there), column, pa.scalar(None, column.type))
    unused = sorted(how.own & _OF_TEXTS)
    if unused:
        named = f"of a type to which {', '.join(unused)} cannot be applied"
        return Read(
            column, (Wrong(named, there, "Write type: text, or leave them out."),) if there.any() else ()
        )
    if "type" not in how.own or column.null_count == len(column):
        return Read(column)
    cast, unfit = _cast(series, column, how)
    unfit = unfit & there
    return Read(cast, (Wrong("of another type", unfit, "Write another type."),) if unfit.any() else ())


def _cast(series: pd.Series, column: pa.Array, how: ColumnCleaning) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Convert typed values to the declared type; return which ones do not fit, (n,)."""
    kind, all_of, none = column.type, np.ones(len(column), bool), np.zeros(len(column), bool)
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    wanted = import_entry(how.type.reads)(pa.array([], pa.large_string()), how).values.type
    if pa.types.is_large_string(wanted) or wanted == kind:
        return column, none
    if pa.types.is_date32(wanted) and pa.types.is_temporal(kind):
        return pa.array(to_dates(series).dt.date, pa.date32(), from_pandas=True), none
    if pa.types.is_floating(wanted) and is_number:
        return column, none
    if pa.types.is_integer(wanted) and is_number:
        numbers = pc.cast(column, pa.float64())
        whole = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), 2.0**53))
        fits = pc.fill_null(whole, False)
        exact = (
            column if pa.types.is_integer(kind) else pc.if_else(fits, numbers, pa.scalar(None, pa.float64()))
        )
        return pc.cast(exact, pa.int64()), ~fits.to_numpy(zero_copy_only=False) & (
            none if pa.types.is_integer(kind) else all_of
        )
    return column, all_of


def _fill(read: Read) -> pa.Array:
    """Put a value of the column in the place of each wrong one, where there is one that is not wrong."""
    if not read.wrong:
        return read.values
    gone = np.logical_or.reduce([one.rows for one in read.wrong])
    good = pc.drop_null(read.values.filter(pa.array(~gone)))
    return pc.if_else(pa.array(gone), good[0], read.values) if len(good) else read.values


def _as_series(column: pa.Array, like: pd.Series) -> pd.Series:
    """Return values as when reading a file: texts as ``str``, integers with missing values as objects."""
    if _is_text(column.type):
        return pd.Series(pd.array(column.to_pandas(), dtype="str"), index=like.index, name=like.name)
    found: pd.Series = column.to_pandas(integer_object_nulls=True).set_axis(like.index)
    found.name = like.name
    return found


def _one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.cast(whole.type.value_type) if pa.types.is_dictionary(whole.type) else whole


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _mistake(name: str, how: ColumnCleaning, wrong: Wrong) -> Mistake:
    """Say of which column a mistake is, and where to write what mends it."""
    return Mistake(name, f"must be {how.type.words}", wrong.kind, wrong.rows, in_column(name, wrong.advice))


def in_column(name: str, advice: str) -> str:
    """Name the column of the policy in which to write something, if that is the advice.

    >>> in_column("born", "Write type: date.")
    'In clean.columns.born: write type: date.'
    >>> in_column("Größe", "Write type: text.")
    'In clean.columns.Größe: write type: text.'
    """
    if not advice.startswith("Write "):
        return advice
    key = name if re.fullmatch(r"[^\W\d][\w-]*", name) else json.dumps(name, ensure_ascii=False)
    return f"In clean.columns.{key}: {advice[:1].lower()}{advice[1:]}"
