"""Columns that a destination cannot hold: which, and why, without a value of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anon_pipeline.base.errors import PublishError

Columns = Iterable[tuple[str, pa.ChunkedArray]]
"""Names of columns with their values, without categories; of some only the type is known."""

Look = Callable[[pa.ChunkedArray], str | None]
"""Says what of a column a destination cannot hold, in words without its values; None: it holds it."""

FINE = "times finer than microseconds"
LARGE = "whole numbers above 9223372036854775807"


def columns_of(frame: pd.DataFrame) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """Yield the columns of a released table, categories by their values."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        yield name, column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


def refuse_unfit(
    key: str, columns: Columns, problem_of: Callable[[pa.ChunkedArray], str | None]
) -> pa.Schema:
    """Refuse columns that a destination cannot hold.

    Args:
        key: of the policy, that names the destination.
        problem_of: of the destination.
    Returns:
        The names and types of the columns.
    Raises:
        PublishError: by the columns' names, and with what to do.
    """
    fields, problems = list[pa.Field](), list[str]()
    for name, values in columns:
        problem = problem_of(values)
        fields.append(pa.field(name, values.type))
        problems += [] if problem is None else [f"{key}: column {name} has {problem}"]
    if problems:
        raise PublishError([*problems, f"{key}: must be able to hold all columns. {_ADVICE}"])
    return pa.schema(fields)


_ADVICE = (
    "Change such a column in the source (a text fits everywhere, without the character NUL), leave it out "
    "(role: identifier, action: drop), or name another destination."
)


def general_problem(values: pa.ChunkedArray) -> str | None:
    """Say what of a column no database and no table format holds; None: nothing is known of the kind."""
    if pa.types.is_unsigned_integer(values.type) and (pc.max(values).as_py() or 0) >= 2**63:
        return LARGE
    if pa.types.is_timestamp(values.type) or pa.types.is_time(values.type):
        try:
            values.cast(in_microseconds(values.type))
        except pa.ArrowInvalid:  # its text quotes the cell
            return FINE
    return None


def in_microseconds(kind: pa.DataType) -> pa.DataType:
    """Return a type of times in microseconds, with the same zone."""
    return pa.time64("us") if pa.types.is_time(kind) else pa.timestamp("us", kind.tz)
