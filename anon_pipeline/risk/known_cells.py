"""Linking by known columns: in a class, by values that are released as they are and by laws of drawn ones.

Belongs here: the cells of records that an attacker can distinguish only by drawn values, and what
guessing the likeliest original of the cell gets right. Not here: which columns are known, what was drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.order import sort_keys
from anon_pipeline.perturb import mechanisms
from anon_pipeline.risk.expected_linking import NoiseLaw
from anon_pipeline.risk.noisy_categories import linked_by_class

CLOSE = 0.01
"""Share of a cell's records up to which a bound stands for what is linked of them."""

TIE = 1e-9
"""By which logarithms of equal likelihoods may differ."""

_CHUNK = 2**15  # pairs of a record and an original that are in memory together

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The n records in classes, by class and known values.

    own: (n,) cell of each record, numbered without gaps.
    order: (n,) the records, cell by cell.
    starts: (c + 1,) where a cell begins in ``order``.
    labels: (c,) class of each cell.
    """

    own: Integers = field(repr=False)
    order: Integers = field(repr=False)
    starts: Integers = field(repr=False)
    labels: Integers = field(repr=False)

    @property
    def sizes(self) -> Integers:
        """Records of each cell, (c,)."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """The known originals of drawn values, and their distributions: p numbers, c categories.

    centers: (n, p) what the noise is added to, in whole grid units.
    law: of the noise, of all m classes.
    codes: (n, c) original categories.
    likely: of each column of categories, (D, D): ln P(value | original), by codes.
    """

    centers: Integers | Reals = field(repr=False)
    law: NoiseLaw = field(repr=False)
    codes: Integers = field(default_factory=lambda: np.empty((0, 0), np.int64), repr=False)
    likely: tuple[Reals, ...] = field(default=(), repr=False)

    @property
    def drawn(self) -> bool:
        """Whether anything is drawn; else all originals of a cell are alike."""
        return bool(self.law.drawn) or bool(self.likely)


def cells_of(labels: Integers, codes: Integers) -> Cells:
    """Put records into cells.

    Args:
        labels: (n,) class of each record, 0 … m−1.
        codes: (n,) what else is known of each record, ≥ 0: records with equal values have equal codes.
    """
    width = int(codes.max(initial=0)) + 1
    keys = labels * width + codes
    sought, order = sort_keys(keys, (int(labels.max(initial=0)) + 1) * width)
    fresh = np.flatnonzero(np.diff(sought, prepend=sought[:1] - 1)).astype(np.int64)
    starts = np.append(fresh, len(keys)).astype(np.int64)
    own = np.empty(len(keys), np.int64)
    own[order] = np.repeat(np.arange(len(fresh)), np.diff(starts))
    return Cells(own, order, starts, labels[order[fresh]])


def most_linked(cells: Cells, hidden: Hidden) -> Reals:
    """Return how many records of each cell are linked on average at most, (c,).

    Whoever guesses the likeliest original links, of a cell, Σ_y max_x P(y | x) records on average, over all
    outputs y: one original is right for each. The largest product is at most the product of the largest, and
    in one column, with noise that is symmetric and falls from 0 and originals within a span r, Σ_y max_x is
    at most 1 + r·P(noise = 0). Bounds on outputs only merge them. Of categories the sum is taken as it is.
    """
    found = np.ones(len(cells.labels))
    law = hidden.law
    for column, likely in enumerate(hidden.likely):
        found *= linked_by_class(hidden.codes[:, column], cells.own, np.exp(likely))
    for j, noise in enumerate(law.drawn):
        values = hidden.centers[cells.order, j]
        first = cells.starts[:-1]
        span = np.maximum.reduceat(values, first) - np.minimum.reduceat(values, first)
        apart = np.flatnonzero(span)  # few, if nearly all cells are of one record
        wide = law.scales[cells.labels[apart], j].astype(np.int64)
        found[apart] *= 1 + span[apart] * mechanisms.pmf(noise, np.zeros(len(wide)), wide)
    return np.minimum(found, cells.sizes)


def right_guesses(values: Reals, rows: Integers, cells: Cells, hidden: Hidden) -> Reals:
    """Return the chance that the likeliest original of the cell is the own one, equal ones by lot, (r,).

    Args:
        values: (r, p + c) released values: numbers in grid units, then codes of categories.
        rows: (r,) the own original of each.
    Source:
        [methods 8.1]; the likelihoods as in `posterior`, each released record guessed by itself.
    """
    found = np.empty(len(rows))
    for part in chunks(rows, cells):
        compared = compare(values[part], rows[part], cells, hidden)
        at, offsets, likely = compared.at, compared.offsets, compared.likely
        ties = likely >= (np.maximum.reduceat(likely, offsets) - TIE)[at]
        right = np.add.reduceat((ties & (compared.other == rows[part][at])).astype(np.float64), offsets)
        found[part] = right / np.add.reduceat(ties.astype(np.float64), offsets)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Pairs of a released record and an original of its cell, record by record.

    at: (pairs,) the record. other: (pairs,) the original. offsets: (r,) where the pairs of a record begin.
    likely: (pairs,) ln P(y | x), but for a term that is equal for all pairs of a record.
    """

    at: Integers = field(repr=False)
    other: Integers = field(repr=False)
    offsets: Integers = field(repr=False)
    likely: Reals = field(repr=False)


def chunks(rows: Integers, cells: Cells) -> Iterator[slice]:
    """Yield parts of (r,) released records, so small that all pairs of one fit into memory."""
    ends, first = np.cumsum(cells.sizes[cells.own[rows]]), 0
    while first < len(rows):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + _CHUNK, side="right")), first + 1)
        yield slice(first, last)
        first = last


def compare(values: Reals, rows: Integers, cells: Cells, hidden: Hidden) -> Compared:
    """Compare each of some records with all originals of its cell; the arguments are `right_guesses`'."""
    cell = cells.own[rows]
    sizes = cells.sizes[cell]
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)[:-1]))
    at = np.repeat(np.arange(len(rows)), sizes)
    other = cells.order[np.arange(len(at)) + np.repeat(cells.starts[cell] - offsets, sizes)]
    likely, law = np.zeros(len(at)), hidden.law
    for j, bound in enumerate(law.bounds):
        wide = law.scales[cells.labels[cell], j].astype(np.int64)
        x = hidden.centers[other, j].astype(np.float64)
        likely += _log_likelihoods(values[:, j], at, x, wide, (law, j, bound))
    for column, chances in enumerate(hidden.likely):
        shown = values[:, len(law.drawn) + column].astype(np.int64)
        likely += chances[hidden.codes[other, column], shown[at]]
    return Compared(at, other, offsets, likely)


def _log_likelihoods(
    values: Reals,
    at: Integers,
    x: Reals,
    wide: Integers,
    of: tuple[NoiseLaw, int, tuple[int, int] | None],
) -> Reals:
    """Return ln P(y | x) of each pair in one column, (pairs,), but for terms equal for a whole record."""
    law, j, bound = of
    y = values[at]
    found = mechanisms.log_odds(law.drawn[j], y - x, wide[at])
    if bound is not None:
        with np.errstate(divide="ignore"):
            for end, side in ((bound[0], 1), (bound[1], -1)):
                on = np.flatnonzero(y == end)
                found[on] = np.log(law.cdf(j, side * (end - x[on]), wide[at[on]].astype(np.float64)))
    return np.maximum(found, -1e300)  # values that this law never releases are equally unlikely
