"""What a release can be measured on: the released table, and the originals that only the vault has.

Belongs here: bringing the two together as arrays, and refusing those that do not belong together. Does not
belong here: any measure (`measures`), any limit (`gate`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.classes import EquivalenceClasses, equivalence_classes, same_partition
from anon_pipeline.encode import CLASS, RECORD
from anon_pipeline.errors import InputError
from anon_pipeline.perturb.budget import exact_fraction, split_epsilon
from anon_pipeline.perturb.grid import quantize, to_grid
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.policy.model import Policy

__all__ = [
    "Evidence",
    "Originals",
    "epsilon_shares",
    "evidence_from",
    "grid_bounds",
    "grid_units",
    "noises",
    "quantized",
    "value_classes",
]


@dataclass(frozen=True, slots=True, eq=False)
class Originals:
    """The n original records behind a release, r of them released.

    frame: (n, columns) the table after recoding: generalized texts, original numbers, sensitive values.
    labels: (n,) equivalence class; −1 for a record that the recoding suppressed.
    own: (r,) row in ``frame`` of each released record.
    grid: (n, p) perturb columns in grid units, integers where the data is on the grid.
    """

    frame: pd.DataFrame = field(repr=False)
    labels: NDArray[np.int64] = field(repr=False)
    own: NDArray[np.int64] = field(repr=False)
    grid: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A release, and its originals where the vault has them.

    released: (r, columns) the released table, without private columns.
    classes: equivalence classes of the r records by their released values.
    originals: None for a file alone.
    hierarchies: folder of the hierarchy tables, for the hierarchical distance.
    """

    released: pd.DataFrame = field(repr=False)
    classes: EquivalenceClasses
    originals: Originals | None
    hierarchies: Path

    def narrowed(self, positions: NDArray[np.int64], labels: NDArray[np.int64]) -> Evidence:
        """Return the evidence of some of the released records.

        Args:
            positions: (r',) rows of ``released``.
            labels: (r',) their classes, numbered without gaps.
        """
        behind = self.originals
        return Evidence(
            self.released.iloc[positions],
            EquivalenceClasses(labels, np.bincount(labels).astype(np.int64)),
            None if behind is None else replace(behind, own=behind.own[positions]),
            self.hierarchies,
        )


def value_classes(frame: pd.DataFrame, names: Sequence[str]) -> EquivalenceClasses:
    """Group records by equal values of some columns; a missing value equals a missing value.

    Args:
        frame: (r, columns).
        names: the quasi-identifiers.
    """
    codes = [pd.factorize(frame[name], use_na_sentinel=False)[0] for name in names]
    return equivalence_classes(np.stack(codes, axis=1).astype(np.int64))


def grid_units(frame: pd.DataFrame, policy: Policy) -> NDArray[np.float64]:
    """Return the perturb columns with numbers in grid units, (n, p)."""
    columns = [
        to_grid(frame[name].to_numpy(np.float64), column.resolution)
        for name, column in policy.perturbed.items()
    ]
    return np.stack(columns, axis=1) if columns else np.empty((len(frame), 0))


def quantized(frame: pd.DataFrame, policy: Policy) -> NDArray[np.int64]:
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
    """Return each perturb column's exact share of a record's ε, in the order of `Policy.noisy`, (p + c,)."""
    if policy.perturb is None:
        return ()
    weights = [exact_fraction(column.weight) for column in policy.noisy.values()]
    return split_epsilon(exact_fraction(policy.perturb.epsilon), weights)


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

    δ is split over the columns with discrete Gaussian noise, by their weights, as ε is over all.
    """
    if policy.perturb is None:
        return ()
    kinds, delta = policy.mechanisms, policy.perturb.delta
    weights = {
        name: exact_fraction(column.weight)
        for name, column in policy.perturbed.items()
        if kinds[name] == "discrete_gaussian"
    }
    whole, split = sum(weights.values(), start=Fraction(0)), exact_fraction(delta or 0)
    found = []
    shares = epsilon_shares(policy)[: len(policy.perturbed)]
    for (name, column), share in zip(policy.perturbed.items(), shares, strict=True):
        inputs = None if column.input_bounds is None else grid_bounds(column.input_bounds, column.resolution)
        own = split * weights[name] / whole if name in weights else None
        found.append(Noise(kinds[name], share, own, inputs))
    return tuple(found)


def evidence_from(
    released: pd.DataFrame,
    policy: Policy,
    *,
    originals: pd.DataFrame | None = None,
    hierarchies: Path = Path(),
) -> Evidence:
    """Bring a release and its originals together.

    Args:
        released: (r, columns) the release; with the record ids when ``originals`` are given.
        policy: names the columns.
        originals: (n, columns) the recoded table of the vault, with record and class ids; None for a file
            alone.
        hierarchies: folder of the hierarchy tables.
    Raises:
        InputError: columns that are not there; records that the originals do not have, or have otherwise:
            with counts, without values.
    """
    lacking = sorted(set(policy.released) - set(map(str, released.columns)))
    if lacking:
        raise InputError(f"the release must have the policy's columns, not there: {', '.join(lacking)}")
    if not len(released):
        raise InputError("the release must have at least one record, got none")
    table = released[policy.released].reset_index(drop=True)
    classes = value_classes(table, list(policy.generalized))
    behind = None if originals is None else _originals(released, originals, policy)
    if behind is not None:
        _same(table, behind, policy)
    return Evidence(table, classes, behind, hierarchies)


def _originals(released: pd.DataFrame, originals: pd.DataFrame, policy: Policy) -> Originals:
    if RECORD not in released or not {RECORD, CLASS} <= set(originals.columns):
        raise InputError("a release must carry the record ids of the vault to be measured against it")
    own = pd.Index(originals[RECORD]).get_indexer(pd.Index(released[RECORD])).astype(np.int64)
    strangers = int((own < 0).sum())
    repeated = len(own) - strangers - int(np.count_nonzero(np.bincount(own[own >= 0])))
    if strangers or repeated:
        raise InputError(
            f"every released record must be one record of the vault, got {strangers} that are not there "
            f"and {repeated} repeated"
        )
    labels = originals[CLASS].to_numpy(np.int64)
    return Originals(originals.reset_index(drop=True), labels, own, grid_units(originals, policy))


def _same(table: pd.DataFrame, originals: Originals, policy: Policy) -> None:
    """Refuse a release whose unperturbed cells or classes differ from the vault's."""
    problems = []
    for name in (name for name in policy.released if name not in policy.noisy):
        before = originals.frame[name].iloc[originals.own].reset_index(drop=True)
        differ = int((~((table[name] == before) | (table[name].isna() & before.isna()))).sum())
        if differ:
            problems.append(f"{name}: must be as in the vault, got {differ} records that differ")
    unclassed = int((originals.labels[originals.own] < 0).sum())
    if unclassed:
        problems.append(f"released records must not be suppressed ones, got {unclassed}")
    kept = originals.labels >= 0
    by_value = value_classes(originals.frame[kept], list(policy.generalized)).labels
    if not same_partition(by_value, pd.factorize(originals.labels[kept])[0]):
        problems.append("class ids must be those of the generalized values, got others")
    if problems:
        raise InputError(problems)
