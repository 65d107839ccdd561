"""What noise loses: the error of each perturb column with numbers, realized and expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.sums import exact_sum
from anon_pipeline.encode.grids import noises
from anon_pipeline.encode.noise import output_bounds
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.evidence.usefulness import simulated_shifts
from anon_pipeline.perturb.error import RealizedError, expected_relative_shift, realized_error
from anon_pipeline.perturb.grid import quantize
from anon_pipeline.perturb.mechanisms import sensitivities, shifts
from anon_pipeline.perturb.noise import class_diameters
from anon_pipeline.utility.comparison import Comparison


@dataclass(frozen=True, slots=True)
class NoiseError:
    """The error of one perturb column.

    realized: of the released records.
    expected: mean of E|y − x|/|x| before noise was drawn, over the records that have a class; None if all
        x are 0.
    expected_of_range: mean of E|y − x| over the range of the column in the input, over the same records; None
        where a constant column has an error.
    sse: Σ (y − x)² over the released records, in the column's unit squared.
    """

    realized: RealizedError
    expected: float | None
    expected_of_range: float | None
    sse: float


def noise_errors(compared: Comparison) -> dict[str, NoiseError]:
    """Measure the error of every perturb column with numbers, by its name."""
    policy, table = compared.policy, compared.table
    if not policy.perturbed:
        return {}
    originals = require_originals(compared.evidence)
    inside = originals.labels >= 0
    exact = quantize(np.where(inside[:, None], originals.grid, 0.0))  # −1 may lack a value
    sizes = np.bincount(originals.labels[inside]).astype(np.int64)
    diameters = class_diameters(exact, EquivalenceClasses(originals.labels, sizes))
    found, bounds = {}, output_bounds(policy)
    for j, (name, noise) in enumerate(zip(policy.perturbed, noises(policy), strict=True)):
        column = table.perturbed[name]
        own, released = column.own[table.kept], column.released[table.kept]
        if noise.whole_column:
            moved = np.zeros(len(exact))
            moved[inside] = simulated_shifts(compared.evidence, policy)[:, j]
        else:
            moved = shifts(
                noise,
                exact[:, j],
                sensitivities(noise, diameters[:, j])[originals.labels],  # of −1 any: not measured
                bounds=bounds[j],
            )
        found[name] = NoiseError(
            realized_error(released, own, span=float(np.nanmax(column.own) - np.nanmin(column.own))),
            expected_relative_shift(exact[:, j].astype(np.float64), originals.labels, shifts=moved),
            _of_range(moved[inside], originals.grid[:, j]),
            float(np.square(released - own).sum()),
        )
    return found


def _of_range(moved: NDArray[np.float64], grid: NDArray[np.float64]) -> float | None:
    """Return the mean of what values are moved by, as a share of the range of a column in grid units."""
    mean = exact_sum(moved) / len(moved) if len(moved) else 0.0
    span = float(np.nanmax(grid) - np.nanmin(grid))
    if span > 0:
        return mean / span
    return None if mean else 0.0
