"""Which classes nearly tell the value of a column: most of their records have one, and few others do."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.order import sorted_places
from anon_pipeline.risk.histograms import class_sizes
from anon_pipeline.risk.people import count_people


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
        """The column with no value nearly the same as another."""
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

    A class tells if some value, with the larger ones that are nearly the same, is that of at least ``share``
    of its records, and of them more than ``gain`` times as frequent as in all classes together. A value that
    most have anyway so makes no class telling: with a gain of 2, one of half of all records.

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
    sizes, total = class_sizes(labels, m=m), len(labels)
    rows = np.stack([labels, column.ranks], axis=1).astype(np.int64)
    everywhere = rows[:, 1]
    if people is not None:
        column = column.exact
        sizes, total = count_people(labels, people, m=m), len(np.unique(people))
        whose = np.asarray(people, np.int64)[:, None]
        everywhere = np.unique(np.hstack((rows[:, 1:], whose)), axis=0)[:, 0]
        rows = np.unique(np.hstack((rows, whose)), axis=0)[:, :2]
    width = len(column.reach) + 1
    keys = rows[:, 0] * width + rows[:, 1]
    keys = keys[sorted_places(keys, m * width)]
    own, values = np.divmod(keys, width)
    ends = column.reach[values]
    within = np.searchsorted(keys, own * width + ends) - np.searchsorted(keys, keys)
    below = np.concatenate(([0], np.cumsum(np.bincount(everywhere, minlength=width))))
    sure = (within >= share * sizes[own] - 1e-9) & (
        within * total > gain * (below[ends] - below[values]) * sizes[own]
    )
    return np.bincount(own[sure], minlength=m) > 0
