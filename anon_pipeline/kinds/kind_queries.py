"""The user's own SQL queries, asked of the releases of several kinds as they are asked of the data.

A release answers as a reader would use it: generalized cells stand for values that they cover, drawn several
times; copies of a synthetic release are asked one by one, as the combining rules want it; tables that buckets
connect are joined at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import pandas as pd

from anon_pipeline.base.errors import InputError
from anon_pipeline.kinds.alike_measures import plain_columns
from anon_pipeline.utility.sql_workload import QueryLoss, Workload, ask_all, measure_workload


def refuse_queries(workload: Workload, data: pd.DataFrame, names: Sequence[str]) -> None:
    """Ask all queries of the data, so that a wrong one is refused before a release is made.

    Args:
        data: (n, columns).
        names: columns that all releases have.
    Raises:
        InputError: a query fails, or asks for a column that a release does not have.
    """
    try:
        ask_all(workload, _alike_columns(data, data, names)[0])
    except InputError as error:
        raise InputError(f"{error}. Its columns are those of all releases: {', '.join(names)}") from None


def measure_queries(
    workload: Workload, data: pd.DataFrame, answering: Iterable[pd.DataFrame], names: Sequence[str]
) -> tuple[QueryLoss, ...]:
    """Ask all queries of the data and of the tables that a release may stand for.

    Args:
        data: (n, columns) what the release was made of.
        answering: tables of (r, columns), at least one.
        names: columns that queries can ask for.
    Raises:
        InputError: a query fails, by its number.
    """
    tables = iter(answering)
    before, first = _alike_columns(data, next(tables), names)
    others = (_alike_columns(data, table, names)[1] for table in tables)
    return tuple(measure_workload(workload, before, chain([first], others)))


def _alike_columns(
    data: pd.DataFrame, released: pd.DataFrame, names: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return both with columns of the same types: numbers, days and booleans where both have them."""
    plain = plain_columns(data, released, names)
    kept = [name for name in names if _is_kept(data[name]) and data[name].dtype == released[name].dtype]
    first, second = (
        table.assign(**{name: own[name].reset_index(drop=True) for name in kept})
        for table, own in zip(plain, (data, released), strict=True)
    )
    return first, second


def _is_kept(column: pd.Series) -> bool:
    return bool(pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_bool_dtype(column))
