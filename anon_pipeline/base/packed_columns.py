"""Packing columns: as codes where values repeat, else as pandas has them, in memory or in a file.

A packed column gives back the very column that was packed: type, values to the last bit, missing ones.
Decision: docs/adr/0082-large-tables-are-packed.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from anon_pipeline.base.coded_columns import PackedColumn, pack_numbers, pack_texts
from anon_pipeline.base.scratch import ScratchArray, keep_array

__all__ = ["PackedColumn", "pack_column"]

_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True, slots=True, eq=False)
class _Held(PackedColumn):
    """A column that repeats too little, or has another type: as pandas has it."""

    series: pd.Series = field(repr=False)

    @property
    def dtype(self) -> Any:
        return self.series.dtype

    def unpack(self, name: str) -> pd.Series:
        return self.series.copy(deep=False).rename(name)

    def cells(self, start: int, stop: int) -> pd.Series:
        return self.series.iloc[start:stop]

    def take(self, rows: NDArray[np.int64]) -> PackedColumn:
        if self.series.dtype != object:
            return _hold(pd.Series(self.series.array.take(rows), dtype=self.series.dtype, copy=False))
        return pack_column(pd.DataFrame({0: self.series.array.take(rows)})[0])  # typed as in a DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class _Filed(PackedColumn):
    """A column that repeats too little, in a file.

    kept: of numbers or times their bits, (n,); of texts the bytes of a table of Arrow.
    """

    kept: ScratchArray = field(repr=False)
    kind: Any

    @property
    def dtype(self) -> Any:
        return self.kind

    def unpack(self, name: str) -> pd.Series:
        """Read the whole column back."""
        held = self.kept.load()
        if isinstance(self.kind, np.dtype):
            return pd.Series(held.view(self.kind), name=name, copy=False)
        texts = pa.ipc.open_stream(pa.py_buffer(held)).read_all().column(0)
        return pd.Series(pd.array(texts, dtype=self.kind), name=name, copy=False)

    def cells(self, start: int, stop: int) -> pd.Series:
        if isinstance(self.kind, np.dtype):
            return pd.Series(self.kept.load(start, stop).view(self.kind), copy=False)
        return self.unpack("").iloc[start:stop]

    def take(self, rows: NDArray[np.int64]) -> PackedColumn:
        return _hold(pd.Series(self.unpack("").array.take(rows), dtype=self.kind, copy=False))


def pack_column(series: pd.Series) -> PackedColumn:
    """Pack a column.

    Args:
        series: (n,) of any type; its index does not count.
    """
    dtype = series.dtype
    if isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow":
        packed = pack_texts(series, dtype)
    elif isinstance(dtype, np.dtype) and dtype.isnative and dtype.itemsize == 8 and dtype.kind in "ifM":
        packed = pack_numbers(series.to_numpy(), dtype)
    else:
        packed = None
    if packed is not None:
        return packed
    if isinstance(dtype, np.dtype):  # a copy: what the column is a part of is not kept with it
        return _hold(pd.Series(series.to_numpy(copy=True), dtype=dtype, copy=False))
    return _hold(series.reset_index(drop=True))


def _hold(series: pd.Series) -> PackedColumn:
    """Keep a column as pandas has it: in a file, if there is a folder for files and its type allows that."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iufbMm" and dtype.itemsize in _BITS:
        kept = keep_array(series.to_numpy().view(_BITS[dtype.itemsize]))
    elif isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow":
        kept = keep_array(_bytes_of(pa.array(series.array, type=pa.large_string())))
    else:
        return _Held(series)
    return _Filed(kept, dtype) if isinstance(kept, ScratchArray) else _Held(series)


def _bytes_of(texts: pa.Array | pa.ChunkedArray) -> NDArray[np.uint8]:
    """Return texts as the bytes of a table of Arrow."""
    table, sink = pa.table({"": texts}), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return np.frombuffer(sink.getvalue(), np.uint8)
