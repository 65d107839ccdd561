"""The noise of a policy: its public bounds on the grid, and what is known of its error before it is drawn.

Belongs here: bounds and facts of the perturb columns. Does not belong here: drawing noise (`perturb`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.classes import EquivalenceClasses
from anon_pipeline.measure.evidence import epsilon_shares
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.policy.model import Policy
from anon_pipeline.utility.error import expected_relative_error

__all__ = ["noise_facts", "output_bounds"]


def output_bounds(policy: Policy) -> list[tuple[int, int] | None]:
    """Return each perturb column's public bounds in grid units, (p,): the grid points within them."""
    bounds: list[tuple[int, int] | None] = []
    for column in policy.perturbed.values():
        if column.output_bounds is None:
            bounds.append(None)
            continue
        step = exact_fraction(column.resolution)
        low, high = (exact_fraction(bound) / step for bound in column.output_bounds)
        bounds.append((math.ceil(low), math.floor(high)))
    return bounds


_ENOUGH_CLASSES = 10


def noise_facts(
    policy: Policy,
    originals: NDArray[np.int64],
    classes: EquivalenceClasses,
    diameters: NDArray[np.int64],
) -> dict[str, dict[str, float | int | None]]:
    """Describe the noise of every perturb column.

    Args:
        policy: names the columns and their resolution.
        originals: (n, p) grid units.
        classes: of the n records.
        diameters: (m, p) grid units.
    Returns:
        Per column: its ε, its resolution, the classes without noise, the records' mean scale in the
        column's unit, the expected relative error. A scale is a difference of two persons' values: the means
        are rounded to two digits, and None where fewer than ten classes carry noise.
    """
    shares = epsilon_shares(policy)
    facts: dict[str, dict[str, float | int | None]] = {}
    for j, (name, column) in enumerate(policy.perturbed.items()):
        scales = diameters[:, j] / float(shares[j])
        facts[name] = {
            "epsilon": float(shares[j]),
            "resolution": column.resolution,
            "classes_without_noise": int((scales == 0).sum()),
            **_blunted(column.resolution, originals[:, j], classes, scales),
        }
    return facts


def _blunted(
    resolution: float, originals: NDArray[np.int64], classes: EquivalenceClasses, scales: NDArray[np.float64]
) -> dict[str, float | None]:
    """Return the mean scale and the expected error, to two digits, if enough classes stand behind them."""
    if int((scales > 0).sum()) < _ENOUGH_CLASSES:
        return {"mean_scale": None, "expected_relative_error": None}
    scale = float(scales @ classes.sizes / classes.sizes.sum()) * resolution
    error = expected_relative_error(originals.astype(np.float64), classes.labels, scales=scales)
    return {
        "mean_scale": float(f"{scale:.2g}"),
        "expected_relative_error": None if error is None else float(f"{error:.2g}"),
    }
