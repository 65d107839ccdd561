"""The released columns as far as they are known before noise is drawn: as Arrow has them, one by one.

Columns with noise have their types only, since what is in them is not yet what is released.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from anon_pipeline.base.arrow_tables import arrow_table
from anon_pipeline.base.packed_tables import Table, column_type
from anon_pipeline.base.rows import take_rows
from anon_pipeline.encode.categories import noisy_columns
from anon_pipeline.encode.codes import CLASS
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.file_formats import holds_type


def expected_columns(policy: Policy, recoded: Table) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """Yield each released column: its name, and the values of the records that may be released.

    Args:
        recoded: (n, columns) the table of `k_anonymized`; suppressed records do not count.
    Yields:
        Names with their columns, of which no two are held at a time. A column with noise has one value, of
        the policy, or 0.
    """
    kept = np.flatnonzero((recoded[CLASS] >= 0).to_numpy())
    made = noisy_columns(np.zeros((1, len(policy.noisy)), np.int64), policy)
    for name in policy.released:
        values = pa.array(made[name]) if name in made else _column(recoded, name, kept)
        yield name, values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])


def _column(recoded: Table, name: str, rows: NDArray[np.int64]) -> pa.ChunkedArray:
    """Return the cells of a column at some rows, as texts where it has categories."""
    found = arrow_table(take_rows(recoded[[name]], rows)).column(0)
    return found.cast(found.type.value_type) if pa.types.is_dictionary(found.type) else found


def unwritable_columns(policy: Policy, recoded: Table) -> list[str]:
    """Return the released columns that no file of the policy's format can hold, in the policy's order.

    Args:
        recoded: see `expected_columns`. Only objects are looked at: numbers of Python have no bounds.
    """
    kept = np.flatnonzero((recoded[CLASS] >= 0).to_numpy())
    own = (name for name in policy.released if name not in policy.noisy)
    objects = [name for name in own if pd.api.types.is_object_dtype(column_type(recoded, name))]
    return [name for name in objects if not _is_writable(policy, recoded, name, kept)]


def _is_writable(policy: Policy, recoded: Table, name: str, rows: NDArray[np.int64]) -> bool:
    try:
        kind = _column(recoded, name, rows).type
    except (pa.ArrowException, OverflowError):  # their texts quote cells
        return False
    return holds_type(policy.publish.format, kind)
