"""Linking people by known columns: in a cell the likeliest person is guessed, not the likeliest original.

Belongs here: the people of each cell, whose record a released one most likely is, and the chance that a
person is linked by any record. Not here: what a cell is and how likely an original is (`known_cells`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import pack_columns
from anon_pipeline.base.order import sorted_places
from anon_pipeline.risk.known_cells import TIE, Cells, Hidden, Integers, Reals, chunks, compare

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class CellPeople:
    """The people of each of c cells; one person in one cell is a part, q in all.

    cells: in the order of which the records of a part lie together.
    people: (n,) whose record it is, 0 … P−1.
    parts: (n,) part of each record. starts: (q + 1,) where a part begins in ``cells.order``.
    first: (c + 1,) first part of each cell.
    marks: (P,) random numbers; their sums distinguish sets of people.
    """

    cells: Cells
    people: Integers = field(repr=False)
    parts: Integers = field(repr=False)
    starts: Integers = field(repr=False)
    first: Integers = field(repr=False)
    marks: NDArray[np.uint64] = field(repr=False)

    @property
    def records(self) -> Integers:
        """Records of each part, (q,)."""
        return np.diff(self.starts)

    @property
    def sizes(self) -> Integers:
        """People of each cell, (c,)."""
        return np.diff(self.first)

    @property
    def whose(self) -> Integers:
        """The person of each part, (q,)."""
        people: Integers = self.people[self.cells.order[self.starts[:-1]]]
        return people

    @property
    def most_records(self) -> Integers:
        """Records of the person of each cell with the most, (c,)."""
        return np.maximum.reduceat(self.records, self.first[:-1])


@dataclass(frozen=True, slots=True, eq=False)
class Guesses:
    """Whose record each of r released ones most likely is.

    own: (r,) whether its own person is among the likeliest. ties: (r,) how many these are.
    which: (r,) mark of the set of them; equal for equal sets of a cell.
    """

    own: Flags = field(repr=False)
    ties: Integers = field(repr=False)
    which: NDArray[np.uint64] = field(repr=False)


def people_of_cells(cells: Cells, people: Integers) -> CellPeople:
    """Find the people of each cell.

    Args:
        people: (n,) whose record it is, 0 … P−1.
    """
    order = cells.order[sorted_places(*pack_columns((cells.own[cells.order], people[cells.order])))]
    cell, person = cells.own[order], people[order]
    fresh = (np.diff(cell, prepend=-1) != 0) | (np.diff(person, prepend=-1) != 0)
    begins = np.flatnonzero(fresh)
    parts = np.empty(len(people), np.int64)
    parts[order] = np.cumsum(fresh) - 1
    marks = np.random.default_rng(0).integers(2**64, size=int(people.max()) + 1, dtype=np.uint64)
    first = np.searchsorted(cell[begins], np.arange(len(cells.labels) + 1))
    starts = np.append(begins, len(people)).astype(np.int64)
    return CellPeople(replace(cells, order=order), people, parts, starts, first.astype(np.int64), marks)


def most_people(of: CellPeople, most: Reals) -> Reals:
    """Return how many people of each cell are linked on average at most, (c,).

    Σ_y max_person Σ_(x of the person) P(y | x) records are linked on average: at most the records of the
    person with the most, times Σ_y max_x P(y | x). A linked person has at least one of them.

    Args:
        most: (c,) at least Σ_y max_x P(y | x) of each cell, see `known_cells.most_linked`.
    """
    return np.minimum(of.most_records * most, of.sizes)


def commonest_people(rows: Integers, of: CellPeople) -> Guesses:
    """Guess whoever has the most originals of the cell: right where all of them are equally likely.

    Args:
        rows: (r,) the own original of each released record.
    """
    cell, most = of.cells.own[rows], of.most_records
    with_most = of.records == np.repeat(most, of.sizes)
    ties = np.add.reduceat(with_most.astype(np.int64), of.first[:-1])
    return Guesses(with_most[of.parts[rows]], ties[cell], np.zeros(len(rows), np.uint64))


def likeliest_people(values: Reals, rows: Integers, of: CellPeople, hidden: Hidden) -> Guesses:
    """Guess the likeliest person of the cell: the likelihoods of a person's originals there are added.

    Args:
        values: (r, p + c) released values: numbers in grid units, then codes of categories.
        rows: (r,) the own original of each.
    Source:
        [methods 8.1], known columns.
    """
    whose = of.whose
    own, ties = np.empty(len(rows), np.bool_), np.empty(len(rows), np.int64)
    which = np.empty(len(rows), np.uint64)
    for part in chunks(rows, of.cells):
        likely, at, begins = _likelihoods(values[part], rows[part], of, hidden)
        records = np.bincount(at)
        offsets = np.cumsum(records) - records
        best = np.maximum.reduceat(likely, offsets)
        tied = likely >= best[at] * (1 - TIE)
        person = whose[begins]
        own[part] = np.logical_or.reduceat(tied & (person == of.people[rows[part]][at]), offsets)
        ties[part] = np.add.reduceat(tied.astype(np.int64), offsets)
        which[part] = np.add.reduceat(np.where(tied, of.marks[person], np.uint64(0)), offsets)
    return Guesses(own, ties, which)


def _likelihoods(
    values: Reals, rows: Integers, of: CellPeople, hidden: Hidden
) -> tuple[Reals, Integers, Integers]:
    """Return how likely each released record is of each person of its cell, by pair.

    Returns:
        Of each pair of a record and a part: P(y | person), but for a factor of the record; the record; the
        part.
    """
    compared = compare(values, rows, of.cells, hidden)
    cell = of.cells.own[rows]
    many = of.sizes[cell]
    at = np.repeat(np.arange(len(rows)), many)
    within = np.arange(len(at)) - np.repeat(np.cumsum(many) - many, many)
    part = of.first[cell][at] + within
    begins = compared.offsets[at] + of.starts[part] - of.cells.starts[cell][at]
    largest = np.maximum.reduceat(compared.likely, compared.offsets)
    weights = np.exp(compared.likely - largest[compared.at])
    return np.add.reduceat(weights, begins), at, part


def chance_linked(found: Sequence[tuple[Integers, Guesses]], of: CellPeople) -> Reals:
    """Return the chance of each person that at least one record is correctly guessed to be his, (P,).

    In a tie the guess is drawn by lot, once for all records of a cell with the same likeliest people: who
    cannot distinguish these records names one person for them, and is right with 1 in the number of tied
    people, however many records there are. Lots are independent otherwise.

    Args:
        found: released records and the guesses of them; no cell is in two of these.
    """
    missed = np.ones(len(of.marks))
    for rows, guesses in found:
        sure = np.flatnonzero(guesses.own)
        order = sure[np.lexsort((guesses.which[sure], of.parts[rows[sure]]))]
        part, which = of.parts[rows[order]], guesses.which[order]
        fresh = np.ones(len(order), np.bool_)
        fresh[1:] = (part[1:] != part[:-1]) | (which[1:] != which[:-1])
        lots = order[fresh]
        np.multiply.at(missed, of.people[rows[lots]], 1 - 1 / guesses.ties[lots])
    return 1 - missed
