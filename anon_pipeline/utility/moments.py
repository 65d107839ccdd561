"""How far means, variances and correlations of the release are from those of the input."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.utility.records import Table, all_lines


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """Moments of p columns of numbers, after against before; None where there is nothing to compare.

    means: mean over the columns of |m′ − m| over the standard deviation in the input.
    variances: mean over the columns of |v′ − v|/v.
    correlations: mean over the pairs of columns of |r′ − r|, in [0, 2].
    columns: compared; constant columns of the input are not, nor those of which fewer than two numbers are
        released.
    pairs: compared; a column that is constant in the release only has r′ = 0.
    """

    means: float | None
    variances: float | None
    correlations: float | None
    columns: int
    pairs: int


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _moments(values: NDArray[np.float64]) -> tuple[float, float] | None:
    """Mean and variance (over n) of the numbers that are there; None of fewer than two."""
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return None
    if known.min() == known.max():
        return float(known[0]), 0.0
    return float(known.mean()), float(known.var())


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    """Pearson's r over the records that have both numbers; None if fewer than two, or one is constant."""
    both = ~np.isnan(a) & ~np.isnan(b)
    x, y = a[both], b[both]
    if len(x) < 2 or x.min() == x.max() or y.min() == y.max():
        return None
    x, y = x - x.min(), y - y.min()  # numbers that are large and near each other keep their digits
    x, y = x - x.mean(), y - y.mean()
    x, y = x / np.abs(x).max(), y / np.abs(y).max()  # no square overflows, none vanishes
    r = float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))
    return max(-1.0, min(1.0, r))


def at_most_one(
    before: NDArray[np.float64], after: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Divide a column before and after by one power of two, so that no sum of squares overflows; exact.

    Args:
        before, after: finite numbers; NaN for missing.
    """
    sizes = np.abs(np.concatenate([before, after]))
    exponent = math.frexp(float(np.max(sizes, initial=0.0, where=~np.isnan(sizes))))[1]
    return np.ldexp(before, -exponent), np.ldexp(after, -exponent)


def discrepancy(before: NDArray[np.float64], after: NDArray[np.float64]) -> Discrepancy:
    """Compare the moments of a release with those of its input.

    Args:
        before: (n, p) finite numbers of the input; NaN for missing. Records in the order of `Table.in_order`,
            so that sums do not depend on the order of the rows.
        after: (r, p) released numbers; NaN for missing.
    Source:
        [DB 2.6]: mean absolute error of correlations, mean variation of variances; [methods 9.3].

    >>> before = np.array([[0.0, 0.0], [2.0, 2.0]])
    >>> discrepancy(before, np.array([[0.0, 1.0], [2.0, 1.0]]))
    Discrepancy(means=0.0, variances=0.5, correlations=1.0, columns=2, pairs=1)
    """
    means, variances, correlations, compared = [], [], [], []
    scaled = [at_most_one(before[:, j], after[:, j]) for j in range(before.shape[1])]
    for j in range(before.shape[1]):
        own, released = _moments(scaled[j][0]), _moments(scaled[j][1])
        if own is None or released is None or not own[1] > 0:
            continue
        compared.append(j)
        means.append(abs(released[0] - own[0]) / math.sqrt(own[1]))
        variances.append(abs(released[1] - own[1]) / own[1])
    for i, a in enumerate(compared):
        for b in compared[:i]:
            r = _correlation(scaled[a][0], scaled[b][0])
            if r is not None:
                correlations.append(abs((_correlation(scaled[a][1], scaled[b][1]) or 0.0) - r))
    found = (_mean(means), _mean(variances), _mean(correlations))
    return Discrepancy(*found, len(compared), len(correlations))


def compare_moments(table: Table) -> Discrepancy:
    """Compare the moments of all columns of numbers and ranks, see `discrepancy`."""
    return discrepancy(*all_lines(table))
