"""A table before and after, record by record: what every measure of utility is computed from.

Row i is input record i in all arrays; a record that is not released has code −1, or NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.hierarchy.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True, eq=False)
class Generalized:
    """A generalized column: n cells, v distinct released values.

    hierarchy: D leaves.
    own: (n,) leaf of each record of the input.
    codes: (n,) released value of each record; −1 for one that is not released.
    low, high: (v,) first and last leaf that the original may be, for what is lost.
    levels: (v,) level of each value; −1 for a range or a mean, which is on none.
    first, last: (v,) first and last leaf that the value says, for what an analyst reads.
    means: (v,) the number that a value is, NaN where it is none; only microaggregation releases such.
    """

    hierarchy: Hierarchy
    own: NDArray[np.int64] = field(repr=False)
    codes: NDArray[np.int64] = field(repr=False)
    low: NDArray[np.int64] = field(repr=False)
    high: NDArray[np.int64] = field(repr=False)
    levels: NDArray[np.int64] = field(repr=False)
    first: NDArray[np.int64] = field(repr=False)
    last: NDArray[np.int64] = field(repr=False)
    means: NDArray[np.float64] = field(repr=False)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Released records of each value, (v,)."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.low)).astype(np.int64)

    @property
    def span(self) -> float:
        """Largest minus smallest number or rank in the input; 0 for one value and for categories."""
        places = self.hierarchy.places
        own = np.empty(0) if places is None else places[np.unique(self.own)]
        own = own[~np.isnan(own)]
        return float(own.max() - own.min()) if len(own) else 0.0

    def only(self, kept: NDArray[np.bool_]) -> Generalized:
        """Return the column with the released records that are kept alone, (n,)."""
        return replace(self, codes=np.where(kept, self.codes, -1))

    def midpoints(self) -> NDArray[np.float64]:
        """Return the number that stands for each value, (v,): itself, or the middle of its range.

        NaN for a missing value; numbers and ranks only.
        """
        places = self.hierarchy.places
        assert places is not None  # noqa: S101 - callers ask for lines alone
        known = np.flatnonzero(~np.isnan(places))
        last = np.minimum(self.last, known.max(initial=-1))
        middle = places[self.first] / 2 + places[last] / 2
        return np.where(np.isnan(self.means), middle, self.means)

    def shares(self, least: int, most: int) -> NDArray[np.float64]:
        """Return how much of each value lies in a range of leaves, (v,), each in [0, 1].

        A value counts by the share of the leaves that it says: one out of four is 0.25. A mean is in the
        range or not.

        Args:
            least: first leaf of the range, ``most``: the last one.
        """
        within = np.minimum(self.last, most) - np.maximum(self.first, least) + 1
        shares: NDArray[np.float64] = np.maximum(within, 0) / (self.last - self.first + 1)
        if np.isnan(self.means).all():
            return shares
        places = self.hierarchy.places
        assert places is not None  # noqa: S101 - only lines have means
        known = places[least : most + 1]
        known = known[~np.isnan(known)]
        inside = (self.means >= known.min(initial=np.inf)) & (self.means <= known.max(initial=-np.inf))
        mixed: NDArray[np.float64] = np.where(np.isnan(self.means), shares, inside)
        return mixed


Pair = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Columns of the n records before, and of the r released ones after."""


def line_numbers(column: Generalized) -> Pair:
    """Return the numbers or ranks of a generalized column, (n,) and (r,); NaN for missing."""
    places = column.hierarchy.places
    assert places is not None  # noqa: S101 - callers ask for lines alone
    return places[column.own], column.midpoints()[column.codes[column.codes >= 0]]


@dataclass(frozen=True, slots=True, eq=False)
class Numeric:
    """A column of numbers: with noise, or released as it is.

    own: (n,) numbers of the input; NaN for missing.
    released: (n,) released numbers; NaN for a record that is not released.
    """

    own: NDArray[np.float64] = field(repr=False)
    released: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """n records of the input, and what is released of them.

    kept: (n,) whether a record is released.
    generalized, perturbed, numbers: columns by name; ``numbers`` are released as they are.
    categories: (n,) category of each record, 0 … c−1, in columns that are released as they are.
    """

    kept: NDArray[np.bool_] = field(repr=False)
    generalized: Mapping[str, Generalized] = field(default_factory=dict)
    perturbed: Mapping[str, Numeric] = field(default_factory=dict)
    numbers: Mapping[str, Numeric] = field(default_factory=dict)
    categories: Mapping[str, NDArray[np.int64]] = field(default_factory=dict, repr=False)

    def in_order(self) -> Table:
        """Sort the records by what they are before and after.

        Two records in each other's place are then equal in everything, so that no result can depend on the
        order of the rows: not a sum of floats, not a split into training and test records.
        """
        keys: list[NDArray[Any]] = [column.own for column in self.generalized.values()]
        keys += [column.own for column in (*self.perturbed.values(), *self.numbers.values())]
        keys += [*self.categories.values()]
        keys += [self.kept, *(column.codes for column in self.generalized.values())]
        keys += [column.released for column in self.perturbed.values()]
        return self.take_rows(np.lexsort(keys[::-1]))

    def take_rows(self, rows: NDArray[np.int64]) -> Table:
        """Return some records, in the order of ``rows``."""

        def numeric(columns: Mapping[str, Numeric]) -> dict[str, Numeric]:
            """Return these records of columns of numbers."""
            return {name: Numeric(c.own[rows], c.released[rows]) for name, c in columns.items()}

        return Table(
            self.kept[rows],
            {n: replace(c, own=c.own[rows], codes=c.codes[rows]) for n, c in self.generalized.items()},
            numeric(self.perturbed),
            numeric(self.numbers),
            {name: own[rows] for name, own in self.categories.items()},
        )


def all_lines(table: Table) -> Pair:
    """Return all p columns of numbers and ranks, (n, p) before and (r, p) after; NaN for missing."""
    lines = [c for c in table.generalized.values() if c.hierarchy.places is not None]
    pairs = [line_numbers(column) for column in lines]
    pairs += [(c.own, c.released[table.kept]) for c in (*table.perturbed.values(), *table.numbers.values())]
    before = np.stack([np.empty(len(table.kept)), *(pair[0] for pair in pairs)], axis=1)[:, 1:]
    after = np.stack([np.empty(int(table.kept.sum())), *(pair[1] for pair in pairs)], axis=1)[:, 1:]
    return before, after
