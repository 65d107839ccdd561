"""A released table as records of Apache Iceberg, in few types, so that they stay from release to release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa

from anon_pipeline.base.errors import PublishError
from anon_pipeline.publish.deliver.unfit_columns import general_problem


def iceberg_records(frame: pd.DataFrame) -> pa.Table:
    """Return a released table in types of Iceberg, without what pandas notes beside it.

    Raises:
        PublishError: types that Iceberg does not have, or values that its type cannot hold, such as times
            finer than microseconds; by the columns' places.
    """
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    made, unfit = list[pa.ChunkedArray](), list[str]()
    for place, (field, column) in enumerate(zip(table.schema, table.columns, strict=True), start=1):
        kind = _iceberg_type(field.type)
        try:
            made += [] if kind is None else [column.cast(kind)]
        except pa.ArrowInvalid:  # its text quotes the cell
            kind = None
        unfit += [str(place)] if kind is None else []
    if unfit:
        raise PublishError(
            f"publish.deliver: values must be texts, 64-bit integers, doubles, booleans, dates, times in "
            f"whole microseconds or decimals of up to 38 digits, got others in the columns {', '.join(unfit)}"
        )
    return pa.table(made, names=table.column_names)


def iceberg_problem(values: pa.ChunkedArray) -> str | None:
    """Say what of a column Iceberg does not hold, in words without its values; None: it holds it."""
    if _iceberg_type(values.type) is None:
        return f"the type {values.type}, which Iceberg tables do not have"
    return general_problem(values)


def _iceberg_type(kind: pa.DataType) -> pa.DataType | None:
    """Return the type that a column is written with; None: there is none."""
    if pa.types.is_dictionary(kind):
        return _iceberg_type(kind.value_type)
    if pa.types.is_decimal(kind):
        return pa.decimal128(kind.precision, kind.scale) if kind.precision <= 38 else None
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    return next((made for fits, made in _TYPES if fits(kind)), None)


_TYPES: tuple[tuple[Callable[[pa.DataType], bool], pa.DataType], ...] = (
    (pa.types.is_boolean, pa.bool_()),
    (pa.types.is_integer, pa.int64()),
    (pa.types.is_floating, pa.float64()),
    (pa.types.is_date, pa.date32()),
    (pa.types.is_time, pa.time64("us")),
    (pa.types.is_string, pa.large_string()),
    (pa.types.is_large_string, pa.large_string()),
    (pa.types.is_null, pa.large_string()),
)


def has_columns(schema: pa.Schema, records: pa.Table) -> bool:
    """Tell whether a table has the columns of the records: names, order and types."""
    return [(one.name, one.type) for one in schema] == [(one.name, one.type) for one in records.schema]


def may_have_columns(schema: pa.Schema, expected: pa.Schema) -> bool:
    """Tell whether a table has columns that are expected: names, order and types.

    All numbers are alike here: which type of them a column has may be known only at the end.
    """
    own = [(one.name, _rough_type(_iceberg_type(one.type))) for one in expected]
    return own == [(one.name, _rough_type(one.type)) for one in schema]


def _rough_type(kind: pa.DataType | None) -> pa.DataType | None:
    numeric = kind is not None and (pa.types.is_integer(kind) or pa.types.is_decimal(kind))
    return pa.float64() if numeric else kind


def same_records(found: pa.Table, records: pa.Table) -> bool:
    """Tell whether two tables have the same columns and the same records, each as often, in any order."""
    return found.column_names == records.column_names and _counts(found) == _counts(records)


def _counts(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))
