"""Multiplicative noise: each value is multiplied by a positive random number with the mean 1.

The factor is lognormal, exp(sZ − s²/2): signs and zeros stay, and the expected value is the original.
Source: Kim and Winkler (2003), Multiplicative noise for masking continuous data.
"""

from __future__ import annotations

import numpy as np

from anon_pipeline.perturb.grid import LARGEST
from anon_pipeline.perturb.whole_column.columns_to_change import Columns, Integers


def multiply(columns: Columns) -> Integers:
    """Multiply each value by a factor of its own.

    Args:
        columns: their amounts are s, the standard deviation of the factor's logarithm.
    Returns:
        (n, q) products, rounded to the grid.
    """
    factors = [
        np.exp(amount * columns.normal(column) - amount**2 / 2)
        for column, amount in enumerate(columns.amounts)
    ]
    products = columns.values * np.stack(factors, axis=1)
    found: Integers = np.rint(np.clip(products, -LARGEST, LARGEST)).astype(np.int64)
    return found
