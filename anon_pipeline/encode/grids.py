"""Perturb columns as whole numbers: grid units, the share of ε of each, and what its noise is drawn under."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.catalog.mechanisms import MECHANISMS
from anon_pipeline.perturb.budget import exact_fraction, split_epsilon
from anon_pipeline.perturb.grid import quantize, to_grid
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.policy.columns import Perturb
from anon_pipeline.policy.model import Policy


def grid_units(frame: Table, policy: Policy) -> NDArray[np.float64]:
    """Return the perturb columns with numbers in grid units, (n, p)."""
    columns = [
        to_grid(frame[name].to_numpy(np.float64), column.resolution)
        for name, column in policy.perturbed.items()
    ]
    return np.stack(columns, axis=1) if columns else np.empty((len(frame), 0))


def quantize_columns(frame: Table, policy: Policy) -> NDArray[np.int64]:
    """Return the perturb columns with numbers rounded to their grids, (n, p).

    Raises:
        InputError: values that are missing or too far from 0 for their grid; by column and count.
    """
    grid, columns, problems = grid_units(frame, policy), [], []
    for j, name in enumerate(policy.perturbed):
        try:
            columns.append(quantize(grid[:, j]))
        except InputError as error:
            problems += [f"{name}: {problem}" for problem in error.problems]
    if problems:
        raise InputError(problems)
    return np.stack(columns, axis=1) if columns else np.empty((len(frame), 0), np.int64)


def epsilon_shares(policy: Policy) -> tuple[Fraction, ...]:
    """Return each perturb column's exact share of a record's ε, in the order of `Policy.noisy`, (p + c,).

    With ``person`` the ε of the policy is that of a person: a record has it divided by ``rows_per_person``.
    Columns that are changed as a whole have none.
    """
    if policy.perturb is None:
        return ()
    changed = policy.changed_columns
    weights = {
        name: exact_fraction(column.weight) for name, column in policy.noisy.items() if name not in changed
    }
    shares = split_epsilon(exact_fraction(policy.perturb.epsilon) / policy.rows, list(weights.values()))
    by_name = dict(zip(weights, shares, strict=True))
    return tuple(by_name.get(name, Fraction(0)) for name in policy.noisy)


def grid_bounds(bounds: tuple[float, float], resolution: float) -> tuple[int, int]:
    """Return the lowest and the highest point of a grid within public bounds, in grid units.

    Args:
        bounds: in the column's unit.
        resolution: of the grid, in the column's unit.
    """
    step = exact_fraction(resolution)
    low, high = (exact_fraction(bound) / step for bound in bounds)
    return math.ceil(low), math.floor(high)


def noises(policy: Policy) -> tuple[Noise, ...]:
    """Return what the noise of each perturb column with numbers is drawn under, (p,).

    δ is split over the columns with discrete Gaussian noise, by their weights, as ε is over all, and over the
    records of a person.
    """
    if policy.perturb is None:
        return ()
    kinds, delta = policy.mechanisms, policy.perturb.delta
    weights = {
        name: exact_fraction(column.weight)
        for name, column in policy.perturbed.items()
        if MECHANISMS[kinds[name]].needs_delta
    }
    whole, split = sum(weights.values(), start=Fraction(0)), exact_fraction(delta or 0) / policy.rows
    found = []
    shares = epsilon_shares(policy)[: len(policy.perturbed)]
    for (name, column), share in zip(policy.perturbed.items(), shares, strict=True):
        inputs = None if column.input_bounds is None else grid_bounds(column.input_bounds, column.resolution)
        own = split * weights[name] / whole if name in weights else None
        amount = grid_amount(column, kinds[name])
        found.append(Noise(kinds[name], share, own, inputs, amount, column.together))
    return tuple(found)


def grid_amount(column: Perturb, mechanism: str) -> Fraction | None:
    """Return how much a mechanism changes a column, a step in grid units; None where it takes no amount."""
    changed = MECHANISMS[mechanism].whole_column
    if changed is None or column.amount is None:
        return None
    unit = exact_fraction(column.resolution) if changed.amount == "step" else 1
    return exact_fraction(column.amount) / unit
