"""The records of Parquet files, some at a time, in the order in which they are read as one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.size_bounds import Held, limit_error
from anon_pipeline.policy.files import Limits, SourceOptions
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
from anon_pipeline.sources.sealed_files import unseal_file
from anon_pipeline.sources.typed_cells import refuse_repeated


def parquet_portions(
    path: Path | Held, options: SourceOptions, limits: Limits, numbers: Sequence[str]
) -> Iterator[pa.Table]:
    """Yield the records of a Parquet file; see `portions`. It has types of its own."""
    return read_rows(path.name, [(path.name, path)], limits)


def files_of(path: Path) -> dict[str, Path]:
    """Return the files that are read as one table, by their paths in it: a file, or all in a folder."""
    return dict(sorted(files_in(path).items())) if path.is_dir() else {path.name: path}


def read_rows(name: str, files: Iterable[tuple[str, Path | Held]], limits: Limits) -> Iterator[pa.Table]:
    """Yield the records of a Parquet file, or of a folder of such files, with all columns.

    Args:
        name: of the file or folder, for messages.
        files: with their paths in the folder, in the order of these.
        limits: of each file and of all together.
    Yields:
        Tables of one schema, the first without records; keys of folders are columns of texts behind the
        others.
    Raises:
        InputError: unreadable, files with other columns than the first, or a limit that is not kept.
    """
    schema: pa.Schema | None = None
    rows = size = 0
    for inside, file in files:
        plain = unseal_file(file, limits)
        own_schema = read_schema_of(name, {inside: plain}, limits)
        if schema is None:
            schema = own_schema
            yield schema.empty_table()
        refuse_unlike(name, [schema, own_schema])
        with withhold_text(f"{name}: must be readable Parquet", *UNREADABLE):
            for batch, own in _batches(plain, limits):
                rows, size = rows + len(batch), size + own
                for limit, got in (("rows", rows), ("uncompressed_bytes", size)):
                    if got > getattr(limits, limit):
                        raise limit_error(name, limit, getattr(limits, limit))
                table = pa.Table.from_batches([batch])
                for key, value in folder_keys(inside):
                    table = table.append_column(key, key_column(value, len(table)))
                yield table.select(schema.names).cast(schema)
    if schema is None:
        raise _no_files(name)


def read_schema_of(name: str, files: Mapping[str, Path | Held], limits: Limits) -> pa.Schema:
    """Return the columns of a Parquet file, or of all files in a folder with the keys of their folders.

    Raises:
        InputError: see `read_rows`; or no file.
    """
    with withhold_text(f"{name}: must be readable Parquet", *UNREADABLE):
        schemas = [
            pa.schema(
                [
                    *read_schema(file, limits)[0],
                    *(pa.field(key, pa.string()) for key, _ in folder_keys(inside)),
                ]
            )
            for inside, file in sorted(files.items())
        ]
        if not schemas:
            raise _no_files(name)
        refuse_unlike(name, schemas)
        refuse_repeated(name, schemas[0].names)
        return schemas[0].remove_metadata()


def _no_files(name: str) -> InputError:
    return InputError(f"{name}: must have Parquet files, got an empty folder")


def _batches(path: Path | Held, limits: Limits) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield the records of one file with their size, texts written out."""
    schema, _ = read_schema(path, limits)
    with pq.ParquetFile(as_arrow_file(path), read_dictionary=texts_in(schema), pre_buffer=False) as file:
        for batch, size in read_batches(path, file, limits):
            for at, piece in enumerate(write_out([(batch, size)], schema)):
                yield piece, 0 if at else size
