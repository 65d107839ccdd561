"""Rows of a table by their places: texts that repeat are taken by number, columns side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import overload

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray

from anon_pipeline.base.packed_tables import PackedTable, Table, unpack_table
from anon_pipeline.base.threads import side_by_side

_LOOKED = 4096  # texts that say whether a column has few
_FEW = 1024  # different ones among them


@overload
def take_rows(frame: pd.DataFrame, rows: NDArray[np.int64]) -> pd.DataFrame: ...
@overload
def take_rows(frame: Table, rows: NDArray[np.int64]) -> Table: ...
def take_rows(frame: Table, rows: NDArray[np.int64]) -> Table:
    """Return what ``frame.take(rows).reset_index(drop=True)`` returns; of a packed table a packed one.

    Args:
        frame: (n, columns), each named once.
        rows: (r,) places in 0 … n−1, any of them any number of times.
    """
    if isinstance(frame, PackedTable):
        return frame.take_rows(rows)
    columns = [frame.iloc[:, place].array for place in range(frame.shape[1])]
    taken = side_by_side([partial(take_cells, column, rows) for column in columns], records=len(rows))
    whole = pd.DataFrame(dict(enumerate(taken)), index=pd.RangeIndex(len(rows)), copy=False)
    return whole.set_axis(frame.columns, axis=1)


def keep_rows(frame: Table, kept: NDArray[np.bool_]) -> Table:
    """Return the records that are kept, in their order; ``kept`` (n,)."""
    return frame if kept.all() else take_rows(frame, np.flatnonzero(kept))


def some_rows(frame: Table, rows: NDArray[np.int64], names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return some records as pandas has them, and only some columns of them if these are named.

    Args:
        rows: (r,) places in 0 … n−1.
    """
    return unpack_table(take_rows(frame if names is None else frame[[*names]], rows))


def take_cells(column: ExtensionArray, rows: NDArray[np.int64]) -> ExtensionArray:
    """Return what ``column.take(rows)`` returns; of texts that repeat in a third of the time.

    Args:
        column: (n,) of any type.
        rows: (r,) places in 0 … n−1.
    """
    if not isinstance(column.dtype, pd.StringDtype) or len(rows) < _LOOKED:
        return column.take(rows)
    texts = pa.array(column, type=pa.large_string())
    whole = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    if pc.count_distinct(whole.slice(0, _LOOKED)).as_py() > _FEW:
        return column.take(rows)
    encoded = whole.dictionary_encode()
    taken = encoded.dictionary.take(encoded.indices.take(pa.array(rows)))
    found: ExtensionArray = pd.array(taken, dtype=column.dtype)
    return found
