"""Whether an analyst would come to the same conclusions: intervals of means and of regressions overlap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.utility.covariances import correlations_of, covariances
from anon_pipeline.utility.moments import at_most_one

_WIDE = 1.959963984540054  # standard errors on each side of a 95 % confidence interval
_SINGULAR = 1e10  # condition number of correlations from which coefficients are not told apart
_CONSTANT = 1e-20  # variance in units of the input below which a column says nothing


@dataclass(frozen=True, slots=True)
class Inference:
    """95 % confidence intervals, after against before; 1 where they are the same, 0 where they are apart.

    means: mean overlap over the columns. coefficients: mean overlap over the coefficients of the regressions
        of each column on all others; one that cannot be estimated from the release overlaps with nothing.
    shift: mean |b′ − b| of coefficients, in standard deviations of the input.
    columns, regressions: compared.
    """

    means: float | None
    coefficients: float | None
    shift: float | None
    columns: int
    regressions: int


class Interval(NamedTuple):
    """An estimate, and half the width of its confidence interval."""

    middle: float
    half: float


def overlap(one: Interval, other: Interval) -> float:
    """Return the mean of the shares of two intervals that lie in both, in [0, 1].

    An interval of width 0 has the share 1 if the other one contains it.

    Source:
        Karr et al. (2006), with 0 in place of negative numbers for intervals that are apart.

    >>> overlap(Interval(0, 1), Interval(1, 1)), overlap(Interval(0, 1), Interval(3, 1))
    (0.5, 0.0)
    """
    ends = [(own.middle - own.half, own.middle + own.half) for own in (one, other)]
    low, high = max(ends[0][0], ends[1][0]), min(ends[0][1], ends[1][1])
    if high < low:
        return 0.0
    shares = [(high - low) / (last - first) if last > first else 1.0 for first, last in ends]
    return min(sum(shares) / 2, 1.0)


def _mean_interval(values: NDArray[np.float64]) -> Interval | None:
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return None
    return Interval(float(known.mean()), _WIDE * float(known.std(ddof=1)) / math.sqrt(len(known)))


def _mean_overlaps(before: NDArray[np.float64], after: NDArray[np.float64]) -> Iterator[float]:
    """Yield the overlap of the intervals of each column that varies in the input."""
    for column in range(before.shape[1]):
        own, released = at_most_one(before[:, column], after[:, column])
        first, second = _mean_interval(own), _mean_interval(released)
        if first is not None and second is not None and first.half > 0:
            yield overlap(first, second)


def _regression(matrix: NDArray[np.float64], target: int, records: int) -> list[Interval] | None:
    """Regress a column on all others by their covariances; None where coefficients are not told apart.

    Returns:
        An interval for each of the other columns.
    """
    others = np.delete(np.arange(len(matrix)), target)
    inner, beside = matrix[np.ix_(others, others)], matrix[others, target]
    if np.diag(matrix).min() < _CONSTANT or not np.linalg.cond(correlations_of(inner)) < _SINGULAR:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        inverse = np.linalg.inv(inner)
        slopes = inverse @ beside
        rest = max(0.0, float(matrix[target, target] - beside @ slopes))
        errors = np.sqrt(np.maximum(rest * np.diag(inverse), 0.0) / (records - len(matrix)))
    if not (np.isfinite(slopes).all() and np.isfinite(errors).all()):
        return None
    return [Interval(float(b), _WIDE * float(e)) for b, e in zip(slopes, errors, strict=True)]


def compare_inference(before: NDArray[np.float64], after: NDArray[np.float64]) -> Inference:
    """Compare confidence intervals of means, and of the coefficients of linear regressions.

    Args:
        before: (n, p) finite numbers of the input; NaN for missing. after: (r, p) released ones.
    Source:
        Karr et al. (2006), "A framework for evaluating the utility of data altered to protect
        confidentiality"; [methods 9.3].
    """
    means = list(_mean_overlaps(before, after))
    found = covariances(before, after)
    overlaps: list[float] = []
    shifts: list[float] = []
    regressions = 0
    for target in range(0 if found is None else len(found.before)):
        assert found is not None  # noqa: S101 - or there is no target
        own = _regression(found.before, target, found.records)
        if own is None:
            continue
        regressions += 1
        released = _regression(found.after, target, found.released)
        if released is None:
            overlaps += [0.0] * len(own)
            continue
        pairs = list(zip(own, released, strict=True))
        overlaps += [overlap(*pair) for pair in pairs]
        shifts += [abs(second.middle - first.middle) for first, second in pairs]
    return Inference(_mean(means), _mean(overlaps), _mean(shifts), len(means), regressions)


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
