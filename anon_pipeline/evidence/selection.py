"""Whom the confidence leaves out: the chance of each record to stay, and what that does to its columns.

Confidence-based suppression depends on the released value: who is far from others in the class is left out
more often. Chances are by each record's own interval; how many more are left out since their class then falls
below k, or breaks t or l, is reported separately. It needs the originals, so it is only for the curator.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.order import different_values
from anon_pipeline.encode.grids import noises
from anon_pipeline.encode.noise import output_bounds
from anon_pipeline.evidence.evidence import Evidence, Originals
from anon_pipeline.evidence.measures import compact_labels, require_originals
from anon_pipeline.evidence.simulated_releases import drawing_table
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.grid import quantize
from anon_pipeline.perturb.mechanisms import cdf, radius, sensitivities
from anon_pipeline.perturb.noise import class_diameters
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.selection import Spread, kept_spread
from anon_pipeline.risk.survival import Outputs

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles whose bias is measured."""

_SEED = 0  # of simulated noise, whatever input and policy
_LEAST_DRAWS, _MOST_DRAWS = 64, 1024
_VALUES = 2**21  # that are drawn of a column, all draws together, as far as the least draws allow
_HUGE = 1e100  # beyond it squares overflow, and values are scaled first
_PARTS = 10  # of a column's values, of about as many records each

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Part:
    """A tenth of the records by their original values of one column; the values are not shown.

    records: that are in a class.
    released: mean chance of these to stay.
    """

    records: int
    released: float


@dataclass(frozen=True, slots=True)
class Bias:
    """What leaving records out changes in the released values of one column, on average over the noise.

    mean: in the column's unit.
    variance: as a share of the variance without; None where that is 0.
    quantiles: by share, in the column's unit.
    by_value: chance to stay by original value, from lowest to highest.
    """

    mean: float
    variance: float | None
    quantiles: Mapping[float, float]
    by_value: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The chance of each record in a class to stay, by its own confidence interval.

    least: chance of the record where it is least.
    below_half: share of the records whose chance is below one half.
    classes: of the recoded table.
    open_classes: of these, with a record whose chance is below one half.
    draws: releases that were simulated; 0 where it is exact.
    within: two standard errors of a simulated chance, at most; 0 where it is exact.
    left_out: mean share of the records that their own interval leaves out.
    left_out_in_all: the same with those whose class then falls below k, or breaks t or l; simulated.
    columns: bias by perturb column, and by column of numbers that is released as it is.
    """

    least: float
    below_half: float
    classes: int
    open_classes: int
    draws: int
    within: float
    left_out: float
    left_out_in_all: float
    columns: Mapping[str, Bias]


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """Releases that the noise could have made.

    chances: (n,) of each record to stay, by its own confidence interval.
    left_out_in_all: mean share of the records that are not released.
    spreads: by perturb column.
    draws: how many.
    """

    chances: Reals = field(repr=False)
    left_out_in_all: float
    spreads: Sequence[Spread] = field(repr=False)
    draws: int


def selection(evidence: Evidence, policy: Policy) -> Selection | None:
    """Measure whom the confidence leaves out; None without such a step, or without classes.

    One perturb column is exact; several are simulated, and so is one where people are counted.

    Args:
        evidence: with originals; which of them were released, and how, plays no part.
    Raises:
        InputError: a file alone.
    Source:
        [KE V-C]; [methods 8.1].
    """
    behind = require_originals(evidence)
    inside = np.flatnonzero(behind.labels >= 0)
    if policy.suppress.confidence is None or not len(inside):
        return None
    simulated = simulate(evidence, policy, inside)
    chances, spreads, draws = simulated.chances, simulated.spreads, simulated.draws
    if len(policy.perturbed) == 1 and behind.people is None:
        (chances, spreads), draws = exact_chances(evidence, policy, inside), 0
    return Selection(
        float(chances.min()),
        float(np.mean(chances < 0.5)),
        len(np.unique(behind.labels[inside])),
        len(np.unique(behind.labels[inside][chances < 0.5])),
        draws,
        1 / math.sqrt(draws) if draws else 0.0,
        float(np.mean(1 - np.sort(chances))),
        simulated.left_out_in_all,
        dict(_biases(behind, policy, inside, (chances, spreads))),
    )


def _biases(
    behind: Originals, policy: Policy, inside: Integers, found: tuple[Reals, Sequence[Spread]]
) -> Iterator[tuple[str, Bias]]:
    """Yield the bias of each perturb column, and of each column of numbers that is released as it is."""
    chances, spreads = found
    for j, (name, column) in enumerate(policy.perturbed.items()):
        parts = tuple(_parts(behind.grid[inside, j], chances))
        yield name, bias_of(spreads[j], column.resolution, parts)
    for name in policy.unchanged:
        values = behind.frame[name].iloc[inside]
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            numbers = values.to_numpy(np.float64, na_value=np.nan)
            there = np.isfinite(numbers)
            numbers, kept = numbers[there], chances[there]
            if len(numbers):
                spread = Spread(numbers, np.ones(len(numbers)), kept)
                yield name, bias_of(spread, 1.0, tuple(_parts(numbers, kept)))


def exact_chances(evidence: Evidence, policy: Policy, inside: Integers) -> tuple[Reals, list[Spread]]:
    """Return the chances of one column and its spread, by its law."""
    behind, (noise,) = require_originals(evidence), noises(policy)
    exact, labels = quantize(behind.grid[inside])[:, 0], behind.labels[inside]
    sensitivity = sensitivities(noise, class_diameters(exact[:, None], compact_labels(labels))[:, 0])
    law = Outputs(partial(cdf, noise), sensitivity, noise.inputs, output_bounds(policy)[0])
    reach = radius(noise, sensitivity, policy.suppress.confidence or 0.0)
    chances, spread = kept_spread(exact, labels, law, radius=reach, k=policy.anonymize.k)
    return chances, [spread]


def simulate(evidence: Evidence, policy: Policy, inside: Integers) -> Simulated:
    """Draw releases that the noise could have made, and count who stays in them."""
    table, entropy = drawing_table(evidence, policy, 1), seeded_entropy(_SEED)
    n = len(table.labels)
    draws = min(max(_VALUES // n, _LEAST_DRAWS), _MOST_DRAWS)
    stayed, released = np.zeros(n), 0
    counted: list[list[Spread]] = [[] for _ in policy.perturbed]
    for _ in range(draws):
        drawn = table.noise.draw_values(entropy)
        confident, keep = table.stays(drawn)
        stayed += confident
        released += int(keep.sum())
        for j, parts in enumerate(counted):
            parts.append(_count(drawn[:, j], confident))
    place = np.empty(int(inside.max()) + 1, np.int64)
    place[table.originals.own] = np.arange(n)
    chances = (stayed / draws)[place[inside]]
    return Simulated(chances, 1 - released / (draws * n), [*map(_add, counted)], draws)


def _count(values: Integers, stay: Booleans) -> Spread:
    """Count how often each value was drawn, and how often its record stays."""
    distinct, own = different_values(values)
    drawn, stayed = (np.bincount(of, minlength=len(distinct)) for of in (own, own[stay]))
    return Spread(distinct.astype(np.float64), drawn.astype(np.float64), stayed.astype(np.float64))


def _add(parts: Sequence[Spread]) -> Spread:
    """Add up what was counted in several draws."""
    distinct, own = np.unique(np.concatenate([part.values for part in parts]), return_inverse=True)
    drawn, stayed = (
        np.bincount(own, np.concatenate([getattr(part, name) for part in parts]), len(distinct))
        for name in ("all", "kept")
    )
    return Spread(distinct, drawn.astype(np.float64), stayed.astype(np.float64))


def bias_of(spread: Spread, unit: float, parts: tuple[Part, ...]) -> Bias:
    """Compare the noisy values of the records that stay with those of all."""
    order = np.lexsort((spread.kept, spread.all, spread.values))  # sums do not depend on the order of records
    values = spread.values[order]
    largest = float(np.abs(values).max(initial=0.0))
    scale = largest if largest > _HUGE else 1.0
    values, unit = values / scale, unit * scale
    values = values - float(np.mean(values))
    found = []
    for weights in (spread.all[order], spread.kept[order]):
        whole = math.fsum(weights.tolist())
        if whole <= 0:
            return Bias(math.nan, None, {}, parts)
        mean = float(values @ weights) / whole
        variance = float(np.square(values - mean) @ weights) / whole
        reached = np.searchsorted(np.cumsum(weights) / whole, np.array(SHARES) - 1e-12)
        found.append((mean, variance, values[np.minimum(reached, len(values) - 1)]))
    (mean, variance, quantiles), (own, less, others) = found
    moved = ((others - quantiles) * unit).tolist()
    ratio = None if variance == 0 else less / variance - 1
    return Bias((own - mean) * unit, ratio, dict(zip(SHARES, moved, strict=True)), parts)


def _parts(values: Reals, chances: Reals) -> Iterator[Part]:
    """Yield the mean chance of parts of the records by value; equal values are in one part."""
    _, own, counts = np.unique(values, return_inverse=True, return_counts=True)
    part = np.minimum((np.cumsum(counts) - counts) * _PARTS // len(values), _PARTS - 1)[own]
    for number in np.unique(part):
        at = part == number
        yield Part(int(at.sum()), float(np.sort(chances[at]).mean()))
