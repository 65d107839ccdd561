"""What ε promises, by enumeration: exact log-likelihood ratios of what is published, of small classes.

Everything is computed here from the laws' formulas alone, not by the code that it is held against. `python -m
benchmarks.epsilon` prints the numbers that the docs name.
Belongs here: ratios of one release (`OneClass`) and of releases that follow each other (`published_ratio`).
Does not belong here: what follows from them (the tests, ADR 32).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

Law = Callable[[int, int], float]
"""The logarithm of the mass of the noise z (grid units) where it must hide D grid units; −∞ for none."""


def laplace(epsilon: float) -> Law:
    """Return the law of discrete Laplace noise of scale D/ε: mass tanh(ε/2D)·exp(−ε|z|/D)."""

    def mass(z: int, wide: int) -> float:
        if wide == 0:
            return 0.0 if z == 0 else -math.inf
        return math.log(math.tanh(epsilon / (2 * wide))) - abs(z) * epsilon / wide

    return mass


def staircase(epsilon: float) -> Law:
    """Return the law of staircase noise: by exp(ε) less from step to step, D wide."""

    def mass(z: int, wide: int) -> float:
        if wide == 0:
            return 0.0 if z == 0 else -math.inf
        middle = max(math.ceil(wide / (1 + math.exp(epsilon / 2))), 1)
        beta = 1 / math.expm1(epsilon)
        step = 0 if abs(z) < middle else (abs(z) - middle) // wide + 1
        return -math.log(2 * middle - 1 + 2 * wide * beta) - epsilon * step

    return mass


def gaussian(sigma: Callable[[int], float]) -> Law:
    """Return the law of discrete Gaussian noise: mass proportional to exp(−z²/(2σ²)).

    Args:
        sigma: σ in grid units by D.
    """

    @lru_cache
    def known(wide: int) -> tuple[float, float]:
        s = sigma(wide)
        reach = int(40 * s) + 1
        masses = (math.exp(-0.5 * (i / s) ** 2) for i in range(-reach, reach + 1)) if s else (1.0,)
        return s, math.log(math.fsum(masses))

    def mass(z: int, wide: int) -> float:
        s, whole = known(wide)
        if s == 0:
            return 0.0 if z == 0 else -math.inf
        return -0.5 * (z / s) ** 2 - whole

    return mass


def uniform(epsilon: float) -> Law:
    """Return the law of uniform noise on −w … w, w the nearest whole number to 2D/ε."""

    def mass(z: int, wide: int) -> float:
        half = max(math.floor(2 * wide / epsilon + 0.5), 1) if wide else 0
        return -math.log(2 * half + 1) if abs(z) <= half else -math.inf

    return mass


def log_ratio(one: float, other: float) -> float:
    """Return log(P/Q) of two logarithms; −∞ where P is 0, and ∞ where Q alone is."""
    return -math.inf if one == -math.inf else one - other


# One release of one class.


@dataclass(frozen=True, slots=True)
class OneClass:
    """A class that is fixed: its members' original values, and what is drawn for them.

    members: one tuple of whole grid units per record, a number per column.
    laws: of each column's noise.
    hides: D of each column; None: the diameter of the class.
    radius: of each column's confidence interval, grid units; None: no suppression by confidence.
    k: fewest originals in the interval of a record that stays, unless there are none.
    further: grid units further out that rows are looked at, for laws whose ratio changes there.
    people: whose record each member is, for k people; None: each is somebody else's.
    """

    members: tuple[tuple[int, ...], ...]
    laws: tuple[Law, ...]
    hides: tuple[int, ...] | None = None
    radius: tuple[float, ...] | None = None
    k: int = 2
    further: int = 0
    people: tuple[int, ...] | None = None

    def wide(self) -> tuple[int, ...]:
        """Return what the noise of each column must hide."""
        if self.hides is not None:
            return self.hides
        return tuple(max(column) - min(column) for column in zip(*self.members, strict=True))

    def shown(self) -> Iterator[tuple[int, ...]]:
        """Yield every released row within reach of the members: beyond, ratios repeat."""
        spans = []
        for j, wide in enumerate(self.wide()):
            column = [member[j] for member in self.members]
            reach = self.further + 2 * wide + 2 + (0 if self.radius is None else math.ceil(self.radius[j]))
            spans.append(range(min(column) - reach, max(column) + reach + 1))
        return itertools.product(*spans)

    def mass(self, row: tuple[int, ...], member: tuple[int, ...]) -> float:
        """Return the log-probability that the noise makes this row of this member."""
        drawn = zip(self.laws, self.wide(), row, member, strict=True)
        return sum(law(y - x, wide) for law, wide, y, x in drawn)

    def stays(self, row: tuple[int, ...]) -> bool:
        """Tell whether a released row stays: no original in its interval, or at least k."""
        if self.radius is None:
            return True
        near = [
            all(abs(y - x) <= reach for y, x, reach in zip(row, member, self.radius, strict=True))
            for member in self.members
        ]
        whose = range(len(near)) if self.people is None else self.people
        inside = len({person for person, is_near in zip(whose, near, strict=True) if is_near})
        return inside == 0 or inside >= self.k

    def leaving(self, member: tuple[int, ...]) -> float:
        """Return the probability that a member's row does not stay; such rows are near the members."""
        gone = (self.mass(row, member) for row in self.shown() if not self.stays(row))
        return math.fsum(map(math.exp, gone))

    def pairs(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield every two members with different values."""
        return itertools.permutations(sorted(set(self.members)), 2)

    def row_ratio(self) -> float:
        """Return the largest log ratio of one row, for two members, before anybody looks whether it stays."""
        return self._worst([*self.shown()], dict.fromkeys(self.members, 0.0))

    def released_ratio(self) -> float:
        """Return the largest log ratio of one row, for two members, given that it stays."""
        kept = {member: math.log1p(-self.leaving(member)) for member in set(self.members)}
        return self._worst([row for row in self.shown() if self.stays(row)], kept)

    def _worst(self, rows: list[tuple[int, ...]], kept: dict[tuple[int, ...], float]) -> float:
        """Return the largest log ratio of some rows, given that one of them is released."""
        masses = {x: [self.mass(row, x) - kept[x] for row in rows] for x in set(self.members)}
        found = (map(log_ratio, masses[a], masses[b]) for a, b in self.pairs())
        return max(itertools.chain.from_iterable(found), default=0.0)

    def delta(self, epsilon: float, *, released: bool = False) -> float:
        """Return the least δ with P(A) ≤ e^ε·Q(A) + δ for all sets of rows and two members.

        Args:
            epsilon: ≥ 0.
            released: whether P and Q are given that the row stays.
        """
        rows = [row for row in self.shown() if not released or self.stays(row)]
        kept = {x: math.log1p(-self.leaving(x)) if released else 0.0 for x in set(self.members)}
        return max(
            math.fsum(
                max(
                    math.exp(self.mass(y, a) - kept[a]) - math.exp(epsilon + self.mass(y, b) - kept[b]),
                    0.0,
                )
                for y in rows
            )
            for a, b in self.pairs()
        )


def rows_of_a_person(known: OneClass, rows: int, *, released: bool = False) -> float:
    """Return the largest log ratio of several rows at once, each of one member or of another.

    All rows are in one class, which is the worst that there is: rows in several classes have their own noise.

    Args:
        rows: of the person, 1 or more; the work grows with their power.
        released: whether the probabilities are given that all of these rows stay.
    """
    shown = [row for row in known.shown() if not released or known.stays(row)]
    kept = {x: math.log1p(-known.leaving(x)) if released else 0.0 for x in set(known.members)}
    mass = {x: [known.mass(row, x) - kept[x] for row in shown] for x in kept}
    values = [*itertools.product(sorted(kept), repeat=rows)]
    worst = 0.0
    for drawn in itertools.product(range(len(shown)), repeat=rows):
        told = [sum(mass[x][y] for x, y in zip(each, drawn, strict=True)) for each in values]
        worst = max(worst, log_ratio(max(told), min(told)))
    return worst


def exchanged_rows(known: OneClass, *, given: bool = False) -> float:
    """Return the largest log ratio of the table as it is released, when two members exchange their rows.

    The rows of the others, and which rows are missing, are part of the table. A class that is left with fewer
    than k rows is suppressed as a whole.

    Args:
        known: the class; the attacker knows whose each row is.
        given: whether the probabilities are given that both rows are released.
    """
    rows = [row for row in known.shown() if known.stays(row)]
    kept = {member: 1 - known.leaving(member) for member in set(known.members)}
    worst = 0.0
    for one, other in itertools.permutations(range(len(known.members)), 2):
        a, b = known.members[one], known.members[other]
        if a == b:
            continue
        towards = max(log_ratio(known.mass(y, a), known.mass(y, b)) for y in rows)
        back = max(log_ratio(known.mass(y, b), known.mass(y, a)) for y in rows)
        if given:  # both stay with the same probability, however they are exchanged
            worst = max(worst, towards + back)
            continue
        missing = {x: math.log(1 - kept[x]) if kept[x] < 1 else -math.inf for x in (a, b)}
        worst = max(worst, towards + back)
        if missing[a] > -math.inf and missing[b] > -math.inf:
            worst = max(worst, towards + missing[b] - missing[a], back + missing[a] - missing[b])
    return worst


def replaced_value(values: Sequence[int], position: int, other: int, epsilon: float) -> float:
    """Return the largest log ratio of the whole table, had a record another value.

    The noise is discrete Laplace, scaled to the class: another value may change the scale of all rows. Looked
    at are rows within the range of the class; beyond it the ratio has no bound.

    Args:
        values: of the class, grid units.
        position: of the record.
        other: its other value.
        epsilon: of the column.
    """
    changed = [*values]
    changed[position] = other
    law, spans = laplace(epsilon), [max(each) - min(each) for each in (values, changed)]
    rows = range(min(values), max(values) + 1)
    return sum(
        max(log_ratio(law(y - x, spans[0]), law(y - z, spans[1])) for y in rows)
        for x, z in zip(values, changed, strict=True)
    )


# Releases that follow each other.


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw of noise for one record: its value, and what the noise had to hide."""

    value: int
    wide: int


def published_ratio(one: Sequence[Draw], other: Sequence[Draw], epsilon: float) -> float:
    """Return the largest log ratio of all that is published of a record, in two worlds.

    Draws are independent, and a draw published again reveals nothing new: it is the sum over the draws.
    Of discrete Laplace noise each is piecewise linear in what is published, with bends at the two values.

    Args:
        one: draws in the first world, in their order.
        other: draws in the second world, the same number.
        epsilon: of the column.
    Returns:
        The supremum over everything that can be published; ∞ where there is none.
    """
    law, total = laplace(epsilon), 0.0
    for a, b in zip(one, other, strict=True):
        if a.wide > b.wide:  # the tails of the first are the heavier ones
            return math.inf
        total += max(
            log_ratio(law(y - a.value, a.wide), law(y - b.value, b.wide)) for y in (a.value, b.value)
        )
    return total


def main() -> None:
    """Print the numbers that the docs name."""
    law = laplace(8.0)
    known = OneClass(((6,), (10,), (10,), (10,)), (law,), radius=(math.log(10) * 4 / 8,), k=3)
    print(f"one row, class 6, 10, 10, 10, ε = 8: {known.row_ratio() / 8:.3f} ε")
    print(f"given that it was released (k = 3, c = 0.9): {known.released_ratio() / 8:.3f} ε")
    print(f"two rows exchanged: {exchanged_rows(known) / 8:.3f} ε")
    for epsilon in (1.0, 2.0, 4.0):
        worst = replaced_value((0, 2, 8), 2, 2, epsilon)
        print(f"another value of the record, class 0, 2, 8 (8 becomes 2), ε = {epsilon:g}: {worst:.2f}")
    law = laplace(1.0)
    far = law(0, 1000) - law(1000 - 5, 10)
    print(f"sticky noise, 0 … 10 joined by 1,000, ε = 1: {far:.1f}")


if __name__ == "__main__":
    main()
