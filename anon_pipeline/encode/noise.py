"""The noise of a policy: drawing it, its public bounds, what is known of its error before it is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.encode.categories import category_facts, draw_category_columns
from anon_pipeline.encode.grids import grid_bounds, noises
from anon_pipeline.perturb.error import expected_relative_shift
from anon_pipeline.perturb.keys import Words
from anon_pipeline.perturb.mechanisms import Noise, scales, sensitivities, shifts
from anon_pipeline.perturb.noise import add_noise
from anon_pipeline.policy.columns import Perturb
from anon_pipeline.policy.model import Policy


def output_bounds(policy: Policy) -> list[tuple[int, int] | None]:
    """Return each perturb column's public bounds in grid units, (p,): the grid points within them."""
    bounds: list[tuple[int, int] | None] = []
    for column in policy.perturbed.values():
        if column.output_bounds is None:
            bounds.append(None)
            continue
        bounds.append(grid_bounds(column.output_bounds, column.resolution))
    return bounds


def draw_noise(
    policy: Policy, originals: NDArray[np.int64], classes: EquivalenceClasses, *, words: Words
) -> tuple[NDArray[np.int64], dict[str, dict[str, Any]]]:
    """Draw what is released in every perturb column, with numbers or categories.

    Args:
        originals: (n, p + c) grid units, then codes, see `noisy_units`.
        classes: of the n records.
        words: random ones, of each record.
    Returns:
        (n, p + c) drawn values, likewise; and what the facts say of the noise of each column.
    """
    numbers = originals[:, : len(policy.perturbed)]
    noisy = add_noise(
        numbers,
        classes,
        noises=noises(policy),
        entropy=words,
        bounds=output_bounds(policy),
        names=list(policy.perturbed),
    )
    categories = draw_category_columns(
        policy, originals[:, len(policy.perturbed) :], classes.labels, words=words
    )
    facts = noise_facts(policy, numbers, classes, noisy.diameters) | category_facts(policy)
    return np.hstack((noisy.values, categories)), facts


_ENOUGH_CLASSES = 10


def noise_facts(
    policy: Policy, originals: NDArray[np.int64], classes: EquivalenceClasses, diameters: NDArray[np.int64]
) -> dict[str, dict[str, Any]]:
    """Describe the noise of every perturb column.

    Args:
        originals: (n, p) grid units.
        diameters: (m, p) grid units.
    Returns:
        Per column: its mechanism, ε, δ, sensitivity and resolution, the classes without noise, the records'
        mean scale in the column's unit, the expected relative error. A scale may be a difference of two
        people's values: the means are rounded to two digits, and None where fewer than ten classes carry
        noise.
    """
    facts: dict[str, dict[str, Any]] = {}
    bounds = output_bounds(policy)
    for j, ((name, column), noise) in enumerate(zip(policy.perturbed.items(), noises(policy), strict=True)):
        if noise.whole_column:
            facts[name] = whole_column_facts(noise, column)
            continue
        sensitivity = sensitivities(noise, diameters[:, j])
        facts[name] = {
            "mechanism": noise.mechanism,
            "epsilon": float(noise.epsilon),
            "delta": None if noise.delta is None else float(noise.delta),
            "sensitivity": column.sensitivity,
            "resolution": column.resolution,
            "classes_without_noise": int((sensitivity == 0).sum()),
            **_rounded_facts(
                column.resolution,
                originals[:, j],
                classes,
                noise=noise,
                diameters=diameters[:, j],
                bounds=bounds[j],
            ),
        }
    return facts


def whole_column_facts(noise: Noise, column: Perturb) -> dict[str, Any]:
    """Describe a column that is changed as a whole; nothing of it is from the data."""
    return {"mechanism": noise.mechanism, "amount": column.amount, "resolution": column.resolution}


def _rounded_facts(
    resolution: float,
    originals: NDArray[np.int64],
    classes: EquivalenceClasses,
    *,
    noise: Noise,
    diameters: NDArray[np.int64],
    bounds: tuple[int, int] | None,
) -> dict[str, float | None]:
    """Return the mean scale and the expected error, to two digits, if they come from enough classes."""
    sensitivity = sensitivities(noise, diameters)
    if int((sensitivity > 0).sum()) < _ENOUGH_CLASSES:
        return {"mean_scale": None, "expected_relative_error": None}
    scale = float(scales(noise, sensitivity) @ classes.sizes / classes.sizes.sum()) * resolution
    moved = shifts(noise, originals, sensitivity[classes.labels], bounds=bounds)
    error = expected_relative_shift(originals.astype(np.float64), classes.labels, shifts=moved)
    return {
        "mean_scale": float(f"{scale:.2g}"),
        "expected_relative_error": None if error is None else float(f"{error:.2g}"),
    }
