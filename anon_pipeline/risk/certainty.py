"""Classes that nearly reveal the value of a column: most of their records have it, and few others do."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.order import count_different, count_values
from anon_pipeline.risk.histograms import class_sizes
from anon_pipeline.risk.people import count_people, once_for_each

ODDS = 8
"""How many times as large the odds of a common value are in a class that makes it nearly certain."""

COMMON = 2 / 3
"""Share of all records above which a value is too common for a class to reveal much."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """A column as ranks of its v different values.

    ranks: (n,) of each record's value, 0 … v−1.
    reach: (v,) rank of the first larger value that is not nearly the same, above the value's own.
    """

    ranks: NDArray[np.int64] = field(repr=False)
    reach: NDArray[np.int64] = field(repr=False)

    @property
    def exact(self) -> Ranked:
        """The same column, with only equal values counted as equal."""
        return Ranked(self.ranks, np.arange(1, len(self.reach) + 1))


def telling_classes(
    column: Ranked,
    labels: NDArray[np.integer],
    *,
    m: int,
    share: float,
    gain: int,
    people: NDArray[np.integer] | None = None,
) -> NDArray[np.bool_]:
    """Tell in which classes a guess is nearly certain, and much better than without the class.

    A class reveals a value if some value, with the larger ones that are nearly the same, is that of at least
    ``share`` of its records, and of them more than ``gain`` times as frequent as in all classes together. A
    value that
    most have anyway does not make a class reveal it: with a gain of 2, one of half of all records.

    Args:
        column: (r,) values.
        labels: (r,) class of each record, 0 … m−1.
        m: number of classes, each with at least one record.
        share: in (0, 1].
        gain: 1 or more.
        people: (r,) whose record it is, 0 or more: people are then counted, each once for each value. Nearly
            equal values are then different ones.
    Returns:
        (m,).
    Raises:
        ValueError: labels that are not compact.

    >>> ill, classes = np.array([0, 0, 1, 2, 1, 2]), np.array([0, 0, 1, 1, 1, 1])
    >>> telling_classes(Ranked(ill, np.array([1, 2, 3])), classes, m=2, share=0.9, gain=2).tolist()
    [True, False]
    """
    column = column if people is None else column.exact
    (classes, held), everywhere, sizes, total = _count(column, labels, m, people)
    width = len(column.reach) + 1
    keys, counts = count_values(classes * width + held, m * width)
    before = np.concatenate(([0], np.cumsum(counts)))
    own, values = np.divmod(keys, width)
    ends = column.reach[values]
    within = before[np.searchsorted(keys, own * width + ends)] - before[:-1]
    below = np.concatenate(([0], np.cumsum(np.bincount(everywhere, minlength=width))))
    sure = (within >= share * sizes[own] - 1e-9) & (
        within * total > gain * (below[ends] - below[values]) * sizes[own]
    )
    return np.bincount(own[sure], minlength=m) > 0


def _count(
    column: Ranked, labels: NDArray[np.integer], m: int, people: NDArray[np.integer] | None
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64], NDArray[np.int64], int]:
    """Return class and value of what is counted, values of all, sizes of the classes, how many there are."""
    classes = labels.astype(np.int64, copy=False)
    if people is None:
        return (classes, column.ranks), column.ranks, class_sizes(labels, m=m), len(labels)
    ranks = column.ranks.astype(np.int64, copy=False)
    everywhere, width = once_for_each(ranks, people), len(column.reach) + 1
    classes, held = np.divmod(once_for_each(classes * width + ranks, people), width)
    return (classes, held), everywhere, count_people(labels, people, m=m), count_different(people)


def likelier_share(
    column: Ranked,
    labels: NDArray[np.integer],
    *,
    m: int,
    share: float,
    people: NDArray[np.integer] | None = None,
) -> float:
    """Return the share of the records in classes that make a common value nearly certain, beyond chance.

    A value that half of all records have, up to `COMMON`, cannot be twice as frequent in a class. A class
    makes it nearly certain if ``share`` of its records have it, and its odds there are `ODDS` times those in
    all classes (half a record added on either side). Small classes do so by chance: what is expected of
    classes of these sizes, whose records have the value independently, is subtracted; and nothing is said
    unless the share exceeds it by three standard deviations.

    Args:
        column, labels, m, share, people: see `telling_classes`. Only equal values are the same.
    Returns:
        In [0, 1].

    >>> one, classes = np.repeat([0, 0, 1, 1], 50), np.arange(200) // 10
    >>> likelier_share(Ranked(one, np.array([1, 2])), classes, m=20, share=0.9) > 0.9
    True
    >>> mixed = np.arange(200) % 2
    >>> likelier_share(Ranked(mixed, np.array([1, 2])), classes, m=20, share=0.9)
    0.0
    """
    (classes, held), everywhere, sizes, total = _count(column, labels, m, people)
    counts = np.bincount(everywhere)
    common = np.flatnonzero((2 * counts >= total) & (counts <= COMMON * total))
    beyond, variance = 0.0, 0.0
    for value in common:
        least = np.maximum(np.ceil(share * sizes - 1e-9), least_of_common(sizes, counts[value] / total))
        sure = np.bincount(classes[held == value], minlength=m) >= least
        if sure.any():
            chance = _chance_of(least, sizes, counts[value] / total)
            beyond += float(sizes[sure].sum() - sizes @ chance)
            variance += float((sizes.astype(np.float64) ** 2) @ (chance * (1 - chance)))
    return beyond / float(sizes.sum()) if beyond > 3 * math.sqrt(variance) else 0.0


def least_of_common(sizes: NDArray[np.integer], shares: NDArray[np.floating] | float) -> NDArray[np.float64]:
    """Return how many of a class must have a common value for its odds there to be `ODDS` times as large.

    Args:
        sizes: (m,) of the classes.
        shares: of all records that have the value, below 1; of one value, or (m,).

    >>> least_of_common(np.array([3, 10]), 0.5).tolist()  # of three it cannot be
    [4.0, 10.0]
    """
    odds = ODDS * shares / (1 - np.asarray(shares, np.float64))
    return np.ceil((odds * (sizes + 0.5) - 0.5) / (1 + odds) - 1e-9)


def _chance_of(least: NDArray[np.float64], sizes: NDArray[np.int64], chance: float) -> NDArray[np.float64]:
    """Return the chance that a class has a value so often, or more often, (m,)."""
    from scipy.special import bdtrc  # noqa: PLC0415 - slow to import: only where a class has one

    return np.where(least > sizes, 0.0, bdtrc(np.minimum(least, sizes) - 1, sizes, chance))
