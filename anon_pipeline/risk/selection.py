"""Which noisy values a confidence interval keeps: the chance of each original to stay, and what stays.

Belongs here: one column, exactly, by the law of its noise. Not here: classes that fall below k.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.risk.survival import Line, Outputs, chance_up_to_limit, sort_line

_BINS = 256  # of a class's outputs, plus the points where the number of originals within reach changes
_TAIL = 1e-7  # chance of noise beyond the outermost bins

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Noisy values, how many records have them on average, and how many of those stay.

    values: (v,) grid units; all, kept: (v,) expected records.
    """

    values: Reals = field(repr=False)
    all: Reals = field(repr=False)
    kept: Reals = field(repr=False)


def kept_spread(
    originals: Integers, labels: Integers, law: Outputs, *, radius: Reals, k: int
) -> tuple[Reals, Spread]:
    """Compute the chance of each record to stay, and the spread of the noisy values that stay.

    The number ℓ of originals within the radius of an output changes only where the output passes an original
    ± radius. Between these places outputs are put into bins; the chance of a bin is exact, its value the
    middle: moments are right to the square of a bin's width.

    Args:
        originals: (n,) grid units.
        labels: (n,) class of each, 0 … m−1 without gaps.
        radius: (m,) of the confidence interval, grid units.
        k: a record with 0 < ℓ < k is left out.
    Returns:
        (n,) chances; the spread.
    Source:
        [KE V-C].
    """
    line = sort_line(originals, labels)
    chances, parts = np.empty(len(line.x)), []
    for label in range(len(line.found.starts) - 1):
        at = slice(int(line.found.starts[label]), int(line.found.starts[label + 1]))
        chances[at], spread = _of_class(line, at, law, (label, float(np.floor(radius[label])), k))
        parts.append(spread)
    values, every, kept = (np.concatenate(each) for each in zip(*parts, strict=True))
    place = line.found.classes * (int(line.x.max() - line.x.min()) + 1) + line.x - line.x.min()
    own = np.searchsorted(place, labels * (int(line.x.max() - line.x.min()) + 1) + originals - line.x.min())
    return chances[own], Spread(values, every, kept)


def _of_class(
    line: Line, at: slice, law: Outputs, of: tuple[int, float, int]
) -> tuple[Reals, tuple[Reals, Reals, Reals]]:
    """Return the chances of the distinct originals of one class, and its spread."""
    label, reach, k = of
    counts, x = line.found.counts[at], line.x[at]
    center = (x if law.inputs is None else np.clip(x, *law.inputs)).astype(np.float64)
    edges = _edges(center, reach, int(law.sensitivity[label]), law)
    wide = np.full((len(center), len(edges)), law.sensitivity[label])
    up_to = chance_up_to_limit(np.broadcast_to(edges, wide.shape), center[:, None], wide, law)
    chance = np.diff(up_to, axis=1)
    low, high = edges[:-1] + 1, edges[1:]
    within = np.zeros(len(low), np.int64)
    for c, count in zip(center, counts, strict=True):
        within += count * ((low >= c - reach) & (high <= c + reach))
    stays = (within == 0) | (within >= k)
    every = counts @ chance
    middle = (low + high) / 2
    if law.bounds is not None:
        middle = np.clip(middle, *law.bounds)
    found = 1 - chance[:, ~stays].sum(axis=1)
    return np.clip(found, 0.0, 1.0), (middle, every, np.where(stays, every, 0.0))


def _edges(center: Reals, reach: float, sensitivity: int, law: Outputs) -> Reals:
    """Return the ends of the bins of one class, increasing: whole outputs, each bin without its lower end."""
    far = reach
    while float(1 - law.chance(np.array([far]), np.array([sensitivity]))[0]) > _TAIL:
        far = 2 * far + 1
    low, high = float(center.min()) - far - 1, float(center.max()) + far + 1
    if law.bounds is not None:
        low, high = min(low, law.bounds[0] - 1.0), max(high, float(law.bounds[1]))
        low, high = max(low, law.bounds[0] - 1.0), min(high, float(law.bounds[1]))
    inner = np.floor(np.linspace(low, high, _BINS + 1))
    ends = np.unique(np.concatenate((inner, center - reach - 1, center + reach)))
    return np.asarray(ends[(ends >= low) & (ends <= high)], np.float64)
