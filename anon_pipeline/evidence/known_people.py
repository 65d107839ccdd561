"""What an attacker with known columns links of people who have several records: the mean over the noise.

The value is the share of the people with a released record of whom at least one record is correctly linked. A
bound replaces large cells whose records noise hardly distinguishes: it is added for each cell, also
for who is linked in several, and so never too low. Of the people whose records are compared with many others
a sample is looked at, with all their records; the standard error includes it. Else it is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.order import count_different
from anon_pipeline.evidence.expectation import Expectation
from anon_pipeline.risk.known_cells import CLOSE, Cells, Hidden, most_linked
from anon_pipeline.risk.known_people import (
    CellPeople,
    chance_linked,
    commonest_people,
    likeliest_people,
    most_people,
    people_of_cells,
)
from anon_pipeline.risk.strata import combined_ratio

DRAWS = 8
"""Releases that are drawn: a person is in several classes, so that only whole draws are independent."""

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A release that could have been drawn, as an attacker sees it.

    values: (r, p + c) numbers in grid units, then codes of the categories whose originals are known.
    rows: (r,) the own original of each; both in any type that holds them.
    """

    values: NDArray[Any] = field(repr=False)
    rows: NDArray[Any] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class PeopleAttack:
    """The people of the cells of one set of known columns, and what of them is compared.

    hidden: the originals of drawn values.
    alike: (c,) whether all originals of a cell are equally likely, whatever is released.
    most: (c,) people of each cell who are linked on average at most.
    """

    of: CellPeople
    hidden: Hidden = field(repr=False)
    alike: Flags = field(repr=False)
    most: Reals = field(repr=False)

    def over_noise(self, draws: Sequence[Shown], pairs: int) -> Expectation:
        """Return the share of the people with a released record who are linked, on average over the noise.

        Args:
            draws: some releases, at least one.
            pairs: of a record and an original that are compared, about, all draws together.
        Returns:
            The mean, or a bound above it; its standard error; how often noise was drawn (0: it is exact).
        """
        bounded = ~self.alike & (self.most <= CLOSE * self.of.sizes)
        looked, random = ~self.alike & ~bounded, np.random.default_rng(0)
        chances = self._chances(looked, pairs // len(draws))
        linked, there = np.zeros((2, len(draws), 1))
        ever = np.zeros(len(bounded), np.bool_)
        for number, drawn in enumerate(draws):
            ever[self.of.cells.own[drawn.rows]] = True
            linked[number] = self._count_linked(drawn.values, drawn.rows, looked, _sample(chances, random))
            there[number] = count_different(self.of.people[drawn.rows])
        linked += self.most[bounded & ever].sum()
        if not self.hidden.drawn:
            return Expectation(min(float(linked.sum() / there.sum()), 1.0))
        mean, error = combined_ratio(linked, there)
        heaviest = float((1 / chances).max())
        return Expectation(min(mean, 1.0), max(error, heaviest / float(there.sum())), len(draws))

    def realized_share(self, values: Reals, rows: Integers, pairs: int) -> float:
        """Return the share of the people with a released record who are linked by it, ties by lot.

        Args:
            values: (r, p + c) released values: numbers in grid units, then codes of categories.
            rows: (r,) the own original of each.
            pairs: of a record and an original that are compared, about.
        """
        chosen = _sample(self._chances(~self.alike, pairs), np.random.default_rng(0))
        linked = self._count_linked(values, rows, ~self.alike, chosen)
        return min(linked / count_different(self.of.people[rows]), 1.0)

    def _count_linked(self, values: Reals, rows: Integers, looked: Flags, chosen: Reals) -> float:
        """Return how many people are linked by their records in cells that are looked at or alike.

        Args:
            chosen: (P,) how many each person stands for; 0: not looked at.
        """
        cell, mine = self.of.cells.own[rows], chosen[self.of.people[rows]] > 0
        compared, alike = np.flatnonzero(looked[cell] & mine), np.flatnonzero(self.alike[cell] & mine)
        guesses = likeliest_people(values[compared], rows[compared], self.of, self.hidden)
        found = [(rows[compared], guesses), (rows[alike], commonest_people(rows[alike], self.of))]
        return float(chance_linked(found, self.of) @ chosen)

    def _chances(self, looked: Flags, pairs: int) -> Reals:
        """Return the chance of each person to be in the sample, (P,): the less, the more it costs."""
        cells, people = self.of.cells, self.of.people
        costs = np.bincount(people, weights=np.where(looked, cells.sizes, 0)[cells.own])
        most = max(float(costs.max()), 1.0)
        while most > 1 and float(np.minimum(costs, most).sum()) > pairs:
            most /= 2
        return np.minimum(most / np.maximum(costs, most), 1.0)


def people_attack(cells: Cells, people: Integers, hidden: Hidden) -> PeopleAttack:
    """Prepare the attack for one set of known columns.

    Args:
        people: (n,) whose record each of the n in the cells is, 0 … P−1, each of them there.
        hidden: the originals of drawn values.
    """
    of, most = people_of_cells(cells, people), most_linked(cells, hidden)
    return PeopleAttack(of, hidden, most <= 1, most_people(of, most))


def in_order(people: Integers) -> Integers:
    """Number people by their first record, so that samples of them do not depend on their ids.

    >>> in_order(np.array([7, 7, 3, 9, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    _, first, found = np.unique(people, return_index=True, return_inverse=True)
    ranks = np.empty(len(first), np.int64)
    ranks[np.argsort(first)] = np.arange(len(first))
    return ranks[found]


def _sample(chances: Reals, random: np.random.Generator) -> Reals:
    """Choose people, evenly from a random start; return how many each stands for, (P,), 0 if not chosen."""
    ends = np.cumsum(np.append(random.random(), chances))
    chosen = np.diff(np.floor(ends)) > 0
    return np.where(chosen | (chances >= 1), 1 / chances, 0.0)
