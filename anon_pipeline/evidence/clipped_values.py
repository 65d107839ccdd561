"""How much of a column its public bounds cut off: the share of its values that lie beyond them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anon_pipeline.base.packed_tables import Table
from anon_pipeline.policy.model import Policy


def clipped_shares(frame: Table, policy: Policy) -> dict[str, float]:
    """Return the share of the values of each bounded column that its bounds replace, in [0, 1].

    A value that equals a bound is not beyond it. Missing values do not count.

    Args:
        frame: (n, columns) accepted data, before anything is coarsened or clipped.
    Returns:
        Of each column of `Policy.public_bounds`; 0 for one without values.
    """
    return {name: _share_beyond(frame[name], low, high) for name, (low, high) in policy.public_bounds.items()}


def _share_beyond(series: pd.Series, low: float, high: float) -> float:
    values = series.to_numpy(np.float64, na_value=np.nan)
    values = values[~np.isnan(values)]
    return float(np.mean((values < low) | (values > high))) if len(values) else 0.0
