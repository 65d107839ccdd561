"""Large tables with packed columns: a column is unpacked each time it is asked for, and nobody keeps it.

`PackedTable` has what the stages and the gate use of a DataFrame; small tables stay DataFrames.
Decision: docs/adr/0082-large-tables-are-packed.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.coded_columns import number_cells
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_columns import PackedColumn, pack_column
from anon_pipeline.base.threads import side_by_side

PACKED_FROM = 2**18
"""Records from which a table is packed: what is saved of smaller ones is less than the libraries need."""


class PackedTable:
    """A table of n records whose columns are packed, each named once.

    As in a DataFrame, ``table[name]`` is a column, ``table[names]`` a table of some columns, and ``assign``
    and ``drop`` return another table, which shares the columns that stay. Its records have no index.
    """

    __slots__ = ("_columns", "_records")

    def __init__(self, columns: Mapping[str, PackedColumn], records: int) -> None:
        self._columns, self._records = dict(columns), records

    def __len__(self) -> int:
        return self._records

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __repr__(self) -> str:
        return f"PackedTable({len(self)} records, {len(self._columns)} columns)"

    @property
    def columns(self) -> pd.Index:
        """The names of the columns, in their order."""
        return pd.Index(list(self._columns))

    @overload
    def __getitem__(self, key: str) -> pd.Series: ...
    @overload
    def __getitem__(self, key: list[str]) -> PackedTable: ...
    def __getitem__(self, key: str | list[str]) -> pd.Series | PackedTable:
        if isinstance(key, str):
            return self._columns[key].unpack(key)
        return PackedTable({name: self._columns[name] for name in key}, self._records)

    def packed_column(self, name: str) -> PackedColumn:
        """Return a column as it is kept."""
        return self._columns[name]

    def items(self) -> Iterator[tuple[str, pd.Series]]:
        """Yield each column's name with the column, unpacked one after the other."""
        for name in self._columns:
            yield name, self[name]

    def assign(self, /, **columns: Any) -> PackedTable:
        """Return the table with other columns: in their place where there is one of the name, else behind.

        Args:
            columns: (n,) each, arrays or Series; the index of a Series does not count.
        """
        return self.with_columns(columns.items())

    def with_columns(self, columns: Iterable[tuple[str, Any]]) -> PackedTable:
        """Do as `assign` does, but each column is packed before the next is made, or packed already.

        Raises:
            ValueError: a column has another number of records than the table.
        """
        made = dict(self._columns)
        for name, column in columns:
            if isinstance(column, PackedColumn):
                made[name] = column
                continue
            series = pd.Series(column)
            if len(series) != self._records:
                raise ValueError("a column must have as many records as its table")
            made[name] = pack_column(series)
        return PackedTable(made, self._records)

    def drop(self, *, columns: str | Collection[str], errors: str = "raise") -> PackedTable:
        """Return the table without some columns.

        Raises:
            KeyError: one is not there, unless ``errors`` says to ignore that.
        """
        names = {columns} if isinstance(columns, str) else {*columns}
        if errors == "raise" and not names <= {*self._columns}:
            raise KeyError("columns must be those of the table")
        kept = {name: column for name, column in self._columns.items() if name not in names}
        return PackedTable(kept, self._records)

    def take_rows(self, rows: NDArray[np.int64]) -> PackedTable:
        """Return the table of some records, packed.

        Args:
            rows: (r,) places in 0 … n−1, any of them any number of times.
        """
        tasks = [partial(column.take, rows) for column in self._columns.values()]
        taken = side_by_side(tasks, records=len(rows))
        return PackedTable(dict(zip(self._columns, taken, strict=True)), len(rows))

    def unpack(self) -> pd.DataFrame:
        """Return the table as pandas has it."""
        return pd.DataFrame(dict(self.items()), index=pd.RangeIndex(self._records), copy=False)


Table = pd.DataFrame | PackedTable
"""A table of either form; a large one is packed."""


def is_large(records: int) -> bool:
    """Tell whether a table of so many records is packed."""
    return records >= PACKED_FROM


def pack_large(table: Table) -> Table:
    """Return a table packed if it is large; one with a column that is named twice stays as it is."""
    if isinstance(table, PackedTable) or not is_large(len(table)):
        return table
    names = [str(name) for name in table.columns]
    if len({*names}) < len(names):
        return table
    return PackedTable({str(name): pack_column(column) for name, column in table.items()}, len(table))


def table_of(columns: Iterable[tuple[str, pd.Series | PackedColumn]], records: int) -> Table:
    """Make a table of columns, of which each is packed before the next is made if the table is large.

    Args:
        columns: names, each once, and (n,) columns with the index 0 … n−1; of large tables also packed ones.
        records: n.
    """
    if not is_large(records):
        return pd.DataFrame(dict(columns))
    packed = (
        (name, column if isinstance(column, PackedColumn) else pack_column(column))
        for name, column in columns
    )
    return PackedTable(dict(packed), records)


def unpack_table(table: Table) -> pd.DataFrame:
    """Return a table as pandas has it: all of its columns at once."""
    return table.unpack() if isinstance(table, PackedTable) else table


def insert_column(table: Table, place: int, name: str, values: Any) -> Table:
    """Return a table with one more column, at a place.

    Args:
        values: (n,), an array or a Series; the index of a Series does not count.
    """
    if isinstance(table, PackedTable):
        names = [*table.columns]
        return table.with_columns([(name, values)])[[*names[:place], name, *names[place:]]]
    after = table.copy(deep=False)
    after.insert(place, name, pd.Series(values).array)  # type: ignore[arg-type]  # stubs know no array
    return after


def without_index(table: Table) -> Table:
    """Return a table whose records are numbered 0 … n−1, as those of a packed one are anyway."""
    return table if isinstance(table, PackedTable) else table.reset_index(drop=True)


def with_text_names(table: Table) -> Table:
    """Return a table with the names of its columns as texts."""
    if isinstance(table, PackedTable):
        return table
    return table.set_axis([str(name) for name in table.columns], axis=1)


def with_columns(table: Table, columns: Iterable[tuple[str, Any]]) -> Table:
    """Return a table with other columns: in their place where there is one of the name, else behind.

    Args:
        columns: names and (n,) columns: arrays, or Series with the index of the table.
    """
    if isinstance(table, PackedTable):
        return table.with_columns(columns)
    after = table.copy(deep=False)
    for name, column in columns:  # not by assign: a column may be named as one of its arguments
        after[name] = column
    return after


def with_column_of(table: Table, other: Table, name: str) -> Table:
    """Return a table with a column of another one of as many records behind its own; packed ones share it.

    Raises:
        ValueError: the other table has another number of records.
    """
    if len(table) != len(other):
        raise ValueError("a column must have as many records as its table")
    if isinstance(table, PackedTable) and isinstance(other, PackedTable):
        packed = {**{own: table.packed_column(own) for own in table.columns}, name: other.packed_column(name)}
        return PackedTable(packed, len(table))
    return with_columns(table, [(name, other[name].to_numpy())])


def column_type(table: Table, name: str) -> Any:
    """Return the type that pandas has for a column."""
    return table.packed_column(name).dtype if isinstance(table, PackedTable) else table[name].dtype


def value_numbers(table: Table, name: str) -> NDArray[np.int64]:
    """Number the values of a column in the order in which they occur, a missing one as any other, (n,)."""
    return factorize_column(table, name, use_na_sentinel=False)[0]


def factorize_column(
    table: Table, name: str, *, use_na_sentinel: bool = True
) -> tuple[NDArray[np.int64], pd.Index]:
    """Do as `pandas.factorize` does of a column; of a packed one each different cell is looked at once.

    Args:
        use_na_sentinel: whether a missing value has the number −1, and is none of the values.
    Returns:
        (n,) numbers of values in the order in which they occur, and (m,) the values.
    """
    found = numbered_cells(table, name)
    codes, values = pd.factorize(found[1] if found else table[name], use_na_sentinel=use_na_sentinel)
    codes = codes.astype(np.int64, copy=False)
    return codes if found is None else codes.take(found[0]), values


def numbered_cells(table: Table, name: str) -> tuple[NDArray[Any], pd.Series] | None:
    """Return the different cells of a packed column, (m,), in the order in which they occur.

    Returns:
        The number of each record's cell, (n,) 0 … m−1, and the cells; None: not known without unpacking.
    """
    return table.packed_column(name).numbered_cells() if isinstance(table, PackedTable) else None


def counted_cells(table: Table, name: str) -> tuple[pd.Series, NDArray[np.int64]]:
    """Return cells of a column, (m,), with all that occur, and how many records have each, (m,).

    Of a packed column these are the different ones, of another one all cells as they stand.
    """
    numbers, cells = numbered_cells(table, name) or (np.arange(len(table)), table[name])
    return cells, np.bincount(numbers)


def different_cells(table: Table, name: str) -> pd.Series:
    """Return the values of a column: of a packed one each once, if that is known; else all cells."""
    found = numbered_cells(table, name)
    return table[name] if found is None else found[1].rename(name)


def change_cells(
    table: Table, name: str, change: Callable[[pd.Series], pd.Series]
) -> pd.Series | PackedColumn:
    """Change a column in a way that depends on each cell alone; of a packed one each cell is changed once.

    Args:
        change: from (r,) cells to as many. What it makes of them must not depend on how often they occur.
    Raises:
        InputError: see ``change``; it counts records.
    """
    found = numbered_cells(table, name)
    if found is not None and len(found[1]):
        numbers, cells = found
        with suppress(InputError):  # it would count cells
            own = cells.rename(name)
            changed = change(own)
            if changed is own and isinstance(table, PackedTable):
                return table.packed_column(name)
            made = number_cells(numbers, changed)
            if made is not None:
                return made
    return change(table[name])


def missing_cells(table: Table, name: str) -> NDArray[np.bool_]:
    """Tell which records have no value in a column, (n,)."""
    found = numbered_cells(table, name)
    if found is None:
        missing: NDArray[np.bool_] = table[name].isna().to_numpy()
        return missing
    of_cell: NDArray[np.bool_] = found[1].isna().to_numpy()
    return of_cell.take(found[0])


def has_cells_of(table: Table, other: Table, name: str, rows: NDArray[np.int64]) -> bool:
    """Tell whether a column has the cells of another table at some rows, (n,); False: not known so."""
    if isinstance(table, PackedTable) and isinstance(other, PackedTable):
        return table.packed_column(name).has_cells_of(other.packed_column(name), rows)
    return False
