"""Tables as Arrow has them, and back: of a large one a column, or some records, at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
import pandas as pd
import pyarrow as pa

from anon_pipeline.base.packed_tables import PackedTable, Table, is_large, table_of, unpack_table

PIECE = 2**20
"""Records that are converted at once: as many as a row group of Parquet has."""


def arrow_table(table: Table) -> pa.Table:
    """Return a table as Arrow has it, without an index; the types of pandas are in its metadata."""
    if not isinstance(table, PackedTable):
        return pa.Table.from_pandas(table, preserve_index=False)
    columns = [_as_arrow(column) for _, column in table.items()]
    noted = pa.Table.from_pandas(unpack_table(table.take_rows(np.empty(0, np.int64))), preserve_index=False)
    return pa.table(columns, names=[*table.columns], metadata=noted.schema.metadata)


def arrow_pieces(table: Table, start: int, stop: int) -> Iterator[pa.Table]:
    """Yield the records at the places start … stop−1 as tables of Arrow, without an index or metadata.

    Of a packed table only one piece of `PIECE` records is unpacked at a time. There is at least one piece.
    """
    if not isinstance(table, PackedTable):
        yield arrow_table(table).replace_schema_metadata(None).slice(start, stop - start)
        return
    packed = {name: table.packed_column(name) for name in table.columns}
    whole = {  # the type of objects is that of all of them
        name: _as_arrow(column.unpack(name)) for name, column in packed.items() if column.dtype == object
    }
    for begin in range(start, max(stop, start + 1), PIECE):
        end = min(begin + PIECE, stop)
        yield pa.table(
            [
                whole[name].slice(begin, end - begin)
                if name in whole
                else pa.Table.from_pandas(
                    column.cells(begin, end).to_frame("x"), preserve_index=False
                ).column(0)
                for name, column in packed.items()
            ],
            names=[*packed],
        )


def arrow_schema(table: Table) -> pa.Schema:
    """Return the names and types of a table's columns as Arrow has them."""
    if isinstance(table, PackedTable):
        return arrow_table(table).schema
    return pa.Schema.from_pandas(table, preserve_index=False)


def table_from_arrow(table: pa.Table, *, with_metadata: bool = False) -> Table:
    """Return a table of Arrow as pandas has it; a large one is packed.

    Args:
        with_metadata: whether the columns get the types that pandas noted in the table.
    """

    if not is_large(table.num_rows) or len({*table.column_names}) < table.num_columns:
        return _as_pandas(table, with_metadata=with_metadata)
    parts = ((name, table.select([name])) for name in table.column_names)
    columns = ((name, _as_pandas(part, with_metadata=with_metadata)[name]) for name, part in parts)
    return table_of(columns, table.num_rows)


def table_from_columns(columns: Iterable[tuple[str, pa.ChunkedArray]]) -> Table:
    """Do as `table_from_arrow` does with columns that come one after the other, each named once.

    Args:
        columns: (n,) each, at least one; of a large table none is held once the next one is asked for.
    """
    rest = iter(columns)
    first = next(rest)
    if not is_large(len(first[1])):
        return _as_pandas(pa.table(dict([first, *rest])))
    records, all_columns = len(first[1]), chain([first], rest)
    del first
    return table_of(
        ((name, _as_pandas(pa.table({name: column}))[name]) for name, column in all_columns), records
    )


def _as_arrow(column: pd.Series) -> pa.ChunkedArray:
    return pa.Table.from_pandas(column.to_frame("x"), preserve_index=False).column(0)


def _as_pandas(table: pa.Table, *, with_metadata: bool = False) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas(ignore_metadata=not with_metadata, integer_object_nulls=True)
    return frame
