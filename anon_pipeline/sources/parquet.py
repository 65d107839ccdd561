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
from anon_pipeline.sources.typed_cells import frame_of, refuse_repeated

_UNREADABLE = (OSError, pa.ArrowException, ValueError, LookupError)
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
    with withhold_text(f"{path.name}: must be a readable Parquet file", *_UNREADABLE):
        return frame_of(parquet_table(path, limits=limits))


def parquet_table(path: Path | Held, *, limits: Limits) -> pa.Table:
    """Read a Parquet file into Arrow; see `read_parquet`, which withholds what Arrow says of bytes."""
    refuse_large_file(path, limits)
    refuse_footer(path)
    with pq.ParquetFile(as_arrow_file(path)) as file:
        refuse_metadata(path, file, limits)
        refuse_repeated(path.name, file.schema_arrow.names)
        schema = file.schema_arrow
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    with pq.ParquetFile(as_arrow_file(path), read_dictionary=texts, pre_buffer=False) as file:
        batches = list(_batches(path, file, limits))
    table = pa.Table.from_batches(_written_out(batches, schema), schema)
    table.validate(full=True)  # else bytes that are no UTF-8 come in as texts
    return table


def _batches(path: Path | Held, file: pq.ParquetFile, limits: Limits) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield a file's records, texts as dictionaries, with their size once these are written out.

    A few bytes can say "one million times this long text": only what is within the limits is written out.
    """
    size = rows = 0
    for batch in file.iter_batches(batch_size=_BATCH):
        rows += len(batch)
        own = refuse_long_texts(path, batch, limits)
        size += own
        if rows > limits.rows:
            raise limit_error(path.name, "rows", limits.rows)
        if size > limits.uncompressed_bytes:
            raise limit_error(path.name, "uncompressed_bytes", limits.uncompressed_bytes)
        yield batch, own


def _written_out(
    batches: Sequence[tuple[pa.RecordBatch, int]], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
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
    with withhold_text(f"{name}: must be a readable folder of Parquet files", *_UNREADABLE):
        for path in sorted(files):
            table = _with_keys(parquet_table(files[path], limits=limits), path)
            size, rows = size + table.nbytes, rows + len(table)
            for limit, got in (("rows", rows), ("uncompressed_bytes", size)):
                if got > getattr(limits, limit):
                    raise limit_error(name, limit, getattr(limits, limit))
            tables.append(table)
        first = tables[0].schema
        other = sum(not _alike(first, table.schema) for table in tables)
        if other:
            raise InputError(
                f"{name}: all files must have the columns and types of the first, and lie in folders "
                f"with the same keys, got {other} others"
            )
        refuse_repeated(name, first.names)
        return frame_of(pa.concat_tables([table.select(first.names).cast(first) for table in tables]))


def _alike(first: pa.Schema, other: pa.Schema) -> bool:
    """Tell whether two files have the same columns with the same types, in any order."""
    return len(first) == len(other) and {f.name: f.type for f in first} == {f.name: f.type for f in other}


def _with_keys(table: pa.Table, path: str) -> pa.Table:
    """Add a column for each folder that is named for a value."""
    for part in path.split("/")[:-1]:
        key, equals, value = part.partition("=")
        if equals:
            text = None if value == _NONE else unquote(value)
            table = table.append_column(unquote(key), pa.array([text] * len(table), pa.string()))
    return table
