"""Probabilistic information loss: how surprising the statistics of a release are, for a sample of the input.

A statistic of a release may differ from that of its input by as much as sampling would make it differ. The
loss is the probability that a sample of the input's size differs by less: 0 for the same statistic, 1 for one
that sampling does not explain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.utility.moments import at_most_one

_QUANTILES = tuple(step / 20 for step in range(1, 20))  # 5 %, 10 % … 95 %


@dataclass(frozen=True, slots=True)
class ProbabilisticLoss:
    """Probabilistic information loss by kind of statistic, each the mean over columns or pairs, in [0, 1].

    overall: the mean of the five, of those that there are.
    """

    means: float | None
    variances: float | None
    covariances: float | None
    correlations: float | None
    quantiles: float | None
    overall: float | None


_ALIKE = 1e-9  # a difference, in the unit of the statistic, that rounding may cause


def surprise(difference: float, variance: float, *, unit: float = 1.0) -> float:
    """Return the probability that a normal estimate differs by less than this.

    Args:
        variance: of the estimate; 0: it cannot differ.
        unit: what a difference is compared with to tell it from rounding.

    >>> surprise(0, 1), round(surprise(1.96, 1), 3), surprise(1, 0)
    (0.0, 0.95, 1.0)
    """
    if abs(difference) <= _ALIKE * unit:
        return 0.0
    if not math.isfinite(difference) or not variance > 0:
        return 1.0
    return math.erf(abs(difference) / math.sqrt(2 * variance))


def _of_column(own: NDArray[np.float64], released: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the losses of mean, variance and quantiles of one column without missing numbers."""
    n, off = len(own), own - own.mean()
    variance, fourth = float((off**2).mean()), float((off**4).mean())
    mean = surprise(float(released.mean() - own.mean()), variance / n, unit=math.sqrt(variance))
    spread = surprise(float(released.var()) - variance, (fourth - variance**2) / n, unit=variance)
    return mean, spread, _of_quantiles(own, released)


def _of_quantiles(own: NDArray[np.float64], released: NDArray[np.float64]) -> float:
    """Return the mean loss of the quantiles: where those of the release lie in the input.

    The q-quantile of a release loses nothing if at most the share q of the input is below it, and at least q
    is at or below it.
    """
    ordered, n, found = np.sort(own), len(own), []
    for share in _QUANTILES:
        value = np.quantile(released, share, method="inverted_cdf")
        below, up_to = (np.searchsorted(ordered, value, side) / n for side in ("left", "right"))
        found.append(surprise(max(0.0, share - up_to, below - share), share * (1 - share) / n))
    return math.fsum(found) / len(found)


def _of_pair(own: NDArray[np.float64], released: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return the losses of covariance and correlation of two columns, (n, 2) and (r, 2).

    The variance of a correlation is that of its influence function, u·v − r·(u² + v²)/2 in standard units.
    None where a column does not vary in the input.
    """
    off = own - own.mean(axis=0)
    scale = np.sqrt((off**2).mean(axis=0))
    if not (scale > 0).all():
        return None
    unit, other = off / scale, (released - released.mean(axis=0)) / scale
    products = unit.prod(axis=1)
    r, n = float(products.mean()), len(own)
    changed = float(other.prod(axis=1).mean())
    spread = np.sqrt((other**2).mean(axis=0))
    changed_r = changed / float(spread.prod()) if (spread > 0).all() else 0.0
    influence = products - r * (unit**2).sum(axis=1) / 2
    return (
        surprise(changed - r, float(products.var()) / n),
        surprise(changed_r - r, float(influence.var()) / n),
    )


def probabilistic_loss(before: NDArray[np.float64], after: NDArray[np.float64]) -> ProbabilisticLoss:
    """Measure how surprising the statistics of all columns of numbers are.

    Args:
        before: (n, p) finite numbers of the input; NaN for missing. after: (r, p) released ones.
    Source:
        Mateo-Sanz et al. (2005); [DB 2.6]; [methods 9.3].
    """
    scaled = [at_most_one(before[:, j], after[:, j]) for j in range(before.shape[1])]
    with np.errstate(over="ignore", invalid="ignore"):  # what is beyond all numbers is surprising
        return _all_losses(scaled)


def _all_losses(scaled: list[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> ProbabilisticLoss:
    """Measure what `probabilistic_loss` does of columns whose numbers are at most 1."""
    columns, pairs = [], []
    for own, released in scaled:
        known, shown = own[~np.isnan(own)], released[~np.isnan(released)]
        if len(known) > 1 and len(shown) > 1 and known.min() < known.max():
            columns.append(_of_column(known, shown))
    for one, other in combinations(scaled, 2):
        both, shown = (np.stack([one[side], other[side]], axis=1) for side in (0, 1))
        both, shown = both[~np.isnan(both).any(axis=1)], shown[~np.isnan(shown).any(axis=1)]
        if len(both) > 1 and len(shown) > 1:
            pairs.append(_of_pair(both, shown))
    means, variances, quantiles = (
        ([*parts] for parts in zip(*columns, strict=True)) if columns else ([], [], [])
    )
    found = [pair for pair in pairs if pair is not None]
    losses = (_mean(means), _mean(variances), _mean([p[0] for p in found]), _mean([p[1] for p in found]))
    each = (*losses, _mean(quantiles))
    return ProbabilisticLoss(*each, _mean([loss for loss in each if loss is not None]))


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
