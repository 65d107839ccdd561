"""A table of a cluster of Apache Spark, or the result of a query.

The cluster reads it, with its catalogs, its rights and its engine; the release is made here.

Decision: docs/adr/0085-tables-of-spark.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa

from anon_pipeline.base.packed_tables import Table, table_of
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.source import Sourced, SparkSource
from anon_pipeline.sources.library_errors import withhold_errors
from anon_pipeline.sources.spark_frames import (
    UNREAD,
    WHERE,
    asked_for,
    count_sizes,
    in_utc,
    refuse_columns,
    refuse_other_sizes,
    sizes_of,
)
from anon_pipeline.sources.spark_sessions import spark_session
from anon_pipeline.sources.typed_cells import frame_of


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
        withhold_errors(UNREAD),
    ):
        records = _read_records(asked_for(opened, wanted, partition), limits)
        return table_of(_columns(records), len(records[0][1]))


def _read_records(frame: Any, limits: Limits) -> list[tuple[str, pa.ChunkedArray]]:
    """Return the columns of a frame of Spark, within limits."""
    texts = refuse_columns(frame, limits)
    sizes = count_sizes(frame, texts, limits)
    table = frame.toArrow()
    refuse_other_sizes(sizes_of(table, texts), sizes)
    return [(name, in_utc(column)) for name, column in zip(table.column_names, table.columns, strict=True)]


def _columns(records: list[tuple[str, pa.ChunkedArray]]) -> Iterator[tuple[str, pd.Series]]:
    """Yield each column, and release it before the next one is made.

    Texts are copied: each part of a column lies in one buffer with the same records of all other columns.
    """
    while records:
        name, column = records.pop(0)
        if pa.types.is_string(column.type):
            column = pa.chunked_array([column.cast(pa.large_string()).combine_chunks()])
        yield name, frame_of(pa.table({name: column}))[name]
