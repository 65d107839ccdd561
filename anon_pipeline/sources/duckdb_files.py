"""A table, or what a query gives, of a file of DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.size_bounds import Held, limit_error
from anon_pipeline.catalog.extras import import_extra
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.source import DuckdbSource
from anon_pipeline.sources.bounds import refuse_large_file, refuse_long_texts
from anon_pipeline.sources.paths import local_path
from anon_pipeline.sources.typed_cells import RECORDS_AT_ONCE, frame_of, refuse_repeated

_WHERE = "source.duckdb"
_PARAMETER = "$partition"
CLOSED = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "temp_directory": "",  # personal data must not lie on the disk
    "lock_configuration": "true",
}
"""How DuckDB is started: a query reaches no other files and no servers, whoever wrote it."""


def duckdb_frame(policy: Policy, folder: Path, partition: str | None) -> pd.DataFrame:
    """Read the table or query that ``source.duckdb`` names; see `read_source`.

    The file is opened for reading: DuckDB lets no process write to it meanwhile. One statement sees one
    version of it.

    Raises:
        InputError: no such file, not DuckDB's, a statement that fails or reaches outside of the file, or a
            limit that is not kept.
    """
    with _withhold_text():
        return frame_of(pa.Table.from_batches(_read_records(policy, folder, partition)))


def duckdb_portions(policy: Policy, folder: Path) -> Iterator[pa.Table]:
    """Yield the records of the table or query that ``source.duckdb`` names; see `portions`."""
    with _withhold_text():
        for batch in _read_records(policy, folder, None):
            yield pa.Table.from_batches([batch])


def _withhold_text() -> AbstractContextManager[None]:
    kinds = _kinds(import_extra("duckdb"))
    return withhold_text(f"{_WHERE}: table or query must be there, correct, and within the file", *kinds)


def _read_records(policy: Policy, folder: Path, partition: str | None) -> Iterator[pa.RecordBatch]:
    """Yield records within the limits, first none of them."""
    wanted = cast(DuckdbSource, policy.source.place)
    path = local_path(wanted.path, f"{_WHERE}.path", folder, partition)
    library = import_extra("duckdb")
    with withhold_text(f"{path.name}: must be a DuckDB file that nobody writes to", *_kinds(library)):
        refuse_large_file(path, policy.source.limits)
        connection = library.connect(str(path), read_only=True, config=CLOSED)
    with connection:
        yield from _ask_for(connection, wanted, partition, policy.source.limits)


def _kinds(library: Any) -> tuple[type[Exception], ...]:
    return (library.Error, pa.ArrowException, OSError, ValueError, LookupError)


def _ask_for(
    connection: Any, wanted: DuckdbSource, partition: str | None, limits: Limits
) -> Iterator[pa.RecordBatch]:
    query, named = wanted.query, {}
    if query is None:
        query = f"FROM {'.'.join(_quote(part) for part in wanted.path_of_table)}"
    elif len(connection.extract_statements(query)) != 1:
        raise InputError(f"{_WHERE}.query: must be one statement, got several or none")
    elif partition is not None and _PARAMETER in query:
        named = {"partition": plain_partition(partition)}
    found = connection.sql(query, params=named or None)
    if found is None:
        raise InputError(f"{_WHERE}.query: must be a SELECT, got a statement that returns no records")
    with found.to_arrow_reader(RECORDS_AT_ONCE) as reader:
        refuse_repeated(_WHERE, reader.schema.names)
        if len(reader.schema) > limits.columns:
            raise limit_error(_WHERE, "columns", limits.columns, got=len(reader.schema))
        yield pa.RecordBatch.from_pylist([], schema=reader.schema)
        yield from _read_bounded(reader, limits)


def _read_bounded(reader: pa.RecordBatchReader, limits: Limits) -> Iterator[pa.RecordBatch]:
    """Yield all records, and refuse before the memory is full."""
    rows = size = 0
    for batch in reader:
        rows, size = rows + len(batch), size + refuse_long_texts(Held(_WHERE, b""), batch, limits)
        for limit, got in (("rows", rows), ("uncompressed_bytes", size)):
            if got > getattr(limits, limit):
                raise limit_error(_WHERE, limit, getattr(limits, limit))
        yield batch


def _quote(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
