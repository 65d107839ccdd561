"""Which columns single records out: alone, as an identifier does, and in pairs and triples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.order import count_different
from anon_pipeline.risk.uniques import pack_columns

LARGEST_SET = 3
"""Columns of a combination, at most."""

FEWEST = 5
"""Records, or different values, below which nothing counts as singled out, unless it is half of them."""

BUDGET = 10**9
"""Records that may be looked at, all combinations together: some seconds to a minute."""

_VISIT = 1_000  # records that it costs to decide on a combination without counting it

Columns = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Exceeding:
    """Combinations that single out more than they may.

    sets: positions of their columns, sorted; of those that contain one another the smallest.
    complete: whether all combinations were decided on within the budget.
    """

    sets: tuple[Columns, ...]
    complete: bool


def is_identifying(codes: NDArray[np.int64]) -> bool:
    """Tell whether a column has at least half as many different values as values present, and at least five.

    A number of its own for each of two records gives a half: no column that says something of many people
    comes near, and one that is different for each person is far beyond.

    Args:
        codes: (n,) a value's number, −1 where it is missing.
    """
    there = codes[codes >= 0]
    different = count_different(there)
    return different >= FEWEST and 2 * different >= len(there)


def distinct_share(codes: NDArray[np.int64]) -> float:
    """Return the number of different values divided by that of values, in [0, 1]; 0 without values."""
    there = codes[codes >= 0]
    return count_different(there) / len(there) if len(there) else 0.0


def exceeds(singled: int, records: int, allowed: float) -> bool:
    """Tell whether so many of the records are more than may be singled out.

    In a small table a few records are a large share: fewer than five count only where they are half of all.
    """
    return singled > allowed * records and (singled >= FEWEST or 2 * singled >= records)


def exceeding_sets(
    columns: Sequence[NDArray[np.int64]],
    allowed: Callable[[Columns], float],
    *,
    budget: int = BUDGET,
) -> Exceeding:
    """Find the pairs and triples of columns that single out more records than they may.

    A record is singled out if it alone has its values of these columns, of those records that lack none of
    them. A triple is decided on without counting where bounds allow: it singles out at least as many as each
    of its pairs (if the third column lacks no value), and of each pair's equal records at most as many as the
    third column has values.

    Args:
        columns: q arrays (n,), a value's number, −1 where it is missing.
        allowed: from the positions of a combination to the share of its records that it may single out; one
            that may single out all is not looked at.
        budget: records that may be looked at.
    """
    search = _Search(list(columns), allowed, budget)
    for _ in search.decide():
        pass
    return Exceeding(tuple(search.found), search.budget >= 0)


@dataclass(slots=True, eq=False)
class _Search:
    """A walk over all pairs, then all triples; the histograms of the pairs give bounds for the triples.

    budget: what is left of it, below 0 once it is used up.
    """

    columns: list[NDArray[np.int64]] = field(repr=False)
    allowed: Callable[[Columns], float]
    budget: int
    found: list[Columns] = field(default_factory=list)
    pairs: dict[Columns, _Histogram] = field(default_factory=dict, repr=False)
    widths: list[int] = field(default_factory=list)
    full: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.widths = [int(column.max(initial=-1)) + 1 for column in self.columns]
        self.full = [int(column.min(initial=0)) >= 0 for column in self.columns]

    def decide(self) -> Iterator[Columns]:
        """Decide on one combination after the other, until the budget is used up."""
        for size in range(2, LARGEST_SET + 1):
            for chosen in combinations(range(len(self.columns)), size):
                self.budget -= _VISIT
                if self.budget >= 0 and self._open(chosen) and self._exceeds(chosen):
                    self.found.append(chosen)
                if self.budget < 0:
                    return
                yield chosen

    def _open(self, chosen: Columns) -> bool:
        """Tell whether a combination must be decided on: it may not single out all, no part of it exceeds."""
        parts = combinations(chosen, len(chosen) - 1)
        return self.allowed(chosen) < 1 and not any(part in self.found for part in parts)

    def _exceeds(self, chosen: Columns) -> bool:
        rows = self._rows(chosen)
        records = len(self.columns[0]) if rows is None else int(np.count_nonzero(rows))
        share = self.allowed(chosen)
        if not records or not exceeds(self._most(chosen, records), records, share):
            return False
        if exceeds(self._least(chosen), records, share):
            return True
        self.budget -= records
        if self.budget < 0:
            return False
        columns = [self.columns[j] if rows is None else self.columns[j][rows] for j in chosen]
        counted = _histogram(pack_columns(columns, self.widths_of(chosen), tuple(range(len(chosen)))))
        if len(chosen) < LARGEST_SET:
            self.pairs[chosen] = counted
        return exceeds(counted.alone, records, share)

    def widths_of(self, chosen: Columns) -> list[int]:
        """Return the number of values of each of some columns."""
        return [self.widths[j] for j in chosen]

    def _rows(self, chosen: Columns) -> NDArray[np.bool_] | None:
        """Tell which records lack no value; None: all."""
        lacking = [self.columns[j] >= 0 for j in chosen if not self.full[j]]
        return np.logical_and.reduce(lacking) if lacking else None

    def _most(self, chosen: Columns, records: int) -> int:
        """Return how many records can be singled out at most."""
        bounds = [records]
        cells = 1
        for j in chosen:
            cells = min(cells * self.widths[j], records)
        bounds.append(cells)
        for pair, third in self._pairs_of(chosen):
            bounds.append(self.pairs[pair].most_alone(self.widths[third]))
        return min(bounds)

    def _least(self, chosen: Columns) -> int:
        """Return how many records are singled out at least."""
        return max(
            (self.pairs[pair].alone for pair, third in self._pairs_of(chosen) if self.full[third]), default=0
        )

    def _pairs_of(self, chosen: Columns) -> Iterator[tuple[Columns, int]]:
        """Yield the pairs of a triple that were counted, each with the third column."""
        if len(chosen) == LARGEST_SET:
            for third in chosen:
                pair = tuple(j for j in chosen if j != third)
                if pair in self.pairs:
                    yield pair, third


@dataclass(frozen=True, slots=True, eq=False)
class _Histogram:
    """Sizes of cells of equal records, (s,), and how many cells have each, (s,)."""

    sizes: NDArray[np.int64] = field(repr=False)
    cells: NDArray[np.int64] = field(repr=False)

    @property
    def alone(self) -> int:
        """Records that no other equals."""
        return int(self.cells[self.sizes == 1].sum())

    def most_alone(self, width: int) -> int:
        """Return how many records a further column of so many values can leave alone, at most."""
        return int((self.cells * np.minimum(self.sizes, width)).sum())


def _histogram(key: NDArray[np.int64]) -> _Histogram:
    ordered = np.sort(key)
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    sizes, cells = np.unique(np.diff(ends, prepend=-1), return_counts=True)
    return _Histogram(sizes.astype(np.int64), cells.astype(np.int64))
