"""A table of Apache Iceberg, at one snapshot, whose files never change.

Decision: docs/adr/0080-iceberg-tables.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import FOOTER_BYTES, Held, limit_error
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.iceberg import IcebergSource, path_of
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.bounds import refuse_long_texts, refuse_metadata
from anon_pipeline.sources.iceberg_catalogs import open_catalog, table_in
from anon_pipeline.sources.library_errors import withhold_errors
from anon_pipeline.sources.paths import filled_in
from anon_pipeline.sources.typed_cells import frame_of, refuse_repeated

WHERE = "source.iceberg"
_NAMED = Held(WHERE, b"")
_HERE = ("", "file")


def iceberg_frame(policy: Policy, folder: Path, partition: str | None) -> pd.DataFrame:
    """Read the table that ``source.iceberg`` names, as it is at one snapshot; see `read_source`.

    Nothing is written, neither to the catalog nor to the table. Records that delete files name are left out.

    Raises:
        InputError: no such catalog, table or snapshot; a file that is gone, or is no Parquet file; deletes by
            equality, which the library cannot apply; a limit that is not kept.
    """
    with _withhold_errors():
        return frame_of(pa.concat_tables(_read_table(policy, partition)))


def iceberg_portions(policy: Policy, folder: Path) -> Iterator[pa.Table]:
    """Yield the records of the table that ``source.iceberg`` names, at one snapshot; see `portions`."""
    with _withhold_errors():
        yield from _read_table(policy, None)


def _withhold_errors() -> AbstractContextManager[None]:
    return withhold_errors(
        f"{WHERE}: the table's files must be there and readable, and have no deletes by equality"
    )


def _read_table(policy: Policy, partition: str | None) -> Iterator[pa.Table]:
    """Yield the records within the limits, first none of them."""
    wanted = cast(IcebergSource, policy.source.place)
    path = [filled_in(part, partition) for part in path_of(wanted.table)]
    with open_catalog(wanted.catalog, WHERE, mode="ro") as catalog:
        table = table_in(catalog, path, WHERE)
        yield from _read_scan(table, _scan_of(table, wanted, partition), policy.source.limits)


def iceberg_version(wanted: IcebergSource, folder: Path) -> str:
    """Return the snapshot that would be read now, which tells one version of the table from another.

    Args:
        folder: of sources, which a catalog does not need.
    Raises:
        InputError: see `iceberg_frame`.
    """
    with open_catalog(wanted.catalog, WHERE, mode="ro") as catalog:
        table = table_in(catalog, path_of(wanted.table), WHERE)
        snapshot = _scan_of(table, wanted, None).snapshot()
    return "" if snapshot is None else str(snapshot.snapshot_id)


def _scan_of(table: Any, wanted: IcebergSource, partition: str | None) -> Any:
    """Return the scan of one snapshot.

    Raises:
        InputError: the table does not have it.
    """
    if wanted.snapshot is not None:
        if table.snapshot_by_id(wanted.snapshot) is None:
            raise InputError(
                f"{WHERE}.snapshot: must be a snapshot that the table has, got none: it may have expired"
            )
        return table.scan(snapshot_id=wanted.snapshot)
    if wanted.ref is not None:
        name = filled_in(wanted.ref, partition)
        if name not in table.refs():
            raise InputError(f"{WHERE}.ref: must be a branch or tag that the table has, got none")
        return table.scan().use_ref(name)
    return table.scan()


def _read_scan(table: Any, scan: Any, limits: Limits) -> Iterator[pa.Table]:
    """Read the files of a scan, one after the other, and refuse before the memory is full."""
    from pyiceberg.io.pyarrow import ArrowScan  # noqa: PLC0415

    schema = scan.projection().as_arrow()
    refuse_repeated(WHERE, schema.names)
    if len(schema) > limits.columns:
        raise limit_error(WHERE, "columns", limits.columns, got=len(schema))
    tasks = list(scan.plan_files())
    _refuse_planned(tasks, str(table.metadata_location), limits)
    released = pa.schema([(field.name, _written_type(field.type)) for field in schema])
    texts = tuple(field.name for field in schema if _is_text(field.type))
    yield released.empty_table()
    rows = size = 0
    for task in tasks:
        _refuse_file(table.io, task.file, limits)
        reader = ArrowScan(
            scan.table_metadata,
            table.io,
            scan.projection(),
            scan.row_filter,
            limit=limits.rows - rows + 1,
            dictionary_columns=texts,  # a few bytes can say "one million times this long text"
        )
        for batch in reader.to_record_batches([task]):
            batch.validate(full=True)  # else bytes that are no UTF-8 come in as texts
            rows, size = rows + len(batch), size + refuse_long_texts(_NAMED, batch, limits)
            for limit, got in (("rows", rows), ("uncompressed_bytes", size)):
                if got > getattr(limits, limit):
                    raise limit_error(WHERE, limit, getattr(limits, limit))
            yield _written_out(batch, released)


def _refuse_planned(tasks: Sequence[Any], metadata: str, limits: Limits) -> None:
    """Refuse a scan by what the table has noted of its files, before any of them is opened.

    Args:
        metadata: where the table's metadata is.
    Raises:
        InputError: more records, deleted ones included, or bytes than the limits; other files than Parquet; a
            file of this machine in a table that is elsewhere.
    """
    data = [task.file for task in tasks]
    deletes = list({file.file_path: file for task in tasks for file in task.delete_files}.values())
    for limit, got in (
        ("rows", max(sum(file.record_count for file in files) for files in (data, deletes))),
        ("file_bytes", sum(file.file_size_in_bytes for file in (*data, *deletes))),
    ):
        if got > getattr(limits, limit):
            raise limit_error(WHERE, limit, getattr(limits, limit), got=got)
    if any(file.file_format.name != "PARQUET" for file in data):
        raise InputError(f"{WHERE}: the table's files must be Parquet files, got others")
    if not _is_here(metadata) and any(_is_here(file.file_path) for file in (*data, *deletes)):
        raise InputError(f"{WHERE}: a table that is elsewhere must not name files of this machine, it does")


def _is_here(location: str) -> bool:
    """Tell whether a file of a table is on this machine."""
    scheme, mark, _ = location.partition(":")
    return not mark or "/" in scheme or scheme.lower() in _HERE


def _refuse_file(io: Any, file: Any, limits: Limits) -> None:
    """Refuse a data file by its size, and by what its own metadata says, before any value is read."""
    stored = io.new_input(file.file_path)
    size = len(stored)
    if size > limits.file_bytes:
        raise limit_error(WHERE, "file_bytes", limits.file_bytes, got=size)
    with stored.open() as stream:
        stream.seek(max(size - 8, 0))
        footer, mark = int.from_bytes(stream.read(4), "little"), stream.read(4)
        if mark == b"PAR1" and footer > FOOTER_BYTES:
            raise limit_error(WHERE, "of a Parquet file's metadata", FOOTER_BYTES, got=footer)
        stream.seek(0)
        with pq.ParquetFile(stream) as opened:
            refuse_metadata(_NAMED, opened, limits)


def _written_out(batch: pa.RecordBatch, schema: pa.Schema) -> pa.Table:
    """Return records with their texts written out."""
    columns = [
        pa.array(_texts_of(column), field.type) if _is_uuid(column.type) else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.table(columns, schema=schema)


def _texts_of(column: pa.Array) -> Iterator[str | None]:
    return (None if value is None else str(value) for value in column.to_pylist())


def _written_type(kind: pa.DataType) -> pa.DataType:
    """Return the type that a column is read with: texts that 32 bits need not count, UUIDs as texts."""
    return pa.large_string() if _is_text(kind) or _is_uuid(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_uuid(kind: pa.DataType) -> bool:
    return getattr(kind, "extension_name", "") == "arrow.uuid"
