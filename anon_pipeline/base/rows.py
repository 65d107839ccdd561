"""Rows of a table by their places: texts that repeat are taken by number, columns side by side."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray

from anon_pipeline.base.threads import side_by_side

_LOOKED = 4096  # texts that say whether a column has few
_FEW = 1024  # different ones among them


def take_rows(frame: pd.DataFrame, rows: NDArray[np.int64]) -> pd.DataFrame:
    """Return what ``frame.take(rows).reset_index(drop=True)`` returns.

    Args:
        frame: (n, columns), each named once.
        rows: (r,) places in 0 … n−1, any of them any number of times.
    """
    columns = [frame.iloc[:, place].array for place in range(frame.shape[1])]
    taken = side_by_side([partial(take_cells, column, rows) for column in columns], records=len(rows))
    whole = pd.DataFrame(dict(enumerate(taken)), index=pd.RangeIndex(len(rows)), copy=False)
    return whole.set_axis(frame.columns, axis=1)


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
