"""A table of a cluster of Apache Spark, or the result of a query.

The cluster reads it, with its catalogs, its rights and its engine; the release is made here. Of a session
only what Spark Connect offers is used.

Decision: docs/adr/0085-tables-of-spark.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table, table_of
from anon_pipeline.base.size_bounds import limit_error
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.source import Sourced, SparkSource
from anon_pipeline.sources.library_errors import withhold_errors
from anon_pipeline.sources.paths import filled_in
from anon_pipeline.sources.spark_sessions import spark_session
from anon_pipeline.sources.typed_cells import frame_of, refuse_repeated

WHERE = "source.spark"
_PARAMETER = ":partition"
_PORTION = 2**18  # records, about: an executor holds what its tasks return
_NUMBER_BYTES = 8  # that a value is counted as, in addition to its text
_TEXTS = ("string", "char", "varchar", "binary")
_PLAIN = frozenset(
    {*_TEXTS, "byte", "short", "integer", "long", "float", "double", "decimal", "boolean", "void"}
    | {"date", "timestamp", "timestamp_ntz", "time"}
)
"""Types of columns that a table may have, as Spark names them."""


def spark_frame(policy: Policy, folder: Path, partition: str | None) -> Table:
    """Read the table or query that ``source.spark`` names; see `read_source`."""
    return read_spark(policy, partition)


def read_spark(policy: Sourced, partition: str | None, *, session: Any = None) -> Table:
    """Read the table or query that ``source.spark`` names; see `read_source`.

    The cluster is asked twice: for the number of records and the bytes of the texts, which are compared with
    the limits before any record comes here, and for the records, which must be as many, with as many bytes.

    Args:
        session: of Spark, where the policy names no URL; None: the one that is active in this process.
    Raises:
        InputError: there is no session, no table, or no right to read it; the statement is not a query, or
            fails; a column has lists or structures; a limit is exceeded; the records changed between the two
            answers. It has no text of Spark, which may quote the query or a cell.
    """
    wanted, limits = cast(SparkSource, policy.source.place), policy.source.limits
    with (
        spark_session(wanted.url_env, WHERE, given=session) as opened,
        withhold_errors(f"{WHERE}: the table or query could not be read"),
    ):
        records = _read_records(_asked_for(opened, wanted, partition), limits)
        return table_of(_columns(records), len(records[0][1]))


def spark_portions(policy: Policy, folder: Path) -> Iterator[pa.Table]:
    """Yield the records of the table or query that ``source.spark`` names; see `portions`.

    The cluster reads the table once for each portion, whose records have a hash of their own: only the
    portion is held here.

    Raises:
        InputError: see `read_spark`.
    """
    wanted, limits = cast(SparkSource, policy.source.place), policy.source.limits
    with (
        spark_session(wanted.url_env, WHERE) as opened,
        withhold_errors(f"{WHERE}: the table or query could not be read"),
    ):
        frame = _asked_for(opened, wanted, None)
        texts = _refuse_columns(frame, limits)
        sizes = _count(frame, texts, limits)
        many = -(-sizes.records // _PORTION) or 1
        hashed = f"pmod(xxhash64({', '.join(_quote(field.name) for field in frame.schema.fields)}), {many})"
        read = _Sizes(0, (0,) * len(texts), (0,) * len(texts))
        for part in range(many):
            table = frame.where(f"{hashed} = {part}").toArrow()
            read = read.plus(_sizes_of(table, texts))
            yield pa.Table.from_arrays([_in_utc(column) for column in table.columns], table.column_names)
        _refuse_other_sizes(read, sizes)


def _asked_for(session: Any, wanted: SparkSource, partition: str | None) -> Any:
    """Return the table or query as a frame of Spark, not yet computed."""
    if wanted.query is None:
        path = [filled_in(part, partition) for part in wanted.path_of_table]
        return session.table(".".join(_quote(part) for part in path))
    named = {}
    if partition is not None and _PARAMETER in wanted.query:
        named = {"partition": plain_partition(partition)}
    in_brackets = "\n".join(("SELECT * FROM (", wanted.query, ")"))  # where no other statement can stand
    return session.sql(in_brackets, args=named or None)


@dataclass(frozen=True, slots=True)
class _Sizes:
    """How large a table is: its records; of each column of texts, their bytes, and those of the longest."""

    records: int
    sums: tuple[int, ...]
    longest: tuple[int, ...]

    def plus(self, other: _Sizes) -> _Sizes:
        """Return the sizes of both."""
        return _Sizes(
            self.records + other.records,
            tuple(one + more for one, more in zip(self.sums, other.sums, strict=True)),
            tuple(max(both) for both in zip(self.longest, other.longest, strict=True)),
        )


def _read_records(frame: Any, limits: Limits) -> list[tuple[str, pa.ChunkedArray]]:
    """Return the columns of a frame of Spark, within limits."""
    texts = _refuse_columns(frame, limits)
    sizes = _count(frame, texts, limits)
    table = frame.toArrow()
    _refuse_other_sizes(_sizes_of(table, texts), sizes)
    return [(name, _in_utc(column)) for name, column in zip(table.column_names, table.columns, strict=True)]


def _sizes_of(table: pa.Table, texts: list[int]) -> _Sizes:
    """Return the sizes of records that came here."""
    table.validate(full=True)  # else bytes that are no UTF-8 come in as texts
    lengths = [pc.binary_length(table.column(place)) for place in texts]
    sums, longest = (tuple(of(one).as_py() or 0 for one in lengths) for of in (pc.sum, pc.max))
    return _Sizes(len(table), sums, longest)


def _refuse_other_sizes(read: _Sizes, counted: _Sizes) -> None:
    if read != counted:
        raise InputError(
            f"{WHERE}: the records changed while they were read. Run again; if it happens again, read "
            f"one version of the table (VERSION AS OF), or make the query give the same records each time"
        )


def _refuse_columns(frame: Any, limits: Limits) -> list[int]:
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


def _count(frame: Any, texts: list[int], limits: Limits) -> _Sizes:
    """Ask for the sizes, and refuse what is beyond a limit."""
    lengths = [f"octet_length({_quote(frame.schema.fields[place].name)})" for place in texts]
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
    return _Sizes(records, sums, longest)


def _in_utc(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column whose times, if they have a zone, are in UTC, whatever the session's zone is."""
    kind = column.type
    return column.cast(pa.timestamp("us", "UTC")) if pa.types.is_timestamp(kind) and kind.tz else column


def _columns(records: list[tuple[str, pa.ChunkedArray]]) -> Iterator[tuple[str, pd.Series]]:
    """Yield each column, and release it before the next one is made.

    Texts are copied: each part of a column lies in one buffer with the same records of all other columns.
    """
    while records:
        name, column = records.pop(0)
        if pa.types.is_string(column.type):
            column = pa.chunked_array([column.cast(pa.large_string()).combine_chunks()])
        yield name, frame_of(pa.table({name: column}))[name]


def _quote(name: str) -> str:
    escaped = name.replace("`", "``")
    return f"`{escaped}`"
