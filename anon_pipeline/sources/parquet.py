"""Personal data from Parquet, with its types: a file, or a folder of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.size_bounds import Held, limit_error
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.bounds import refuse_footer, refuse_large_file, refuse_long_texts, refuse_metadata
from anon_pipeline.sources.files import as_arrow_file
from anon_pipeline.sources.sealed_files import unseal_file
from anon_pipeline.sources.typed_cells import frame_of, refuse_repeated

UNREADABLE = (OSError, pa.ArrowException, ValueError, LookupError)
"""What Arrow and pandas raise on a file that cannot be read."""
_LIMITS = Limits()
_BATCH = 65_536  # records that are read at once
_PIECE = 2**28  # bytes
_NONE = "__HIVE_DEFAULT_PARTITION__"  # what Hive names a folder of records without the value


def read_parquet(path: Path | Held, *, limits: Limits = _LIMITS) -> pd.DataFrame:
    """Read a Parquet file with its types.

    Args:
        path: the file, or what is held of it.
        limits: how large it may be; first by its metadata, then by what is read, batch by batch.
    Raises:
        InputError: unreadable, repeated column names, or a limit that is not kept (its name).
    """
    with withhold_text(f"{path.name}: must be a readable Parquet file", *UNREADABLE):
        return frame_of(parquet_table(path, limits=limits))


def parquet_table(path: Path | Held, *, limits: Limits) -> pa.Table:
    """Read a Parquet file into Arrow; see `read_parquet`, which withholds what Arrow says of bytes."""
    path = unseal_file(path, limits)
    schema, _ = read_schema(path, limits)
    with pq.ParquetFile(as_arrow_file(path), read_dictionary=texts_in(schema), pre_buffer=False) as file:
        batches = list(read_batches(path, file, limits))
    table = pa.Table.from_batches(write_out(batches, schema), schema)
    table.validate(full=True)  # else bytes that are no UTF-8 come in as texts
    return table


def read_schema(path: Path | Held, limits: Limits) -> tuple[pa.Schema, int]:
    """Return the columns of a Parquet file, and how many records its metadata states.

    Args:
        path: an encrypted file is decrypted into memory.
    Raises:
        InputError: a limit that the file or its metadata does not keep, repeated column names.
        OSError, ValueError, pa.ArrowException: unreadable.
    """
    path = unseal_file(path, limits)
    refuse_large_file(path, limits)
    refuse_footer(path)
    with pq.ParquetFile(as_arrow_file(path)) as file:
        refuse_metadata(path, file, limits)
        refuse_repeated(path.name, file.schema_arrow.names)
        return _widen_types(file.schema_arrow), file.metadata.num_rows


def _widen_types(schema: pa.Schema) -> pa.Schema:
    """Return the types as pandas can group them: numbers of 16 bits with fractions become ones of 32."""
    return pa.schema(
        [field.with_type(pa.float32()) if pa.types.is_float16(field.type) else field for field in schema]
    )


def texts_in(schema: pa.Schema) -> list[str]:
    """Return the names of the columns of texts, which are read as dictionaries."""
    return [field.name for field in schema if pa.types.is_string(field.type)]


def read_batches(
    path: Path | Held,
    file: pq.ParquetFile,
    limits: Limits,
    *,
    column: str | None = None,
    place: int = 0,
    read: int = 0,
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield a file's records, texts as dictionaries, with their size once these are written out.

    A few bytes can say "one million times this long text": only what is within the limits is written out.

    Args:
        column: the only one that is read; None: all are.
        place: of that column in the file, from 0, for messages.
        read: bytes that were read of other columns.
    """
    size, rows = read, 0
    for batch in file.iter_batches(batch_size=_BATCH, columns=None if column is None else [column]):
        rows += len(batch)
        own = refuse_long_texts(path, batch, limits, first=place)
        size += own
        if rows > limits.rows:
            raise limit_error(path.name, "rows", limits.rows)
        if size > limits.uncompressed_bytes:
            raise limit_error(path.name, "uncompressed_bytes", limits.uncompressed_bytes)
        yield batch, own


def write_out(batches: Sequence[tuple[pa.RecordBatch, int]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield records with their texts written out, in pieces that Arrow can count in 32 bits."""
    for batch, size in batches:
        batch.validate(full=True)
        step = max(len(batch) * _PIECE // max(size, 1), 1)
        for start in range(0, len(batch), step):
            yield batch.slice(start, step).cast(schema)


def parquet_folder(name: str, files: Mapping[str, Path | Held], limits: Limits) -> pd.DataFrame:
    """Read a folder of Parquet files as one table.

    Folders that are named ``key=value``, as Hive names them, are columns of texts: ``month=01`` stays ``01``.

    Args:
        name: of the folder, for messages.
        files: by their paths within the folder, with slashes.
        limits: of each file and of all together.
    Raises:
        InputError: no file, files with other columns or types than the first, folders with other keys, or a
            limit that is not kept (its name).
    """
    if not files:
        raise InputError(f"{name}: must have Parquet files, got an empty folder")
    tables, size, rows = list[pa.Table](), 0, 0
    with withhold_text(f"{name}: must be a readable folder of Parquet files", *UNREADABLE):
        for path in sorted(files):
            table = _with_keys(parquet_table(files[path], limits=limits), path)
            size, rows = size + table.nbytes, rows + len(table)
            for limit, got in (("rows", rows), ("uncompressed_bytes", size)):
                if got > getattr(limits, limit):
                    raise limit_error(name, limit, getattr(limits, limit))
            tables.append(table)
        first = tables[0].schema
        refuse_unlike(name, [table.schema for table in tables])
        refuse_repeated(name, first.names)
        return frame_of(pa.concat_tables([table.select(first.names).cast(first) for table in tables]))


def refuse_unlike(name: str, schemas: Sequence[pa.Schema]) -> None:
    """Refuse a folder whose files have other columns or keys than the first one.

    Args:
        name: of the folder, for messages.
        schemas: of the files, with the keys of their folders; at least one.
    """
    other = sum(not _alike(schemas[0], schema) for schema in schemas)
    if other:
        raise InputError(
            f"{name}: all files must have the columns and types of the first, and lie in folders "
            f"with the same keys, got {other} others"
        )


def _alike(first: pa.Schema, other: pa.Schema) -> bool:
    """Tell whether two files have the same columns with the same types, in any order."""
    return len(first) == len(other) and {f.name: f.type for f in first} == {f.name: f.type for f in other}


def folder_keys(path: str) -> list[tuple[str, str | None]]:
    """Return the keys of the folders that a path names, with their values; None: missing.

    >>> folder_keys("month=01/data/a.parquet")
    [('month', '01')]
    """
    parts = (part.partition("=") for part in path.split("/")[:-1])
    return [
        (unquote(key), None if value == _NONE else unquote(value)) for key, equals, value in parts if equals
    ]


def key_column(value: str | None, records: int) -> pa.Array:
    """Return the column of a key, which has one value in every record, (n,)."""
    return pa.repeat(pa.scalar(value, pa.string()), records)


def _with_keys(table: pa.Table, path: str) -> pa.Table:
    """Add a column for each folder that is named for a value."""
    for key, value in folder_keys(path):
        table = table.append_column(key, key_column(value, len(table)))
    return table
