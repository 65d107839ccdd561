"""Numbers and ends of ranges so far beyond all others that who knows their rank finds their record.

Ends of ranges of dates are judged as those of numbers are, by their days.
"""

from __future__ import annotations

import datetime
import math
import re
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.values import to_texts
from anon_pipeline.evidence.evidence import Evidence

_REACH = 3.0  # interquartile ranges beyond the quartiles: Tukey's outer fences
_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_DAY = r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d\S*)?"
_RANGES = tuple(re.compile(rf"\[?(?P<low>{end})(?:, (?P<high>{end})\])?") for end in (_NUMBER, _DAY))
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
    return sum(_count_few(side[out], people[out], k) for side, out in sides)


def outlying_ends(evidence: Evidence, name: str, *, k: int) -> int:
    """Count the ends of ranges far beyond the others, which few records are known to reach.

    A class releases the least and the greatest original of its records: at least one record has each, and
    every other one lies between. The fences are those that the originals can have, at the farthest.

    Args:
        name: of a column with `[min, max]` of each class, or the number or date that all of the class have.
            What is neither counts nothing.
        k: fewer records (or people, where these are counted) reach the end, as far as the release tells.
    """
    first = np.zeros(len(evidence.classes.sizes), np.int64)
    first[evidence.classes.labels[::-1]] = np.arange(len(evidence.released))[::-1]
    ends = range_ends(evidence.released[name].iloc[first])
    there = ~np.isnan(ends).any(axis=1)
    (least, most), sizes = ends[there].T, evidence.class_sizes[there]
    if not len(sizes):
        return 0
    low, high = outer_fences(np.repeat(least, sizes), np.repeat(most, sizes))
    sides = ((least, most, high), (-most, -least, -low))
    return sum(_count_few_ends(inner, outer, sizes, fence, k) for inner, outer, fence in sides)


def range_ends(texts: pd.Series) -> NDArray[np.float64]:
    """Read the ends of ranges of numbers or dates, (n, 2); of one value, itself twice; NaN of any other text.

    Dates are read as days since year 1, whatever their time of day is.

    >>> range_ends(pd.Series(["[17, 19.5]", "20", "*", None])).tolist()
    [[17.0, 19.5], [20.0, 20.0], [nan, nan], [nan, nan]]
    >>> range_ends(pd.Series(["[0001-01-01, 0001-01-31]"])).tolist()
    [[1.0, 31.0]]
    """
    found = np.full((len(texts), 2), np.nan)
    for row, text in enumerate(to_texts(texts)):
        read = None if pd.isna(text) else next(filter(None, (form.fullmatch(text) for form in _RANGES)), None)
        if read is not None:
            found[row] = [_read_end(read["low"]), _read_end(read["high"] or read["low"])]
    return found


def _read_end(text: str) -> float:
    """Read a number, or a date as its day; NaN of a day that no month has."""
    if text[4:5] != "-" or text[7:8] != "-":
        return float(text)
    try:
        return float(datetime.date.fromisoformat(text[:10]).toordinal())
    except ValueError:
        return math.nan


def _count_few_ends(
    inner: NDArray[np.float64],
    outer: NDArray[np.float64],
    sizes: NDArray[np.int64],
    fence: float,
    k: int,
) -> int:
    """Count the ends beyond a fence that fewer than k reach: one of a class, or all of it."""
    sure = np.concatenate((outer, np.repeat(inner, sizes - 1)))
    beyond = sure[sure > fence]
    return _count_few(beyond, np.arange(len(beyond)), k)


def _count_few(values: NDArray[np.float64], people: NDArray[np.int64], k: int) -> int:
    """Count the values that fewer than k people have, or larger ones."""
    return int(np.count_nonzero(_as_far_out(values, people) < k))


def outer_fences(values: NDArray[np.float64], most: NDArray[np.float64] | None = None) -> tuple[float, float]:
    """Return the numbers beyond which a value is far out.

    They lie 3 interquartile ranges beyond the quartiles; in tables of more than some 40,000 records a little
    farther, so that of 20 normal columns, however long, one is expected to have a number beyond each. If the
    quartiles are equal, the deciles take their place; if these are, too, every other value is far out. The
    smallest step between values within the deciles is added to the range, since whole or rounded numbers can
    have quartiles that are so much closer than those of the numbers behind them.

    Args:
        values: (n,) of at least one record, none missing.
        most: (n,) where only ranges are known: the greatest that each value may be, ``values`` being the
            least. Quartiles and deciles are then as far apart as they may be.
    Source:
        Tukey (1977).

    >>> outer_fences(np.arange(101.0))
    (-128.0, 228.0)
    """
    ends = values if most is None else np.concatenate((values, most))
    first, low, high, last = (float(one) for one in np.quantile(values, (0.1, 0.25, 0.75, 0.9)))
    if most is not None:
        high, last = (float(one) for one in np.quantile(most, (0.75, 0.9)))
    steps = np.diff(np.unique(ends[(ends >= first) & (ends <= last)]))
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
