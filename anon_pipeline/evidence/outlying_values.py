"""Released numbers so far beyond all others that who knows their rank finds their record."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.evidence.evidence import Evidence

_REACH = 3.0  # interquartile ranges beyond the quartiles: Tukey's outer fences
_BY_CHANCE = 0.05  # normal numbers beyond a fence that are expected of a table of any size, at most


def outlying_values(evidence: Evidence, name: str, *, k: int) -> int:
    """Count the released records with a number far beyond the others, which few share.

    Such a number lies beyond an outer fence, and fewer than k records have it or one still farther out on
    this side. Where people are counted: fewer than k people. Missing values and texts are no numbers.

    Args:
        name: of the column.
    """
    series = evidence.released[name]
    if not pd.api.types.is_numeric_dtype(series) or pd.api.types.is_bool_dtype(series):
        return 0
    values = series.to_numpy(np.float64, na_value=np.nan)
    there = ~np.isnan(values)
    people = np.arange(len(values)) if evidence.people is None else evidence.people
    if not there.any():
        return 0
    values, people = values[there], people[there]
    low, high = outer_fences(values)
    sides = ((values, values > high), (-values, values < low))
    return sum(int(np.count_nonzero(_as_far_out(side[out], people[out]) < k)) for side, out in sides)


def outer_fences(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the numbers beyond which a value is far out.

    They lie 3 interquartile ranges beyond the quartiles; in tables of more than some 40,000 records a little
    farther, so that of 20 normal columns, however long, one is expected to have a number beyond each. If the
    quartiles are equal, the deciles take their place; if these are, too, every other value is far out. The
    smallest step between values within the deciles is added to the range, since whole or rounded numbers can
    have quartiles that are so much closer than those of the numbers behind them.

    Args:
        values: (n,) of at least one record, none missing.
    Source:
        Tukey (1977).

    >>> outer_fences(np.arange(101.0))
    (-128.0, 228.0)
    """
    first, low, high, last = (float(one) for one in np.quantile(values, (0.1, 0.25, 0.75, 0.9)))
    steps = np.diff(np.unique(values[(values >= first) & (values <= last)]))
    if low == high:
        low, high = first, last
    width = high - low + (float(steps.min()) if len(steps) else 0.0)
    reach = max(_REACH, _normal_reach(len(values))) * width
    return low - reach, high + reach


def _normal_reach(n: int) -> float:
    """Return how many interquartile ranges beyond a quartile few of n normal numbers are."""
    normal = NormalDist()
    quartile = normal.inv_cdf(0.75)
    return (normal.inv_cdf(1 - _BY_CHANCE / max(n, 1)) / quartile - 1) / 2


def _as_far_out(values: NDArray[np.float64], people: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the people who have each value, or a larger one, (n,)."""
    order = np.argsort(-values, kind="stable")
    new = np.zeros(len(values), np.int64)
    new[np.unique(people[order], return_index=True)[1]] = 1
    ends = np.searchsorted(-values[order], -values, side="right")
    return np.cumsum(new)[ends - 1]
