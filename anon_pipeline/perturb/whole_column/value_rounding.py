"""Rounding: each value is replaced by the nearest multiple of a base.

Source: [DB 3.2].
"""

from __future__ import annotations

import numpy as np

from anon_pipeline.perturb.whole_column.columns_to_change import Columns, Integers


def round_values(columns: Columns) -> Integers:
    """Round to multiples of the amount, in grid units; a half goes up, (n, q)."""
    base = np.array(columns.amounts, np.int64)
    found: Integers = (2 * columns.values + base) // (2 * base) * base
    return found
