"""The records of a Parquet file or folder, some at a time, in the order in which it is read as one table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.size_bounds import limit_error
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.change_guard import files_in
from anon_pipeline.sources.files import as_arrow_file
from anon_pipeline.sources.parquet import (
    UNREADABLE,
    folder_keys,
    key_column,
    read_batches,
    read_schema,
    refuse_unlike,
    texts_in,
    write_out,
)
from anon_pipeline.sources.typed_cells import refuse_repeated


def read_rows(path: Path, limits: Limits) -> Iterator[pa.Table]:
    """Yield the records of a Parquet file, or of a folder of such files, with all columns.

    Args:
        path: file or folder.
        limits: of each file and of all together.
    Yields:
        Tables of one schema; keys of folders are columns of texts behind the others.
    Raises:
        InputError: unreadable, files with other columns than the first, or a limit that is not kept.
    """
    files, schema = _files_in(path), read_schema_of(path, limits)
    rows = size = 0
    with withhold_text(f"{path.name}: must be readable Parquet", *UNREADABLE):
        for name in sorted(files):
            keys = folder_keys(name) if path.is_dir() else []
            for batch, own in _batches(files[name], limits):
                rows, size = rows + len(batch), size + own
                for limit, got in (("rows", rows), ("uncompressed_bytes", size)):
                    if got > getattr(limits, limit):
                        raise limit_error(path.name, limit, getattr(limits, limit))
                table = pa.Table.from_batches([batch])
                for key, value in keys:
                    table = table.append_column(key, key_column(value, len(table)))
                yield table.select(schema.names).cast(schema)


def read_schema_of(path: Path, limits: Limits) -> pa.Schema:
    """Return the columns of a Parquet file, or of all files in a folder with the keys of their folders.

    Raises:
        InputError: see `read_rows`; or no file.
    """
    with withhold_text(f"{path.name}: must be readable Parquet", *UNREADABLE):
        schemas = [
            pa.schema(
                [
                    *read_schema(file, limits)[0],
                    *(pa.field(key, pa.string()) for key, _ in (folder_keys(name) if path.is_dir() else [])),
                ]
            )
            for name, file in sorted(_files_in(path).items())
        ]
        if not schemas:
            raise InputError(f"{path.name}: must have Parquet files, got an empty folder")
        refuse_unlike(path.name, schemas)
        refuse_repeated(path.name, schemas[0].names)
        return schemas[0].remove_metadata()


def _files_in(path: Path) -> dict[str, Path]:
    return files_in(path) if path.is_dir() else {path.name: path}


def _batches(path: Path, limits: Limits) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield the records of one file with their size, texts written out."""
    schema, _ = read_schema(path, limits)
    with pq.ParquetFile(as_arrow_file(path), read_dictionary=texts_in(schema), pre_buffer=False) as file:
        for batch, size in read_batches(path, file, limits):
            for at, piece in enumerate(write_out([(batch, size)], schema)):
                yield piece, 0 if at else size
