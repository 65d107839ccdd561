"""The strongest guess of whose record is whose: by the law of the noise, each original being used once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.risk.expected_linking import NoiseLaw

LARGEST_BALANCED = 2**20
"""Pairs of distinct released and original values of a class up to which its likelihoods are balanced."""

_ROUNDS = 20
_CLOSE = 1e-9

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PosteriorRisk:
    """What an attacker gets right who guesses every released record's most probable original.

    released: records released, ≥ 1.
    risk: share whose own original has the most probable values, in [0, 1].
    attacker_success: expected share whose own original is guessed, equal ones by lot, in [0, 1].
    """

    released: int
    risk: float
    attacker_success: float


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """Records equal in class and values: number of each record (r,); rows (b, p), counts (b,), starts."""

    own: Integers
    rows: Reals
    counts: Integers
    starts: Integers


def posterior_risk(
    released: Reals,
    own: NDArray[np.integer],
    originals: Reals,
    *,
    labels: NDArray[np.integer],
    law: NoiseLaw,
    largest: int = LARGEST_BALANCED,
) -> PosteriorRisk:
    """Measure what guessing the most probable original of each released record gets right.

    The attacker knows the originals, each class, which of them were released, and the law of the noise. The
    chance that a record is of an original, all records seen, is a ratio of permanents; the likelihoods with
    rows and columns brought to the sum 1 stand for it (Sinkhorn). By the exact chances no attacker who knows
    this is right more often on average, the nearest original and one-to-one assignments included.

    Args:
        released: (r, p) released values, in grid units.
        own: (r,) index of each released record in ``originals``, all different, of a class each.
        originals: (n, p) original values, in grid units.
        labels: (n,) class of each original, 0 … m−1; −1 for a record of no class.
        law: of the noise, of all m classes.
        largest: pairs of distinct values of a class; in a larger one each record is guessed by itself.
    Returns:
        The shares; the order of the records does not matter.
    Raises:
        ValueError: nothing released, a record of no class or released twice, or a law of other classes.
    Source:
        Sinkhorn and Knopp (1967), Concerning nonnegative matrices and doubly stochastic matrices; Huang and
        Jebara (2009), Approximating the permanent with belief propagation, for what the balance stands for.
    """
    classes = np.asarray(labels, np.int64)[own]
    if len(own) == 0 or int(classes.min()) < 0 or int(np.bincount(own).max()) > 1:
        raise ValueError("own must name originals of a class, once each, at least one.")
    m, p = int(np.asarray(labels).max()) + 1, originals.shape[1]
    if law.scales.shape != (m, p):
        raise ValueError("law must have a row per class and a column per column.")
    here = _blocks(np.asarray(released, np.float64), classes, m)
    there = _blocks(np.asarray(originals[own], np.float64), classes, m)
    guesses = _guesses(here, there, law, largest)
    met = _add_up(here, there, guesses)
    shares = [math.fsum(part.tolist()) / len(own) for part in met]
    return PosteriorRisk(len(own), shares[0], shares[1])


def _blocks(values: Reals, classes: Integers, m: int) -> _Blocks:
    order = np.lexsort((*values.T[::-1], classes))
    rows, labels = values[order], classes[order]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (labels[1:] != labels[:-1]) | (rows[1:] != rows[:-1]).any(axis=1)
    own = np.empty(len(order), np.int64)
    own[order] = np.cumsum(fresh) - 1
    starts = np.searchsorted(labels[fresh], np.arange(m + 1)).astype(np.int64)
    return _Blocks(own, rows[fresh], np.bincount(own).astype(np.int64), starts)


def _guesses(here: _Blocks, there: _Blocks, law: NoiseLaw, largest: int) -> Integers:
    """Return for each block of released records the block of originals that is guessed, (b, 2).

    First by values, then by record; classes are taken together as long as their pairs are few.
    """
    tall, wide = np.diff(here.starts), np.diff(there.starts)
    pairs = tall * wide
    found = np.empty((len(here.counts), 2), np.int64)
    for begin, end in _parts(pairs, largest):
        balanced = end - begin > 1 or int(pairs[begin]) <= largest
        step = int(tall[begin:end].sum()) if balanced else max(largest // int(wide[begin]), 1)
        for first in range(int(here.starts[begin]), int(here.starts[end]), max(step, 1)):
            rows = np.arange(first, min(first + step, int(here.starts[end])))
            label = np.searchsorted(here.starts, rows, side="right") - 1
            chances, offsets = _chances(here, there, law, (rows, label))
            _guess(
                chances,
                offsets,
                (label, there.starts, here.counts[rows], there.counts.astype(np.float64)),
                _ROUNDS if balanced else 0,
                found[rows[0] : rows[-1] + 1],
            )
    return found


def _parts(pairs: Integers, largest: int) -> list[tuple[int, int]]:
    """Cut the classes into runs of at most so many pairs, or of one class."""
    cuts, total = [0], 0
    for label, count in enumerate(pairs.tolist()):
        if total and total + count > largest:
            cuts.append(label)
            total = 0
        total += count
    return list(zip(cuts, [*cuts[1:], len(pairs)], strict=True))


def _chances(
    here: _Blocks, there: _Blocks, law: NoiseLaw, of: tuple[Integers, Integers]
) -> tuple[Reals, Integers]:
    """Return the probability of each row given each original of its class, flat, and where rows begin."""
    rows, label = of
    lengths = there.starts[label + 1] - there.starts[label]
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))).astype(np.int64)
    row = np.repeat(np.arange(len(rows)), lengths)
    column = np.arange(offsets[-1]) - offsets[row] + there.starts[label][row]
    centers, chances = law.centers(there.rows), np.ones(len(row))
    for j, bound in enumerate(law.bounds):
        y, x = here.rows[rows, j][row], centers[column, j]
        scale = np.asarray(law.scales, np.float64)[label, j][row]
        own = _masses(law, j, np.abs(y - x), scale)
        if bound is not None:
            low, high = y <= bound[0], y >= bound[1]
            own[low] = law.cdf(j, bound[0] - x[low], scale[low])
            own[high] = law.cdf(j, x[high] - bound[1], scale[high])
        chances *= own
    return chances, offsets


def _masses(law: NoiseLaw, j: int, distance: Reals, scale: Reals) -> Reals:
    """Return the probability of noise of these sizes, (d,); of each scale and whole size once where few are.

    Args:
        distance: (d,) ≥ 0, in grid units.
        scale: (d,) of the noise.
    """

    def masses(size: Reals, under: Reals) -> Reals:
        """Return the probability of noise of each size ≥ 0, in grid units, by its scale."""
        return law.cdf(j, -size, under) - law.cdf(j, -size - 1, under)  # symmetric, and this tail is exact

    scales, width = np.unique(law.scales[:, j]), float(distance.max(initial=0.0)) + 1
    if 2 * len(scales) * width > len(distance) or (distance != np.floor(distance)).any():
        return masses(distance, scale)
    each, step = np.arange(width), int(width)
    table = masses(np.tile(each, len(scales)), np.repeat(scales, step).astype(np.float64))
    return table[np.searchsorted(scales, scale) * step + distance.astype(np.int64)]


@kernel
def _guess(chances, offsets, shape, rounds, found):  # type: ignore[no-untyped-def]
    """Balance the chances of each class and write what is guessed of each row, by values and by record."""
    label, starts, tall, wide = shape
    begin = 0
    while begin < len(label):
        # The rows of the next class, and the chance that each came from each original.
        end = begin
        while end < len(label) and label[end] == label[begin]:
            end += 1
        first = starts[label[begin]]
        width = starts[label[begin] + 1] - first
        part = chances[offsets[begin] : offsets[end]].reshape(end - begin, width)
        own = _balance(part, tall[begin:end], wide[first : first + width], rounds)
        for i in range(end - begin):
            # The greatest chance, of a value and of one record; of nearly equal ones the first is guessed.
            most, one = 0.0, 0.0
            for k in range(width):
                most = max(most, part[i, k] * own[k] * wide[first + k])
                one = max(one, part[i, k] * own[k])
            for k in range(width - 1, -1, -1):
                if part[i, k] * own[k] * wide[first + k] >= most * (1 - _CLOSE):
                    found[begin + i, 0] = first + k
                if part[i, k] * own[k] >= one * (1 - _CLOSE):
                    found[begin + i, 1] = first + k
        begin = end


@kernel
def _balance(part, tall, wide, rounds):  # type: ignore[no-untyped-def]
    """Return the factors of the columns by which each original is used once; rows are scaled in place."""
    height, width = part.shape
    # Scale the rows, so that no sum below underflows.
    for i in range(height):
        most = part[i].max()
        for k in range(width):
            part[i, k] = part[i, k] / most if most > 0 else 1.0  # a value that this law never releases
    own, change = np.ones(width), 1.0
    # Scale rows and columns in turn until each original is used once.
    for _ in range(rounds):
        sums = np.zeros(width)
        for i in range(height):
            total = 0.0
            for k in range(width):
                total += part[i, k] * own[k] * wide[k]
            for k in range(width):
                sums[k] += tall[i] * part[i, k] / max(total, 1e-300)
        change = 0.0
        for k in range(width):
            fresh = 1.0 / max(sums[k], 1e-300)
            change = max(change, abs(fresh - own[k]) / fresh)
            own[k] = fresh
        if change < 1e-3:
            break
    return own


def _add_up(here: _Blocks, there: _Blocks, guesses: Integers) -> tuple[Reals, Reals]:
    """Return what each record adds to risk and success, (r,) each."""
    of_values, of_record = guesses[here.own].T
    return (of_values == there.own).astype(np.float64), (of_record == there.own) / there.counts[there.own]
