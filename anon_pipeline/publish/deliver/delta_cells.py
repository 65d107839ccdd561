"""A released table with the types that Delta Lake tables have."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from anon_pipeline.base.errors import PublishError
from anon_pipeline.publish.deliver.sql_cells import plain_table
from anon_pipeline.publish.deliver.unfit_columns import general_problem

_DIGITS = 38  # of a decimal number, at most


def delta_records(frame: pd.DataFrame) -> pa.Table:
    """Return a table with texts, 64-bit integers, doubles, booleans, dates, times and decimals.

    Raises:
        PublishError: a type that Delta Lake does not have, by column's place; names that differ in case
            alone, which it takes for one; a time finer than microseconds.
    """
    table = plain_table(frame).replace_schema_metadata()
    if len({name.casefold() for name in table.column_names}) < len(table.column_names):
        raise PublishError("publish.deliver: columns of a Delta Lake table must differ in more than case")
    fields = [pa.field(one.name, _type(one.type, place)) for place, one in enumerate(table.schema, start=1)]
    return table.cast(pa.schema(fields))


def delta_problem(values: pa.ChunkedArray) -> str | None:
    """Say what of a column Delta Lake does not hold, in words without its values; None: it holds it."""
    if _delta_type(values.type) is None:
        return f"the type {values.type}, which Delta Lake tables do not have"
    return general_problem(values)


def _type(kind: pa.DataType, place: int) -> pa.DataType:
    found = _delta_type(kind)
    if found is None:
        raise PublishError(
            f"publish.deliver: column {place} has the type {kind}, which Delta Lake tables do not have"
        )
    return found


def _delta_type(kind: pa.DataType) -> pa.DataType | None:
    """Return the type that a column is written with; None: there is none."""
    if pa.types.is_decimal(kind) and kind.precision <= _DIGITS:
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    for fits, made in (
        (pa.types.is_boolean, pa.bool_()),
        (pa.types.is_integer, pa.int64()),
        (pa.types.is_floating, pa.float64()),
        (pa.types.is_date, pa.date32()),
        (_is_text, pa.string()),
    ):
        if fits(kind):
            return made
    return None


def _is_text(kind: pa.DataType) -> bool:
    """Tell whether a column holds texts, or nothing at all."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind))
