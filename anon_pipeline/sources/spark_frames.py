"""What the readers of Spark's tables share: the frame that a policy names, its size, and its limits.

Of a session only what Spark Connect offers is used.

Decision: docs/adr/0085-tables-of-spark.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import limit_error
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.policy.source import SparkSource
from anon_pipeline.sources.paths import filled_in
from anon_pipeline.sources.typed_cells import refuse_repeated

WHERE: Final = "source.spark"
UNREAD: Final = f"{WHERE}: the table or query could not be read"
_PARAMETER: Final = ":partition"
_NUMBER_BYTES: Final = 8  # that a value is counted as, in addition to its text
_TEXTS: Final = ("string", "char", "varchar", "binary")
_PLAIN: Final = frozenset(
    {*_TEXTS, "byte", "short", "integer", "long", "float", "double", "decimal", "boolean", "void"}
    | {"date", "timestamp", "timestamp_ntz", "time"}
)
"""Types of columns that a table may have, as Spark names them."""


def asked_for(session: Any, wanted: SparkSource, partition: str | None) -> Any:
    """Return the table or query as a frame of Spark, not yet computed."""
    if wanted.query is None:
        path = [filled_in(part, partition) for part in wanted.path_of_table]
        return session.table(".".join(quote_name(part) for part in path))
    named = {}
    if partition is not None and _PARAMETER in wanted.query:
        named = {"partition": plain_partition(partition)}
    in_brackets = "\n".join(("SELECT * FROM (", wanted.query, ")"))  # where no other statement can stand
    return session.sql(in_brackets, args=named or None)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a table is: its records; of each column of texts, their bytes, and those of the longest."""

    records: int
    sums: tuple[int, ...]
    longest: tuple[int, ...]

    def plus(self, other: Sizes) -> Sizes:
        """Return the sizes of both."""
        return Sizes(
            self.records + other.records,
            tuple(one + more for one, more in zip(self.sums, other.sums, strict=True)),
            tuple(max(both) for both in zip(self.longest, other.longest, strict=True)),
        )


def sizes_of(table: pa.Table, texts: list[int]) -> Sizes:
    """Return the sizes of records that came here."""
    table.validate(full=True)  # else bytes that are no UTF-8 come in as texts
    lengths = [pc.binary_length(table.column(place)) for place in texts]
    sums, longest = (tuple(of(one).as_py() or 0 for one in lengths) for of in (pc.sum, pc.max))
    return Sizes(len(table), sums, longest)


def refuse_other_sizes(read: Sizes, counted: Sizes) -> None:
    """Refuse records that are not those that were counted.

    Raises:
        InputError: another number of them, or of the bytes of their texts.
    """
    if read != counted:
        raise InputError(
            f"{WHERE}: the records changed while they were read. Run again; if it happens again, read "
            f"one version of the table (VERSION AS OF), or make the query give the same records each time"
        )


def refuse_columns(frame: Any, limits: Limits) -> list[int]:
    """Refuse columns by their names, types and number; return the places of those with texts."""
    fields = frame.schema.fields
    refuse_repeated(WHERE, [field.name for field in fields])
    if len(fields) > limits.columns:
        raise limit_error(WHERE, "columns", limits.columns, got=len(fields))
    if len({field.name.casefold() for field in fields}) < len(fields):
        raise InputError(f"{WHERE}: names of columns must differ in more than case, as they do in Spark")
    if not fields:
        raise InputError(f"{WHERE}: must have at least one column, got none")
    kinds = [field.dataType.typeName() for field in fields]
    other = [str(place) for place, kind in enumerate(kinds, 1) if _plain_kind(kind) not in _PLAIN]
    if other:
        raise InputError(
            f"{WHERE}, column {', '.join(other)}: must have a type with one plain value in each cell, got "
            f"one such as list, map, structure, interval or variant"
        )
    return [place for place, kind in enumerate(kinds) if _plain_kind(kind) in _TEXTS]


def _plain_kind(kind: str) -> str:
    """Return the name of a type without what it is parametrized with: ``decimal(10,2)``."""
    return kind.partition("(")[0].partition(" ")[0]


def count_sizes(frame: Any, texts: list[int], limits: Limits) -> Sizes:
    """Ask for the sizes, and refuse what is beyond a limit."""
    lengths = [f"octet_length({quote_name(frame.schema.fields[place].name)})" for place in texts]
    asked = ["count(1)", *(f"sum({one})" for one in lengths), *(f"max({one})" for one in lengths)]
    answer = frame.selectExpr(*asked).toArrow()
    records, *bytes_ = (column[0].as_py() or 0 for column in answer.columns)
    sums, longest = tuple(bytes_[: len(texts)]), tuple(bytes_[len(texts) :])
    long = [str(texts[at] + 1) for at, size in enumerate(longest) if size > limits.cell_bytes]
    if long:
        raise limit_error(f"{WHERE}, column {', '.join(long)}", "cell_bytes", limits.cell_bytes)
    whole = sum(sums) + _NUMBER_BYTES * records * len(frame.schema.fields)
    for limit, got in (("rows", records), ("uncompressed_bytes", whole)):
        if got > getattr(limits, limit):
            raise limit_error(WHERE, limit, getattr(limits, limit), got=got)
    return Sizes(records, sums, longest)


def in_utc(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column whose times, if they have a zone, are in UTC, whatever the session's zone is."""
    kind = column.type
    return column.cast(pa.timestamp("us", "UTC")) if pa.types.is_timestamp(kind) and kind.tz else column


def quote_name(name: str) -> str:
    """Return the name of a column or table as a statement has it."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"
