"""Linking by known columns: in a class, by values that are released as they are and by laws of drawn ones.

Belongs here: the cells of records that an attacker can distinguish only by drawn values, and what
guessing the likeliest original of the cell gets right. Not here: which columns are known, what was drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import class_blocks, narrow_integers
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

    All are in few bytes: convert what is calculated with.
    """

    own: NDArray[np.signedinteger] = field(repr=False)
    order: NDArray[np.signedinteger] = field(repr=False)
    starts: NDArray[np.signedinteger] = field(repr=False)
    labels: NDArray[np.signedinteger] = field(repr=False)

    @property
    def sizes(self) -> Integers:
        """Records of each cell, (c,)."""
        return self.sizes_of(slice(0, len(self.labels)))

    def sizes_of(self, run: slice) -> Integers:
        """Return the records of each of some consecutive cells."""
        return np.diff(self.starts[run.start : run.stop + 1]).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """The known originals of drawn values, and their distributions: p numbers, c categories.

    centers: (n, p) what the noise is added to, in whole grid units, in any type that holds them.
    law: of the noise, of all m classes.
    codes: (n, c) original categories.
    likely: of each column of categories, (D, D): ln P(value | original), by codes.
    assumed: (c,) whether ``likely`` is only what attackers assume, so that it bounds nothing; none: nowhere.
    """

    centers: NDArray[np.signedinteger] | Reals = field(repr=False)
    law: NoiseLaw = field(repr=False)
    codes: Integers = field(default_factory=lambda: np.empty((0, 0), np.int64), repr=False)
    likely: tuple[Reals, ...] = field(default=(), repr=False)
    assumed: tuple[bool, ...] = ()

    @property
    def drawn(self) -> bool:
        """Whether anything is drawn; else all originals of a cell are alike."""
        return bool(self.law.drawn) or bool(self.likely)

    def bounds(self, column: int) -> bool:
        """Tell whether the law of a column of categories bounds what is linked."""
        return not (self.assumed and self.assumed[column])


def cells_of(labels: NDArray[np.integer], codes: NDArray[np.integer]) -> Cells:
    """Put records into cells.

    Args:
        labels: (n,) class of each record, 0 … m−1.
        codes: (n,) what else is known of each record, ≥ 0: records with equal values have equal codes.
    """
    width = int(codes.max(initial=0)) + 1
    keys = labels.astype(np.int64)
    keys *= width
    keys += codes
    sought, order = sort_keys(keys, (int(labels.max(initial=0)) + 1) * width)
    del keys
    fresh = np.ones(len(sought) + 1, np.bool_)
    np.not_equal(sought[1:], sought[:-1], out=fresh[1:-1])
    del sought
    order, starts = narrow_integers(order), narrow_integers(np.flatnonzero(fresh))
    own = np.empty_like(order)
    own[order] = np.repeat(np.arange(len(starts) - 1, dtype=order.dtype), np.diff(starts))
    return Cells(own, order, starts, narrow_integers(labels[order[starts[:-1]]]))


def most_linked(cells: Cells, hidden: Hidden) -> Reals:
    """Return how many records of each cell are linked on average at most, (c,).

    Whoever guesses the likeliest original links, of a cell, Σ_y max_x P(y | x) records on average, over all
    outputs y: one original is right for each. The largest product is at most the product of the largest, and
    in one column, with noise that is symmetric and falls from 0 and originals within a span r, Σ_y max_x is
    at most 1 + r·P(noise = 0). Bounds on outputs only merge them. Of categories the sum is taken as it is.
    Without a law all may be linked, but where all originals are equal.
    """
    found = np.ones(len(cells.labels))
    law = hidden.law
    for column, likely in enumerate(hidden.likely):
        if hidden.bounds(column):
            found *= linked_by_class(hidden.codes[:, column], cells.own, np.exp(likely))
        else:
            found[_have_different(hidden.codes[:, column], cells)] = np.inf
    for run in class_blocks(cells.starts):
        starts = cells.starts[run].astype(np.int64)
        rows, first = cells.order[starts[0] : cells.starts[run.stop]], starts - starts[0]
        for j, noise in enumerate(law.drawn):
            values = hidden.centers[rows, j].astype(np.float64)
            span = np.maximum.reduceat(values, first) - np.minimum.reduceat(values, first)
            apart = np.flatnonzero(span)  # few, if nearly all cells are of one record
            if noise.whole_column:  # it has no distribution: all may be linked
                found[run][apart] = np.inf
                continue
            wide = law.scales[cells.labels[run][apart], j].astype(np.int64)
            found[run][apart] *= 1 + span[apart] * mechanisms.pmf(noise, np.zeros(len(wide)), wide)
    return np.minimum(found, cells.sizes, out=found)


def _have_different(values: NDArray[np.integer], cells: Cells) -> NDArray[np.bool_]:
    """Tell which cells have different values, (c,)."""
    ordered, starts = values[cells.order], cells.starts[:-1]
    found: NDArray[np.bool_] = np.minimum.reduceat(ordered, starts) != np.maximum.reduceat(ordered, starts)
    return found


def looked_records(cells: Cells, most: Reals, looked: NDArray[np.bool_], pairs: int) -> Integers:
    """Return how many records of each cell are looked at, (c,); none where all originals are equal.

    Args:
        most: (c,) see `most_linked`.
        looked: (c,) whether a cell is looked at.
        pairs: of a record and an original that are compared, at most, but for one record of each cell.
    """
    sizes = np.where(looked & (most > 1), cells.sizes, 0)
    most_each = int(sizes.max(initial=1))
    while most_each > 1 and int((np.minimum(sizes, most_each) * sizes).sum()) > pairs:
        most_each = (most_each + 1) // 2
    return np.minimum(sizes, most_each)


def choose_evenly(cells: Cells, many: Integers, random: np.random.Generator) -> NDArray[np.bool_]:
    """Choose so many records of each cell, evenly over its order from a random start, (n,).

    Args:
        many: (c,) at most the records of the cell.
    """
    share = many / cells.sizes
    if ((share == 0) | (share == 1)).all():
        every: NDArray[np.bool_] = (share > 0)[cells.own]
        return every
    origin, chosen = random.random(len(share)), np.empty(len(cells.own), np.bool_)
    for run in class_blocks(cells.starts):
        starts, sizes = cells.starts[run].astype(np.int64), cells.sizes_of(run)
        step = np.repeat(share[run], sizes)
        begin = np.arange(starts[0], starts[0] + len(step), dtype=np.float64)
        begin -= np.repeat(starts, sizes)
        begin *= step
        begin += np.repeat(origin[run], sizes)
        step += begin  # is where the next one begins
        rows = cells.order[starts[0] : starts[0] + len(step)]
        chosen[rows] = np.floor(step, out=step) > np.floor(begin, out=begin)
    return chosen


def right_guesses(values: Reals, rows: NDArray[np.integer], cells: Cells, hidden: Hidden) -> Reals:
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
    other: NDArray[np.signedinteger] = field(repr=False)
    offsets: Integers = field(repr=False)
    likely: Reals = field(repr=False)


def chunks(rows: NDArray[np.integer], cells: Cells) -> Iterator[slice]:
    """Yield parts of (r,) released records, so small that all pairs of one fit into memory."""
    ends, first = np.cumsum(cells.sizes[cells.own[rows]]), 0
    while first < len(rows):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + _CHUNK, side="right")), first + 1)
        yield slice(first, last)
        first = last


def compare(values: Reals, rows: NDArray[np.integer], cells: Cells, hidden: Hidden) -> Compared:
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
