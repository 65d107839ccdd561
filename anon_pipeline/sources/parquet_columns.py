"""Large Parquet sources as packed tables: a column is read and packed before the next one is read.

Smaller sources are read as a whole (`parquet`), with the same result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from anon_pipeline.base.errors import withhold_text
from anon_pipeline.base.gradual_packing import pack_parts
from anon_pipeline.base.packed_columns import PackedColumn
from anon_pipeline.base.packed_tables import Table, is_large, table_of
from anon_pipeline.base.size_bounds import Held, limit_error
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.files import as_arrow_file
from anon_pipeline.sources.parquet import (
    UNREADABLE,
    folder_keys,
    key_column,
    parquet_folder,
    read_batches,
    read_parquet,
    read_schema,
    refuse_unlike,
    texts_in,
    write_out,
)
from anon_pipeline.sources.sealed_files import unseal_file
from anon_pipeline.sources.typed_cells import frame_of, refuse_repeated

_BATCHES = 16  # of the file, a million records, that are packed at once


@dataclass(frozen=True, slots=True)
class _File:
    """A Parquet file of a source.

    keys: of the folders that it lies in, with their values.
    schema: of its own columns.
    records: that its metadata states.
    """

    path: Path | Held
    keys: Sequence[tuple[str, str | None]]
    schema: pa.Schema
    records: int

    @property
    def whole_schema(self) -> pa.Schema:
        """Its columns, and behind them the keys of its folders."""
        return pa.schema([*self.schema, *(pa.field(key, pa.string()) for key, _ in self.keys)])


def packed_parquet(path: Path | Held, *, limits: Limits, only: Collection[str] | None = None) -> Table:
    """Read a Parquet file with its types; a large one is packed. See `parquet.read_parquet`.

    Args:
        only: names of the columns that are wanted, those of them that are there; None: all are.
    """
    with withhold_text(f"{path.name}: must be a readable Parquet file", *UNREADABLE):
        file = _open_file(path, [], limits)
        if not _is_read_by_column([file]):
            return _select(read_parquet(path, limits=limits), only)
        return table_of(_columns(path.name, [file], limits, only), file.records)


def packed_folder(
    name: str, files: Mapping[str, Path | Held], limits: Limits, *, only: Collection[str] | None = None
) -> Table:
    """Read a folder of Parquet files as one table; a large one is packed. See `parquet.parquet_folder`.

    Args:
        only: names of the columns that are wanted, those of them that are there; None: all are.
    """
    with withhold_text(f"{name}: must be a readable folder of Parquet files", *UNREADABLE):
        found = [_open_file(files[path], folder_keys(path), limits) for path in sorted(files)]
        if not _is_read_by_column(found):
            return _select(parquet_folder(name, files, limits), only)
        refuse_unlike(name, [file.whole_schema for file in found])
        refuse_repeated(name, found[0].whole_schema.names)
        records = sum(file.records for file in found)
        if records > limits.rows:
            raise limit_error(name, "rows", limits.rows)
        return table_of(_columns(name, found, limits, only), records)


def _select(frame: pd.DataFrame, only: Collection[str] | None) -> pd.DataFrame:
    """Return the columns that are wanted, in the order of the table."""
    return frame if only is None else frame[[name for name in frame.columns if name in only]]


def _open_file(path: Path | Held, keys: Sequence[tuple[str, str | None]], limits: Limits) -> _File:
    schema, records = read_schema(path, limits)
    return _File(path, keys, schema, records)


def _is_read_by_column(files: list[_File]) -> bool:
    """Tell whether a source is large, and Arrow can tell its columns apart: it takes ``a.b`` for a path."""
    plain = all("." not in name for file in files for name in file.schema.names)
    return plain and is_large(sum(file.records for file in files))


def _columns(
    name: str, files: list[_File], limits: Limits, only: Collection[str] | None
) -> Iterator[tuple[str, pd.Series | PackedColumn]]:
    """Yield each column of all files that is wanted, (n,), and hold no other meanwhile.

    A column that repeats its values is packed while it is read; any other is read as a whole.

    Raises:
        InputError: a limit that is not kept, of a file or of all together.
        ValueError: a column has another number of values than the metadata states.
    """
    sizes = [0] * len(files)
    with ExitStack() as stack:
        kept = _reader(stack, files[0], limits) if len(files) == 1 else None
        for field in files[0].whole_schema:
            if only is not None and field.name not in only:
                continue
            after = [*sizes]
            tables = _pieces(name, files, field, limits, after, kept)
            packed = pack_parts(frame_of(table)[field.name] for table in tables)
            if packed is not None:
                sizes = after
                yield field.name, packed
                continue
            whole = pa.concat_tables(_pieces(name, files, field, limits, sizes, kept))
            yield field.name, frame_of(whole)[field.name]


def _reader(stack: ExitStack, file: _File, limits: Limits) -> pq.ParquetFile:
    """Open a file, whose texts are read as dictionaries, until a stack ends."""
    source = stack.enter_context(as_arrow_file(unseal_file(file.path, limits)))
    return stack.enter_context(
        pq.ParquetFile(source, read_dictionary=texts_in(file.schema), pre_buffer=False)
    )


def _pieces(
    name: str,
    files: list[_File],
    field: pa.Field,
    limits: Limits,
    sizes: list[int],
    kept: pq.ParquetFile | None,
) -> Iterator[pa.Table]:
    """Yield a column of all files, some records at a time.

    Args:
        sizes: bytes of each file that were read of other columns; those of this one are added.
        kept: what reads the only file; None: each of several files is opened and closed.
    """
    for at, file in enumerate(files):
        with ExitStack() as own:
            reader = kept or _reader(own, file, limits)
            records = 0
            for part, size in _parts_of(reader, file, field, limits, sizes[at]):
                part.validate(full=True)
                records, sizes[at] = records + len(part), sizes[at] + size
                yield part
        if records != file.records:
            raise ValueError("every column must have as many values as the metadata states")
        if sum(sizes) > limits.uncompressed_bytes:
            raise limit_error(name, "uncompressed_bytes", limits.uncompressed_bytes)


def _parts_of(
    reader: pq.ParquetFile, file: _File, field: pa.Field, limits: Limits, read: int
) -> Iterator[tuple[pa.Table, int]]:
    """Yield a column of one file, in parts, and their bytes; ``read`` are those of the columns before."""
    schema, keys = pa.schema([field]), dict(file.keys)
    if field.name in keys:
        part = pa.table([key_column(keys[field.name], file.records)], schema=schema)
        yield part, part.nbytes
        return
    place = file.schema.get_field_index(field.name)
    batches = read_batches(file.path, reader, limits, column=field.name, place=place, read=read)
    if not file.records:
        yield pa.Table.from_batches([], schema), 0
    while some := list(islice(batches, _BATCHES)):
        yield pa.Table.from_batches(write_out(some, schema), schema), sum(size for _, size in some)
