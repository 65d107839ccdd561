"""Originals, sorted once, among which attackers who know a method seek released records."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.order import sort_keys, sorted_places
from anon_pipeline.risk.class_table import digest_of

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

_LARGEST_KEY: Final = 2**62


class Line(NamedTuple):
    """A column of c originals as its different values, among which others are found without a long search.

    values: (u,) ascending; ``before``: (u + 1,) originals that are less than each, and at the end of all.
    """

    values: Reals
    before: Integers


@dataclass(frozen=True, slots=True, eq=False)
class InformedTable:
    """The c originals in classes, sorted once to measure several releases; make it with `informed_table`.

    rows: (d, p) different values of each class, by class and then by the first column.
    counts: (d,) originals of each; ``ranks``: (d, p) rank of each value among all originals, doubled.
    lines: p columns with the different values; ``variances``: (2, p) of ``rows``, and of what `logarithms`
        makes of them.
    order: (p,) the column of the table that each is.
    places: (n,) row of each original; −1 for one of no class.
    classes: (m + 1,) where each class begins; ``labels``: (d,).
    who: (n,) whose each original is, 0 …; where records are sought, its own number.
    theirs: (c,) rows by ``who``; ``begin``: where those of each begin.
    """

    rows: Reals = field(repr=False)
    counts: Integers = field(repr=False)
    ranks: Reals = field(repr=False)
    lines: list[Line] = field(repr=False)
    variances: Reals = field(repr=False)
    order: Integers = field(repr=False)
    places: Integers = field(repr=False)
    classes: Integers = field(repr=False)
    labels: NDArray[np.integer] = field(repr=False)
    who: Integers = field(repr=False)
    theirs: Integers = field(repr=False)
    begin: Integers = field(repr=False)

    @property
    def records(self) -> int:
        """Originals in classes (c)."""
        return len(self.theirs)

    @property
    def alone(self) -> bool:
        """Whether nobody has several originals."""
        return int(np.diff(self.begin).max(initial=0)) <= 1


@dataclass(frozen=True, slots=True, eq=False)
class InformedTables:
    """What `informed_table` made last of some records: several releases of them are measured by one table."""

    _made: list[tuple[bytes, InformedTable]] = field(default_factory=list, repr=False)

    def table(
        self, originals: Reals, labels: NDArray[np.integer], people: NDArray[np.integer] | None = None
    ) -> InformedTable:
        """Return what `informed_table` returns; the people of the records are always the same."""
        asked = digest_of(originals, labels)
        if not self._made or self._made[0][0] != asked:
            self._made[:] = [(asked, informed_table(originals, labels, people))]
        return self._made[0][1]


def informed_table(
    originals: NDArray[np.number], labels: NDArray[np.integer], people: NDArray[np.integer] | None = None
) -> InformedTable:
    """Sort originals; the arguments are those of `informed_linking.informed_linking`.

    Raises:
        ValueError: a record of a class lacks a finite value.
    """
    kept = np.flatnonzero(labels >= 0)
    rows = np.asarray(originals[kept], np.float64)
    if not np.isfinite(rows).all():
        raise ValueError("originals must have finite values in every class, got others")
    lines = [_line(column) for column in rows.T]
    order = np.argsort([-len(line.values) for line in lines], kind="stable").astype(np.int64)
    rows, lines = rows[:, order], [lines[j] for j in order]
    numbers = [np.searchsorted(line.values, rows[:, j]) for j, line in enumerate(lines)]
    turn, begins = _sorted_rows([labels[kept].astype(np.int64), *numbers])
    rows, kept = rows[turn], kept[turn]
    first = np.flatnonzero(begins)
    places = np.full(len(labels), -1, np.int64)
    places[kept] = np.cumsum(begins) - 1
    rows, own = np.ascontiguousarray(rows[first]), labels[kept[first]]
    ranks = np.stack([ranks_in(line, rows[:, j]) for j, line in enumerate(lines)], axis=1) if lines else rows
    who = np.arange(len(labels)) if people is None else people.astype(np.int64)
    many = int(who.max(initial=-1)) + 1
    theirs = kept[sorted_places(who[kept], many)]
    begin = np.append(0, np.cumsum(np.bincount(who[kept], minlength=many))).astype(np.int64)
    classes = np.searchsorted(own, np.arange(int(own.max(initial=-1)) + 2)).astype(np.int64)
    counts = np.diff(np.append(first, len(kept))).astype(np.int64)
    variances = np.stack([rows.var(axis=0), logarithms(rows).var(axis=0)]) if len(rows) else np.zeros((2, 0))
    return InformedTable(
        rows, counts, ranks, lines, variances, order, places, classes, own, who, places[theirs], begin
    )


def logarithms(values: Reals) -> Reals:
    """Return ln of the numbers and 1, with their signs: factors become differences."""
    found: Reals = np.sign(values) * np.log1p(np.abs(values))
    return found


def _sorted_rows(columns: list[Integers]) -> tuple[Integers, NDArray[np.bool_]]:
    """Sort rows of numbers ≥ 0, equal ones as they stand, by the first column, then by the next ones.

    Args:
        columns: q ≥ 1 times (c,).
    Returns:
        (c,) the rows in that order, and whether each differs from the one before.
    """
    spaces = [int(column.max(initial=0)) + 1 for column in columns]
    if math.prod(spaces) < _LARGEST_KEY:
        keys = np.zeros(len(columns[0]), np.int64)
        for column, space in zip(columns, spaces, strict=True):
            keys *= space
            keys += column
        ordered, turn = sort_keys(keys, math.prod(spaces))
        return turn, np.append(True, ordered[1:] != ordered[:-1])[: len(turn)]
    turn = np.lexsort(columns[::-1])
    fresh = np.ones(len(turn), np.bool_)
    fresh[1:] = np.any([column[turn[1:]] != column[turn[:-1]] for column in columns], axis=0)
    return turn, fresh


def _line(column: Reals) -> Line:
    """Count the values of a column that are less than each of its different ones."""
    ordered = np.sort(column)
    fresh = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    first = np.flatnonzero(fresh)
    return Line(ordered[first], np.append(first, len(ordered)).astype(np.int64))


def ranks_in(line: Line, values: Reals) -> Reals:
    """Return the rank of each value among the originals, doubled: of equal ones the middle."""
    places = np.searchsorted(line.values, values)
    known = line.values.take(places, mode="clip") == values if len(line.values) else places < 0
    return (line.before[places] + line.before[places + known]).astype(np.float64)
