"""Estimates over several synthetic copies, combined to one with its variance.

Source: Raghunathan et al. (2003) for fully synthetic data; Reiter (2003) for partially synthetic
data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import t

from anon_pipeline.base.errors import InputError


@dataclass(frozen=True, slots=True)
class Combined:
    """An estimate over several copies.

    estimate: the mean of the copies' estimates.
    variance: of it, ≥ 0.
    degrees: of freedom of the t distribution that its interval is computed by.
    """

    estimate: float
    variance: float
    degrees: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the interval that contains the true value with about this probability."""
        half = float(t.ppf((1 + level) / 2, self.degrees)) * self.variance**0.5
        return self.estimate - half, self.estimate + half


def combine_estimates(
    estimates: Sequence[float],
    variances: Sequence[float],
    *,
    synthetic: Literal["fully", "partially"] = "fully",
) -> Combined:
    """Combine the estimates of one number over m copies.

    With b the variance of the estimates and u the mean of their variances, the variance of the mean is
    (1 + 1/m)·b − u for fully synthetic copies; where that is negative, u is taken, which is too large rather
    than too small. For partially synthetic copies it is u + b/m.

    Args:
        estimates: (m,) m ≥ 2, one of each copy.
        variances: (m,) of each, as it is computed from its copy alone.
        synthetic: whether all values are synthetic, or those of some columns or records.
    Raises:
        InputError: fewer than two copies, or not a variance for each.

    >>> found = combine_estimates([10.0, 12.0, 11.0], [0.2, 0.2, 0.2])
    >>> found.estimate, round(found.variance, 3)
    (11.0, 1.133)
    """
    many = len(estimates)
    if many < 2 or len(variances) != many:
        raise InputError(
            f"there must be an estimate and a variance of each of at least two copies, got {many}"
        )
    between, within = float(np.var(estimates, ddof=1)), float(np.mean(variances))
    if synthetic == "partially":
        variance = within + between / many
        ratio = within / (between / many) if between else np.inf
        degrees = (many - 1) * (1 + ratio) ** 2
    else:
        variance = (1 + 1 / many) * between - within
        share = within / ((1 + 1 / many) * between) if between else np.inf
        degrees = (many - 1) * (1 - share) ** 2 if variance > 0 else np.inf
    if variance <= 0:
        variance = within
    return Combined(float(np.mean(estimates)), variance, max(degrees, 1.0))
