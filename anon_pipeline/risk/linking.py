"""Linking risk: how often the attacker's nearest original is the right one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import slices_of
from anon_pipeline.base.compilation import kernel
from anon_pipeline.perturb.discrete_laplace_law import cdf
from anon_pipeline.risk.class_table import ClassTable, SortedClasses, sort_classes
from anon_pipeline.risk.histograms import class_histograms

Rows = NDArray[np.int64] | slice
Law = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]

TIE_TOLERANCE = 1e-12
"""Relative difference of squared distances over several columns that still counts as a tie."""


@dataclass(frozen=True, slots=True)
class LinkingRisk:
    """How many released records an attacker who knows every original and each class links.

    linked: records whose own original is among the nearest ones of its class.
    released: records released, ≥ 1.
    risk: linked / released, in [0, 1]; the attacker's success where no column is perturbed.
    attacker_success: the same with a tie worth 1/(originals at that distance), in [0, 1].
    """

    linked: int
    released: int
    risk: float
    attacker_success: float


def linking_risk(
    released: NDArray[np.float64],
    own: NDArray[np.integer],
    originals: NDArray[np.float64],
    *,
    labels: NDArray[np.integer],
    sort: Callable[[NDArray[np.float64], NDArray[np.integer]], SortedClasses] = sort_classes,
) -> LinkingRisk:
    """Measure how many released records are linked to their own original.

    Distances are Euclidean, each column divided by its diameter in the class (0 if that is 0); for one
    column they are exact, for several a relative difference of `TIE_TOLERANCE` counts as a tie. Without a
    column every original of the class is at distance 0, all records are linked, and only the attacker's
    success says anything (classes/released, when nothing was suppressed later): ``risk`` is then that.

    Args:
        released: (r, p) released values, in grid units.
        own: (r,) index of each released record in ``originals``.
        originals: (n, p) original values, in grid units, of records suppressed later too.
        labels: (n,) class of each original, 0 … m−1; −1 for a record of no class.
        sort: sorts the originals, or remembers that.
    Returns:
        The counts and shares; the order of the records does not matter.
    Raises:
        ValueError: nothing released, a released record of no class, or labels that are not compact.
    Source:
        [KE V-B]; [methods 8.1].
    """
    if len(own) == 0:
        raise ValueError("released must hold a record, got none. The linking risk is not defined.")
    if int(labels[own].min()) < 0:
        raise ValueError("released records must be in a class, got some with label −1. Leave them out.")
    return linking_table(own, originals, labels=labels, sort=sort).measure(released)


@dataclass(frozen=True, slots=True, eq=False)
class LinkingTable:
    """Originals that are sorted once, to measure several releases of the same r records.

    own: (r,) index of each record in ``originals``, (n, p), and ``labels``, (n,), its class.
    table: the originals of m classes with ``sizes`` (m,), their columns by ``order`` (p,); None where no
        column is perturbed.
    """

    order: NDArray[np.int64] = field(repr=False)
    own: NDArray[np.integer] = field(repr=False)
    originals: NDArray[np.float64] = field(repr=False)
    labels: NDArray[np.integer] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    table: ClassTable | None = field(repr=False)

    def ties(self, released: NDArray[np.number], rows: Rows = slice(None)) -> NDArray[np.int64]:
        """Count originals as near as the own one to the values (r', p) of some of the records."""
        own = self.own[rows]
        if self.table is None:
            sizes: NDArray[np.int64] = self.sizes[self.labels[own]]
            return sizes
        found = np.empty(len(own), np.int64)
        for part in slices_of(len(own)):
            mine, classes = self.originals.take(own[part], axis=0), self.labels[own[part]].astype(np.int64)
            values = (_columns(released[part], self.order), _columns(mine, self.order))
            found[part] = ties_of(*values, classes, self.table)
        return found

    def measure(self, released: NDArray[np.number], rows: Rows = slice(None)) -> LinkingRisk:
        """Measure the values of some records, ≥ 1; see `ties`."""
        tied = self.ties(released, rows)
        linked, success = int(np.count_nonzero(tied)), _inverse_sum(tied) / len(tied)
        risk = success if self.table is None else linked / len(tied)
        return LinkingRisk(linked, len(tied), risk, success)


def linking_table(
    own: NDArray[np.integer],
    originals: NDArray[np.float64],
    *,
    labels: NDArray[np.integer],
    sort: Callable[[NDArray[np.float64], NDArray[np.integer]], SortedClasses] = sort_classes,
) -> LinkingTable:
    """Sort the originals of r records, given as to `linking_risk`.

    Args:
        sort: sorts them, or remembers that.
    """
    sizes = np.bincount(labels[labels >= 0])
    if originals.shape[1] == 0:
        return LinkingTable(np.empty(0, np.int64), own, originals, labels, sizes, None)
    found = sort(originals, labels)
    return LinkingTable(found.order, own, originals, labels, sizes, found.table)


def _columns(values: NDArray[np.number], order: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.ascontiguousarray(values.take(order, axis=1), np.float64)


def _inverse_sum(tied: NDArray[np.int64]) -> float:
    """Return Σ 1/tied over the linked records, whatever their order."""
    times = np.bincount(tied)
    ties = np.flatnonzero(times)
    ties = ties[ties > 0]
    return math.fsum((times[ties] / ties).tolist())


def ties_of(
    released: NDArray[np.float64], mine: NDArray[np.float64], classes: NDArray[np.int64], table: ClassTable
) -> NDArray[np.int64]:
    """Count the originals as near as the own one, itself included, (r,); 0 where another is nearer."""
    arrays = (table.rows, table.starts, table.before)
    if released.shape[1] == 1:
        tied: NDArray[np.int64] = _tied_on_line(released[:, 0].copy(), mine[:, 0].copy(), classes, arrays)
        return tied
    diameters = table.diameters
    scales = np.divide(1.0, diameters, out=np.zeros_like(diameters), where=diameters > 0)
    tied = _tied_in_space(released, mine, classes, arrays, (scales, table.leads))
    return tied


@kernel
def _tied_on_line(released, mine, classes, arrays):  # type: ignore[no-untyped-def]
    """Count ties for one column: only the two neighbors of the released value can be nearest."""
    rows, starts, before = arrays
    tied = np.zeros(len(released), np.int64)
    for i in range(len(released)):
        y, begin, end = released[i], starts[classes[i]], starts[classes[i] + 1]
        at = begin + np.searchsorted(rows[begin:end, 0], y)
        below = y - rows[at - 1, 0] if at > begin else np.inf
        above = rows[at, 0] - y if at < end else np.inf
        distance = abs(y - mine[i])
        if distance > below or distance > above:
            continue
        if distance == below:
            tied[i] += before[at] - before[at - 1]
        if distance == above:
            tied[i] += before[at + 1] - before[at]
    return tied


@kernel
def _first_not_below(column, begin, end, y):  # type: ignore[no-untyped-def]
    """Return the first place from ``begin`` to ``end`` of a sorted column whose value is not below y."""
    while begin < end:
        middle = (begin + end) // 2
        if column[middle] < y:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def _tied_in_space(released, mine, classes, arrays, measure):  # type: ignore[no-untyped-def]
    """Count ties for several columns, outwards from where the released row would stand, up and then down.

    Rows are sorted by their leading column, so a scan ends where that column alone is too far, or at a row
    that is nearer than the own one. Cells are read one by one: rows handed to kernels take twice as long.
    """
    rows, starts, before = arrays
    scales, leads = measure
    tied = np.zeros(len(released), np.int64)
    for i in range(len(released)):
        label = classes[i]
        begin, end, lead = starts[label], starts[label + 1], leads[label]
        own = 0.0
        for column in range(rows.shape[1]):
            step = (mine[i, column] - released[i, column]) * scales[label, column]
            own += step * step
        nearer, farther = own * (1 - TIE_TOLERANCE), own * (1 + TIE_TOLERANCE)
        at, ties = _first_not_below(rows[:, lead], begin, end, released[i, lead]), 0
        for direction in (1, -1):
            j = at if direction == 1 else at - 1
            while ties >= 0 and begin <= j < end:
                step = (rows[j, lead] - released[i, lead]) * scales[label, lead]
                if step * step > farther:
                    break
                distance = 0.0
                for column in range(rows.shape[1]):
                    step = (rows[j, column] - released[i, column]) * scales[label, column]
                    distance += step * step
                if distance < nearer:
                    ties = -1
                elif distance <= farther:
                    ties += before[j + 1] - before[j]
                j += direction
        tied[i] = max(ties, 0)
    return tied


def expected_column_linking(
    originals: NDArray[np.int64],
    labels: NDArray[np.integer],
    *,
    scales: NDArray[np.float64],
    bounds: tuple[int, int] | None = None,
    law: Law = cdf,
    inputs: tuple[int, int] | None = None,
) -> float:
    """Compute the linking risk that noise will have, by default discrete Laplace, without drawing any.

    The outputs nearest to a value are the integers between the midpoints to its neighboring distinct
    values in the class (a midpoint is a tie and counts); the outermost cells are unbounded.

    Args:
        originals: (n,) one column, in grid units.
        labels: (n,) class of each original, 0 … m−1; −1 for a record of no class.
        scales: (m,) scale b of the noise of each class, in grid units, ≥ 0; 0 for no noise.
        bounds: smallest and largest output, in grid units; noise beyond is moved onto the bound.
        law: distribution function of the noise, of whole grid units and a class's scale. For another
            mechanism ``partial(mechanisms.cdf, noise)``, and its sensitivities as ``scales``.
        inputs: smallest and largest value that noise is added to, in grid units; values beyond are moved
            there before.
    Returns:
        Mean probability of being linked over the records in classes, in [0, 1].
    Raises:
        ValueError: no record in a class, or a number of scales that is not the number of classes.
    Source:
        [KE V-B] for the risk; [methods 8.1] for the closed form.
    """
    inside = labels >= 0
    values = np.asarray(originals[inside], np.int64)
    shift = int(values.min(initial=0))
    found = class_histograms(values - shift, labels[inside], m=len(scales))
    x, scale = found.codes + shift, np.asarray(scales, np.float64)[found.classes]
    lower, upper = _cells(found.codes, found.classes)
    centers = x if inputs is None else np.clip(x, *inputs)
    chances = [law(limit - centers, scale) for limit in (upper + shift, lower + shift - 1)]
    linked = chance_up_to(upper + shift, chances[0], bounds) - chance_up_to(
        lower + shift - 1, chances[1], bounds
    )
    return float(np.dot(linked, found.counts) / found.counts.sum())


def _cells(
    x: NDArray[np.int64], classes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest and the largest output nearest to each distinct value; ±inf at a class's ends."""
    lower, upper = np.full(len(x), -np.inf), np.full(len(x), np.inf)
    together = classes[:-1] == classes[1:]
    middle = x[:-1] + x[1:]
    lower[1:][together] = -(-middle // 2)[together]
    upper[:-1][together] = (middle // 2)[together]
    return lower, upper


def chance_up_to(
    limit: NDArray[np.float64], chance: NDArray[np.float64], bounds: tuple[int, int] | None
) -> NDArray[np.float64]:
    """Return the probability that the output is at most ``limit``, once it is clamped to the bounds."""
    if bounds is None:
        return chance
    return np.where(limit < bounds[0], 0.0, np.where(limit >= bounds[1], 1.0, chance))
