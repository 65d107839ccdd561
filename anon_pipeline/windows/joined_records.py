"""Records that have waited, and those that arrive, as one table.

pandas may have another type for a column that has got its first missing value, or that lacks a category:
its type in the source is the same all the same. What is joined keeps its values; no number is rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from anon_pipeline.base.errors import InputError

_EXACT = 2**53  # up to here each whole number is a floating-point number of 64 bits


def join_records(waiting: pd.DataFrame, arrived: pd.DataFrame) -> pd.DataFrame:
    """Return both, (w + n, columns), those that have waited first; the columns in the order of the others.

    Args:
        waiting: (w, columns) records that have waited.
        arrived: (n, columns) records that arrive.
    Raises:
        InputError: they have other columns, or columns of other types.
    """
    if {*waiting.columns} != {*arrived.columns}:
        raise InputError(
            "stream: the source must have the columns that it had in the partition before. Give it these, or "
            "begin a new stream with a policy of another name."
        )
    waiting = waiting[list(arrived.columns)]
    if not len(waiting) or not len(arrived):
        return arrived if not len(waiting) else waiting
    joined = {name: _join(waiting[name], arrived[name]) for name in arrived.columns}
    other = [str(name) for name, column in joined.items() if column is None]
    if other:
        raise InputError(
            f"stream: columns must have the type that they had in the partition before: {', '.join(other)}. "
            "Write the source with these types, or begin a new stream with a policy of another name."
        )
    return pd.DataFrame(joined)


def _join(one: pd.Series, other: pd.Series) -> pd.Series | None:
    """Return a column of both; None if they are of different types."""
    if one.dtype == other.dtype and one.dtype != object:
        return _concatenate(one, other)
    if one.isna().all() or other.isna().all():
        return _join_missing(one, other)
    kinds = sorted({_kind_of(one), _kind_of(other)})
    if tuple(kinds) in _JOINED:
        return _JOINED[tuple(kinds)](one, other)
    unknown = any(kind.startswith("mixed") for kind in kinds)
    same = one.dtype == other.dtype and (unknown or len(kinds) == 1)
    return _concatenate(one, other) if same else None


def _kind_of(column: pd.Series) -> str:
    """Return of what kind the cells are that are not missing, whatever type pandas has for them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "category"
    return str(pd.api.types.infer_dtype(column, skipna=True))


def _join_missing(one: pd.Series, other: pd.Series) -> pd.Series | None:
    """Join columns of which one has nothing but missing values: the type is that of the other."""
    typed = other if one.isna().all() else one
    if typed.dtype == object or pd.api.types.is_bool_dtype(typed) or pd.api.types.is_integer_dtype(typed):
        return _join_plain(one, other)
    cells = [part if part is typed else typed.iloc[:0].reindex(range(len(part))) for part in (one, other)]
    return pd.concat(cells, ignore_index=True)


def _join_plain(one: pd.Series, other: pd.Series) -> pd.Series | None:
    """Join cells as Python has them; whole numbers and truth values have a type if none is missing.

    None if there are whole numbers that no type of 64 bits has together.
    """
    cells = [cell for part in (one, other) for cell in _cells_of(part)]
    kinds = {type(cell) for cell in cells}
    if kinds == {bool}:
        return pd.Series(cells, dtype=np.bool_)
    if kinds != {int}:
        return pd.Series(cells, dtype=object)
    kind = np.int64 if max(cells) < 2**63 else np.uint64
    bounds = np.iinfo(kind)
    return pd.Series(cells, dtype=kind) if bounds.min <= min(cells) and max(cells) <= bounds.max else None


def _cells_of(column: pd.Series) -> list[Any]:
    """Return the cells as Python has them, None where a value is missing."""
    missing = column.isna()
    return [None if gone else _plain(cell) for cell, gone in zip(column.astype(object), missing, strict=True)]


def _plain(cell: Any) -> Any:
    return cell.item() if isinstance(cell, np.generic) else cell


def _join_numbers(one: pd.Series, other: pd.Series) -> pd.Series | None:
    """Join whole numbers with others, of which none is rounded; None if one would be.

    Of whole numbers with gaps pandas may make floating-point ones: they become whole again.
    """
    floats, whole = (one, other) if _kind_of(one) == "floating" else (other, one)
    if floats.isna().any() and all(cell.is_integer() for cell in floats.dropna().astype(float)):
        if floats.abs().max() < _EXACT:
            whole_again = pd.Series(
                [None if cell is None else int(cell) for cell in _cells_of(floats)], dtype=object
            )
            parts = [whole_again if part is floats else part for part in (one, other)]
            return _join_plain(*parts)
        return None
    if any(cell is not None and abs(cell) > _EXACT for cell in _cells_of(whole)):
        return None
    parts = [part.astype(np.float64) for part in (one, other)]
    return pd.concat(parts, ignore_index=True)


def _join_categories(one: pd.Series, other: pd.Series) -> pd.Series | None:
    """Join categories, of which one column may lack some; None if their values or orders differ."""
    first, second = one.cat.categories, other.cat.categories
    if one.cat.ordered != other.cat.ordered or _kind_of(pd.Series(first)) != _kind_of(pd.Series(second)):
        return None
    every = first.append(second[~second.isin(first)])
    if one.cat.ordered:
        every = first if len(first) >= len(second) else second
        if any([*every[every.isin(part)]] != [*part] for part in (first, second)):
            return None
    cells = [*one.astype(object), *other.astype(object)]
    return pd.Series(pd.Categorical(cells, categories=every, ordered=one.cat.ordered))


def _concatenate(one: pd.Series, other: pd.Series) -> pd.Series:
    return pd.concat([one, other], ignore_index=True)


_JOINED: dict[tuple[str, ...], Callable[[pd.Series, pd.Series], pd.Series | None]] = {
    ("integer",): _join_plain,
    ("boolean",): _join_plain,
    ("category",): _join_categories,
    ("floating", "integer"): _join_numbers,
    ("floating",): _concatenate,
    ("string",): _concatenate,
}
"""How columns are joined for which pandas has different types, by the kinds of their cells, sorted."""
