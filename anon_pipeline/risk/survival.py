"""What noise will do to the records of one perturb column, before any is drawn: who is linked, who stays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.risk.histograms import ClassHistograms, class_histograms

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

_AT_ONCE = 2**21  # pairs of an original and an interval that are in memory together
_NOTHING = 1e-14  # chance of an event that is left out of account, times the records of its class


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """The distinct originals of each class of one column, and the outputs that are nearest to each.

    found: d pairs of class and original.
    x: (d,) the originals, in grid units.
    lower, upper: (d,) least and largest output whose nearest original is x, ties included; ±inf at the ends.
    """

    found: ClassHistograms = field(repr=False)
    x: Integers = field(repr=False)
    lower: Reals = field(repr=False)
    upper: Reals = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """The law of a column's released value, in grid units.

    chance: whole z (d,) and sensitivities (d,) to P(noise ≤ z), for finite z.
    sensitivity: (m,) of each class.
    inputs: bounds that originals are moved to before the noise; None: they stay.
    bounds: bounds that outputs are moved to; None: they stay.
    """

    chance: Callable[[Reals, Integers], Reals]
    sensitivity: Integers = field(repr=False)
    inputs: tuple[int, int] | None = None
    bounds: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Fates:
    """What will become of the records of each distinct original.

    linked: (d,) chance that the own original is nearest to the released value, a tie included.
    lost: (d,) chance that 0 < ℓ < k.
    both: (d,) chance of both.
    """

    linked: Reals = field(repr=False)
    lost: Reals = field(repr=False)
    both: Reals = field(repr=False)


def sort_line(originals: Integers, labels: NDArray[np.integer]) -> Line:
    """Sort one column by class and value.

    Args:
        originals: (n,) in grid units.
        labels: (n,) class of each, 0 … m−1 without gaps; −1 for a record of no class.
    Raises:
        ValueError: no record in a class, or gaps between the labels.
    """
    inside = labels >= 0
    values = np.asarray(originals[inside], np.int64)
    shift = int(values.min(initial=0))
    found = class_histograms(values - shift, labels[inside], m=int(labels.max(initial=-1)) + 1)
    x = found.codes + shift
    lower, upper = np.full(len(x), -np.inf), np.full(len(x), np.inf)
    together, middle = found.classes[:-1] == found.classes[1:], x[:-1] + x[1:]
    lower[1:][together] = -(-middle // 2)[together]
    upper[:-1][together] = (middle // 2)[together]
    return Line(found, x, lower, upper)


def fates(table: Line, law: Outputs, *, radius: Reals | None, k: int) -> Fates:
    """Compute the fate of each distinct original, exactly.

    ℓ of an output y is the number of originals of the class within the radius: it changes only where y passes
    an original ± radius. The outputs with 0 < ℓ < k are found as intervals, and their chances added up.

    Args:
        radius: (m,) of the confidence interval, in grid units; None: no record is left out.
        k: ℓ below it leaves a record out.
    Source:
        [KE V-B, V-C]; [methods 7, 8.1].
    """
    classes = table.found.classes
    center = table.x if law.inputs is None else np.clip(table.x, *law.inputs)
    sensitivity = law.sensitivity[classes]
    rows = np.arange(len(center))

    def between(low: Reals, high: Reals, at: Integers) -> Reals:
        """Chance that the outputs of the originals ``at`` lie in low … high."""
        below = chance_up_to_limit(low - 1, center[at], sensitivity[at], law)
        inside = chance_up_to_limit(high, center[at], sensitivity[at], law) - below
        return np.where(high >= low, np.maximum(inside, 0.0), 0.0)

    linked = np.minimum(between(table.lower, table.upper, rows), 1.0)
    lost, both = np.zeros(len(center)), np.zeros(len(center))
    if radius is not None:
        reach = np.floor(np.minimum(radius, 2.0**61)).astype(np.int64)
        lows, highs, starts = _thin(center, table.found.counts, table.found.starts, reach, k)
        for at, which in _pairs(classes, starts):
            low, high = lows[which].astype(np.float64), highs[which].astype(np.float64)
            lost += np.bincount(at, between(low, high, at), minlength=len(center))
            near = between(np.maximum(low, table.lower[at]), np.minimum(high, table.upper[at]), at)
            both += np.bincount(at, near, minlength=len(center))
    return Fates(linked, np.minimum(lost, 1.0), np.minimum(both, linked))


def chance_up_to_limit(limit: Reals, center: Reals | Integers, sensitivity: Integers, law: Outputs) -> Reals:
    """Return the probability that the output, moved to its bounds, is at most ``limit``; ±inf allowed."""
    finite = np.isfinite(limit)
    chance = law.chance(np.where(finite, limit - center, 0.0), sensitivity)
    chance = np.where(finite, chance, limit > 0)
    if law.bounds is None:
        return chance
    return np.where(limit < law.bounds[0], 0.0, np.where(limit >= law.bounds[1], 1.0, chance))


def _pairs(classes: Integers, starts: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Yield each row with each interval of its class, some million pairs at a time."""
    width = np.diff(starts)[classes]
    ends = np.cumsum(width)
    first = 0
    while first < len(classes):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + _AT_ONCE, side="right")), first + 1)
        rows = np.arange(first, last)
        at = np.repeat(rows, width[rows])
        offset = np.arange(len(at)) - np.repeat(ends[rows] - width[rows] - before, width[rows])
        yield at, starts[classes[at]] + offset
        first = last


@kernel
def _thin(center, counts, starts, reach, k):  # type: ignore[no-untyped-def]
    """Find the outputs with 0 < ℓ < k: intervals [low, high] of each class, (i,), and where a class begins.

    An original counts from x − reach to x + reach: two pointers walk along these ends.
    """
    m = len(starts) - 1
    lows, highs = np.empty(2 * len(center), np.int64), np.empty(2 * len(center), np.int64)
    bounds, used = np.zeros(m + 1, np.int64), 0
    for label in range(m):
        # `within` originals count at the output `at`; the next end of one is the next change.
        enter = leave = starts[label]
        end, within, at = starts[label + 1], 0, np.int64(0)
        began = used
        while leave < end:
            before, thin = at, 0 < within < k
            # Go to the next change: where an original begins to count, or where one ends.
            if enter < end and center[enter] - reach[label] <= center[leave] + reach[label] + 1:
                at = center[enter] - reach[label]
            else:
                at = center[leave] + reach[label] + 1
            # Since the last change the outputs had too few originals: a new interval, or more of the last.
            if thin and at > before:
                if used > began and highs[used - 1] == before - 1:
                    highs[used - 1] = at - 1
                else:
                    lows[used], highs[used] = before, at - 1
                    used += 1
            # Count the originals that begin or end here.
            while enter < end and center[enter] - reach[label] == at:
                within += counts[enter]
                enter += 1
            while leave < end and center[leave] + reach[label] + 1 == at:
                within -= counts[leave]
                leave += 1
        bounds[label + 1] = used
    return lows[:used], highs[:used], bounds


def expected_kept(
    found: ClassHistograms, lost: Reals, *, most_lost: Integers, work: float = math.inf
) -> Reals:
    """Compute how many records of each class stay on average, if a class that loses too many is left out.

    Noise is independent, so the number M of a class's records that are lost is a sum of independent draws
    (Poisson binomial); the result is E[(size − M)·1{M ≤ most_lost}] by the exact recursion. Where Chernoff's
    bound makes one side of M impossible (10⁻¹⁴) it is taken as such.

    Args:
        found: d pairs of class and original.
        lost: (d,) chance that a record of each pair is lost.
        most_lost: (m,) records that each class may lose; below 0: it never stays.
        work: steps that a class may take; of a larger one a lower bound is returned.
    Returns:
        (m,) records.
    """
    stays: Reals = _choose_kept(lost, found.counts, found.starts, np.asarray(most_lost, np.int64), work)
    return stays


@kernel
def _chernoff(mean, at):  # type: ignore[no-untyped-def]
    """Bound the chance that M is ``at`` or beyond, on the side of ``at`` that is away from the mean."""
    if mean <= 0:
        return 0.0 if at > 0 else 1.0
    if at <= 0:
        return np.exp(-mean)
    return np.exp(min(at - mean - at * np.log(at / mean), 0.0))


@kernel
def _first_moment(chances, counts, most):  # type: ignore[no-untyped-def]
    """Return P(S ≤ most) and E[S·1{S ≤ most}] of a sum S of independent 0s and 1s."""
    dist = np.zeros(most + 1)
    dist[0] = 1.0
    top = 0
    for i in range(len(chances)):
        q = chances[i]
        for _ in range(counts[i]):
            top = min(top + 1, most)
            for s in range(top, 0, -1):
                dist[s] = dist[s] * (1.0 - q) + dist[s - 1] * q
            dist[0] *= 1.0 - q
    mass = moment = 0.0
    for s in range(most + 1):
        mass += dist[s]
        moment += s * dist[s]
    return mass, moment


@kernel
def _choose_kept(lost, counts, starts, most_lost, work):  # type: ignore[no-untyped-def]
    """Choose, for each class, the cheapest way to its expectation."""
    kept = np.zeros(len(starts) - 1)
    for label in range(len(kept)):
        begin, end, most = starts[label], starts[label + 1], most_lost[label]
        size, mean = 0, 0.0
        for i in range(begin, end):
            size += counts[i]
            mean += counts[i] * lost[i]
        if most < 0:
            continue
        # A bound on the chance that more are lost than may be.
        beyond = _chernoff(mean, most + 1.0) if most + 1 > mean else 1.0
        # Nearly never too many, nearly always, too much work to be exact, or exact by the shorter sum.
        if most >= size or size * beyond < _NOTHING:
            kept[label] = size - mean
        elif most < mean and size * _chernoff(mean, float(most)) < _NOTHING:
            continue
        elif size * float(min(most + 1, size - most)) > work:
            kept[label] = max(size - mean - size * beyond, 0.0)
        elif most + 1 <= size - most:
            mass, moment = _first_moment(lost[begin:end], counts[begin:end], most)
            kept[label] = size * mass - moment
        else:
            moment = _first_moment(1.0 - lost[begin:end], counts[begin:end], size - most - 1)[1]
            kept[label] = max(size - mean - moment, 0.0)
    return kept
