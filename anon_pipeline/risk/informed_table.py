"""Originals, sorted once, among which attackers who know a method seek released records."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.risk.class_table import digest_of

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class InformedTable:
    """The c originals in classes, sorted once to measure several releases; make it with `informed_table`.

    rows: (d, p) different values of each class, by class and then by the first column.
    counts: (d,) originals of each; ``ranks``: (d, p) rank of each value among all originals, doubled.
    lines: p times (c,) sorted values.
    order: (p,) the column of the table that each is.
    places: (n,) row of each original; −1 for one of no class.
    classes: (m + 1,) where each class begins; ``labels``: (d,).
    who: (n,) whose each original is, 0 …; where records are sought, its own number.
    theirs: (c,) rows by ``who``; ``begin``: where those of each begin.
    """

    rows: Reals = field(repr=False)
    counts: Integers = field(repr=False)
    ranks: Reals = field(repr=False)
    lines: list[Reals] = field(repr=False)
    order: Integers = field(repr=False)
    places: Integers = field(repr=False)
    classes: Integers = field(repr=False)
    labels: NDArray[np.integer] = field(repr=False)
    who: Integers = field(repr=False)
    theirs: Integers = field(repr=False)
    begin: Integers = field(repr=False)


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
    lines = [np.sort(column) for column in rows.T]
    different = [int(np.count_nonzero(np.diff(line))) for line in lines]
    order = np.argsort(-np.array(different, np.int64), kind="stable").astype(np.int64)
    rows, lines = rows[:, order], [lines[j] for j in order]
    turn = np.lexsort((*rows[:, ::-1].T, labels[kept]))
    rows, kept = rows[turn], kept[turn]
    own = labels[kept]
    begins = np.ones(len(kept), np.bool_)
    begins[1:] = (rows[1:] != rows[:-1]).any(axis=1) | (own[1:] != own[:-1])
    first = np.flatnonzero(begins)
    places = np.full(len(labels), -1, np.int64)
    places[kept] = np.cumsum(begins) - 1
    rows, own = np.ascontiguousarray(rows[first]), own[first]
    ranks = np.stack([ranks_in(line, rows[:, j]) for j, line in enumerate(lines)], axis=1) if lines else rows
    who = np.arange(len(labels)) if people is None else people.astype(np.int64)
    theirs = kept[np.argsort(who[kept], kind="stable")]
    begin = np.searchsorted(who[theirs], np.arange(int(who.max(initial=-1)) + 2)).astype(np.int64)
    classes = np.searchsorted(own, np.arange(int(own.max(initial=-1)) + 2)).astype(np.int64)
    counts = np.diff(np.append(first, len(kept))).astype(np.int64)
    return InformedTable(rows, counts, ranks, lines, order, places, classes, own, who, places[theirs], begin)


def ranks_in(line: Reals, values: Reals) -> Reals:
    """Return the rank of each value among the sorted originals, doubled: of equal ones the middle."""
    low, high = (np.searchsorted(line, values, side) for side in ("left", "right"))
    return (low + high).astype(np.float64)
