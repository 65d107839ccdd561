"""Fig. 2, how errors are distributed: noise for the whole table, noise for each class, uniform noise.

Belongs here: the share of records within each relative error, in closed form and drawn. Does not belong
here: printing (`paper_tables`), drawing curves (`paper_plots`).

All three are of the same records (those that the recoding keeps). ε is chosen so that noise for each class
has the mean error of the uniform noise, as in the paper; noise for the whole table has the same ε.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq

from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.catalog.mechanisms import DEFAULT_MECHANISM
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.perturb.discrete_laplace_law import cdf
from anon_pipeline.perturb.entropy import Entropy
from anon_pipeline.perturb.error import expected_relative_error
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.perturb.noise import add_noise
from benchmarks.figures import Recoded

UNIFORM: Final = 0.05
"""Uniform noise moves a value by up to this share of it, [KE III-C]; its mean error is half of that."""
ERRORS: Final = tuple(np.round(np.arange(0, 0.3001, 0.005), 3).tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Fig. 2 of one recoding.

    epsilon: of both kinds of Laplace noise.
    means: expected relative error of ``table``, ``classes`` and ``uniform``.
    curves: rows by relative error; share of records within it, for those three; ``drawn_table`` and
        ``drawn_classes`` as one draw had it.
    records: of which the shares are.
    """

    recoder: str
    k: int
    epsilon: float
    means: dict[str, float]
    curves: pd.DataFrame = field(repr=False)
    records: int


def within(values: NDArray[np.int64], scales: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the expected share of records whose relative error is at most each of `ERRORS`.

    Args:
        values: (n,) originals in grid units, none 0.
        scales: (n,) of each record's noise, grid units.
    Returns:
        (len(ERRORS),); the order of the records does not matter.
    """
    pairs, counts = np.unique(np.column_stack([np.abs(values), scales]), axis=0, return_counts=True)
    shares = [
        2 * cdf(np.floor(error * pairs[:, 0] + 1e-9), pairs[:, 1]) - 1  # symmetric: P(|Z| <= t) = 2F(t) - 1
        for error in ERRORS
    ]
    return np.array(shares) @ counts / len(values)


def matched_epsilon(table: Recoded, mean: float) -> float:
    """Find the ε at which noise for each class has a mean relative error, to three decimals.

    Args:
        table: of `recoded`.
        mean: wanted, e.g. 0.025.
    """
    heights, labels = table.heights[:, 0].astype(np.float64), table.classes.labels

    def beyond(log: float) -> float:
        found = expected_relative_error(heights, labels, scales=table.diameters[:, 0] / np.exp(log))
        return (0.0 if found is None else found) - mean

    return max(round(float(np.exp(brentq(beyond, np.log(1e-3), np.log(1e4), xtol=1e-6))), 3), 0.001)


def spread(table: Recoded, *, entropy: Entropy) -> Spread:
    """Compute the curves of Fig. 2, and draw the noise once for comparison.

    Args:
        table: of `recoded`.
        entropy: source of the noise that is drawn.
    """
    epsilon = matched_epsilon(table, UNIFORM / 2)
    whole = EquivalenceClasses(np.zeros(len(table.heights), np.int64), np.array([len(table.heights)]))
    cases = {
        "table": (whole, np.array([[np.ptp(table.heights)]])),
        "classes": (table.classes, table.diameters),
    }
    curves, means = {"error": np.array(ERRORS)}, {}
    for name, (classes, diameters) in cases.items():
        scales = diameters[:, 0] / epsilon
        heights = table.heights[:, 0]
        curves[name] = within(heights, scales[classes.labels])
        curves[f"drawn_{name}"] = _drawn(table.heights, classes, epsilon, entropy=entropy)
        expected = expected_relative_error(heights.astype(np.float64), classes.labels, scales=scales)
        means[name] = np.nan if expected is None else expected
    curves["uniform"] = np.minimum(curves["error"] / UNIFORM, 1)
    means["uniform"] = UNIFORM / 2
    return Spread(table.recoder, table.k, epsilon, means, pd.DataFrame(curves), len(table.heights))


def _drawn(
    heights: NDArray[np.int64], classes: EquivalenceClasses, epsilon: float, *, entropy: Entropy
) -> NDArray[np.float64]:
    """Return the shares of one draw."""
    noise = Noise(DEFAULT_MECHANISM, exact_fraction(epsilon))
    noisy = add_noise(heights, classes, noises=(noise,), entropy=entropy)
    error = np.sort(np.abs(noisy.values[:, 0] - heights[:, 0]) / np.abs(heights[:, 0]))
    return np.searchsorted(error, np.array(ERRORS) + 1e-12, side="right") / len(error)
