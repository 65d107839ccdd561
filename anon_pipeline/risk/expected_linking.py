"""Expected linking risk of several columns: what noise will do, before any is drawn for the release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.perturb import discrete_laplace_law, mechanisms
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.risk.class_table import ClassTable, class_table, finest_first
from anon_pipeline.risk.histograms import class_sizes
from anon_pipeline.risk.linking import chance_up_to, expected_column_linking, ties_of
from anon_pipeline.risk.strata import combined_ratio, groups_of

_TAIL = 1e-12
"""Probability of the noise that is not enumerated, of each record and column."""

_Number = TypeVar("_Number", np.int64, np.float64)
_MANY = 8  # draws from which on the error is that of the whole
_PER_ROW = 200  # distances that cost as much as beginning with a row


@dataclass(frozen=True, slots=True)
class ExpectedLinkingRisk:
    """Expected share of the records that will be linked, a tie counting as linked.

    risk: in [0, 1].
    standard_error: of ``risk``; 0 where it is exact (to 1e-9).
    draws: how often the noise of every record was simulated; 0 where it was enumerated.
    """

    risk: float
    standard_error: float
    draws: int


@dataclass(frozen=True, slots=True, eq=False)
class NoiseLaw:
    """Noise of p columns in m classes.

    scales: (m, p) sensitivity of each class in whole grid units, ≥ 0; 0 for no noise. Without ``drawn``, the
        scale b of discrete Laplace noise.
    bounds: of each column the smallest and largest output, in grid units, or None.
    drawn: p times what the noise of a column is drawn under, or (): discrete Laplace.
    """

    scales: NDArray[np.float64] = field(repr=False)
    bounds: Sequence[tuple[int, int] | None]
    drawn: Sequence[Noise] = ()

    def columns(self, order: NDArray[np.int64]) -> NoiseLaw:
        """Return the law of some columns."""
        drawn = [self.drawn[j] for j in order] if self.drawn else ()
        return NoiseLaw(np.asarray(self.scales, np.float64)[:, order], [self.bounds[j] for j in order], drawn)

    def cdf(self, column: int, z: NDArray[np.float64], scales: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability that the noise of a column is at most z, by sensitivity or scale."""
        if not self.drawn:
            return discrete_laplace_law.cdf(z, scales)
        return mechanisms.cdf(self.drawn[column], z, scales.astype(np.int64))

    def inputs(self, column: int) -> tuple[int, int] | None:
        """Return the bounds that values of a column are moved to before the noise."""
        return self.drawn[column].inputs if self.drawn else None

    def centers(self, values: NDArray[_Number]) -> NDArray[_Number]:
        """Return what the noise is added to, (r, p); the values themselves where none is bounded."""
        limits = [self.inputs(j) for j in range(values.shape[1])]
        found = values.copy() if any(limits) else values
        for j, inputs in enumerate(limits):
            if inputs is not None:
                found[:, j] = np.clip(found[:, j], *inputs)
        return found

    def reach(self) -> NDArray[np.float64]:
        """Return the noise beyond which almost nothing lies, (m, p), in grid units."""
        if not self.drawn:
            return np.ceil(np.asarray(self.scales, np.float64) * -math.log(_TAIL))
        sensitivity = np.asarray(self.scales).astype(np.int64)
        own = [mechanisms.radius(noise, sensitivity[:, j], 1 - _TAIL) for j, noise in enumerate(self.drawn)]
        return np.ceil(np.stack(own, axis=1))

    def draw(self, classes: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.float64]:
        """Draw the noise of records of these classes, (r, p)."""
        scales = np.asarray(self.scales, np.float64)[classes]
        if not self.drawn:
            success = -np.expm1(-1 / np.where(scales > 0, scales, 1.0))
            return np.where(scales > 0, random.geometric(success) - random.geometric(success), 0).astype(
                float
            )
        entropy = seeded_entropy(int(random.integers(2**62)))
        sensitivity = scales.astype(np.int64)
        own = [
            mechanisms.draw(noise, mechanisms.parameters(noise, sensitivity[:, j]), entropy=entropy)
            for j, noise in enumerate(self.drawn)
        ]
        return np.stack(own, axis=1).astype(np.float64)

    def clamp(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Move outputs beyond the bounds onto them, (r, p)."""
        limits = [(-np.inf, np.inf) if bound is None else bound for bound in self.bounds]
        low, high = np.asarray(limits, np.float64).reshape(-1, 2).T
        return np.asarray(np.clip(values, low, high))


def expected_linking_risk(
    originals: NDArray[np.int64],
    labels: NDArray[np.integer],
    law: NoiseLaw,
    *,
    random: np.random.Generator,
    draws: int = 64,
    most: int = 2**22,
) -> ExpectedLinkingRisk:
    """Compute the linking risk that noise will have.

    One column: the closed form. Several: every output of every record is enumerated with its probability,
    where these are at most ``most`` distances together; else the noise is simulated.

    Args:
        originals: (n, p) in grid units.
        labels: (n,) class of each original, 0 … m−1; −1 for a record of no class.
        random: for the simulation; the result depends on it and not on the order of the records.
        draws: times that every record's noise is simulated, ≥ 2.
        most: distances that are computed to enumerate.
    Raises:
        ValueError: no class, labels that are not compact, scales or bounds of another shape, draws < 2.
    Source:
        [KE V-B]; [methods 8.1].
    """
    p = originals.shape[1]
    if law.scales.shape != (int(labels.max(initial=-1)) + 1, p) or len(law.bounds) != p or draws < 2:
        raise ValueError("scales must have a row per class, bounds one per column, draws be at least 2.")
    if p == 1:
        closed = expected_column_linking(
            originals[:, 0],
            labels,
            scales=np.asarray(law.scales, np.float64)[:, 0],
            bounds=law.bounds[0],
            law=partial(law.cdf, 0),
            inputs=law.inputs(0),
        )
        return ExpectedLinkingRisk(closed, 0.0, 0)
    if p == 0:
        sizes = class_sizes(labels[labels >= 0], m=len(law.scales))
        return ExpectedLinkingRisk(len(sizes) / int(sizes.sum()), 0.0, 0)
    order = finest_first(originals.astype(np.float64))
    table = class_table(originals[:, order].astype(np.float64), labels)
    law = law.columns(order)
    if _distances(table, law) <= most:
        return ExpectedLinkingRisk(_enumerate(table, law), 0.0, 0)
    return _simulate(table, law, random, draws)


def _classes_of(table: ClassTable) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(table.starts) - 1), np.diff(table.starts))


def _distances(table: ClassTable, law: NoiseLaw) -> float:
    """Estimate the work of the enumeration from above: outputs of all rows times the rows of their class."""
    outputs, rows = np.prod(2 * law.reach() + 1, axis=1), np.diff(table.starts).astype(np.float64)
    return float(np.dot(outputs, rows**2) + _PER_ROW * rows.sum())


def _enumerate(table: ClassTable, law: NoiseLaw) -> float:
    """Add up the probability of the outputs that link each row."""
    shares, counts = [], np.diff(table.before)
    reach = law.reach()
    for label, (begin, end) in enumerate(pairwise(table.starts.tolist())):
        for row in range(begin, end):
            outputs, chances = _outputs(table.rows[row], law, label, reach[label])
            mine = np.broadcast_to(table.rows[row], outputs.shape).copy()
            tied = ties_of(outputs, mine, np.full(len(outputs), label), table)
            shares.append(float(chances[tied > 0].sum()) * int(counts[row]))
    return min(math.fsum(shares) / int(table.before[-1]), 1.0)


def _outputs(
    x: NDArray[np.float64], law: NoiseLaw, label: int, reach: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return all outputs of one record, (o, p), and their probabilities, (o,)."""
    outputs, chances, center = np.empty((1, 0)), np.ones(1), law.centers(x[None])[0]
    for j, bound in enumerate(law.bounds):
        low, high = center[j] - reach[j], center[j] + reach[j]
        if bound is not None:
            low, high = max(min(low, bound[1]), bound[0]), min(max(high, bound[0]), bound[1])
        values = np.arange(low, high + 1)
        scale = np.full(len(values), law.scales[label, j])
        chance = chance_up_to(values, law.cdf(j, values - center[j], scale), bound)
        chance -= chance_up_to(values - 1, law.cdf(j, values - 1 - center[j], scale), bound)
        outputs = np.column_stack((np.repeat(outputs, len(values), axis=0), np.tile(values, len(outputs))))
        chances = np.repeat(chances, len(values)) * np.tile(chance, len(chances))
    return np.ascontiguousarray(outputs), chances


def _simulate(
    table: ClassTable, law: NoiseLaw, random: np.random.Generator, draws: int
) -> ExpectedLinkingRisk:
    """Draw the noise of all records some times; draws and classes are independent, and so give the error.

    With few draws it is estimated from groups of classes.
    """
    counts, classes = np.diff(table.before), _classes_of(table)
    groups = np.zeros(len(table.starts) - 1, np.int64)
    if draws < _MANY:
        groups = groups_of(np.bincount(classes, weights=counts).astype(np.int64))
    rows, classes = np.repeat(table.rows, counts, axis=0), np.repeat(classes, counts)
    centers, own, many = law.centers(rows), groups[classes], int(groups.max()) + 1
    linked = np.empty((draws, many), np.int64)
    for draw in range(draws):
        near = ties_of(law.clamp(centers + law.draw(classes, random)), rows, classes, table) > 0
        linked[draw] = np.bincount(own[near], minlength=many)
    of = np.broadcast_to(np.bincount(own, minlength=many), linked.shape)
    return ExpectedLinkingRisk(*combined_ratio(linked, of), draws)
