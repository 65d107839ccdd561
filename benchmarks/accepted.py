"""What it costs to look at the noise: enumerated on classes of two, three and four people.

An attacker knows the values of a class, not whose is whose, and sees the noisy value of each record. By the
law of the noise he takes the likeliest assignment of the values to the records. The gate accepts a release if
the share of the records whose own original is nearest is at most a limit: given that, how often is he right?
All released values are moved to public bounds, so that they are few and nothing is left out.

Belongs here: the enumeration and its table. Does not belong here: the gate, and what it judges
(`evidence.expectation`).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.perturb.mechanisms import Noise, cdf

Values = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A class whose originals are known, its ε, and the limit on the share that was linked.

    bounds: that released values are moved to, grid units.
    """

    values: Values
    epsilon: Fraction
    limit: float
    bounds: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Row:
    """What was enumerated.

    chance: that a release is accepted, whatever is whose.
    before: chance that the likeliest assignment is the right one, of all releases.
    after: the same, of those that were accepted by what the noise realized.
    expected: the mean share linked, which `linking: expected` compares with the limit.
    """

    chance: float
    before: float
    after: float
    expected: float


def accepted(case: Case) -> Row:
    """Enumerate all releases of a class, under each assignment of its values.

    Args:
        case: m different values; (outputs)^m · m! products are computed.
    """
    m, x = len(case.values), np.array(case.values)
    law = _law(case)
    outputs = np.arange(case.bounds[0], case.bounds[1] + 1)
    apart = np.abs(outputs[None, :] - x[:, None])
    near = apart == apart.min(axis=0)  # whether an original is among the nearest of an output, (m, outputs)
    allowed, best, best_allowed, mean = 0.0, np.zeros([]), np.zeros([]), 0.0
    for assignment in itertools.permutations(range(m)):
        chance, linked = np.ones([]), np.zeros([])
        for own in assignment:
            chance = np.multiply.outer(chance, law[own])
            linked = np.add.outer(linked, near[own].astype(float))
        kept = np.where(linked <= case.limit * m + 1e-9, chance, 0.0)
        best, best_allowed = np.maximum(best, chance), np.maximum(best_allowed, kept)
        allowed += float(kept.sum())
        mean += float((chance * linked).sum()) / m
    all_of = math.factorial(m)
    after = float(best_allowed.sum()) / allowed if allowed else math.nan
    return Row(allowed / all_of, float(best.sum()) / all_of, after, mean / all_of)


def _law(case: Case) -> NDArray[np.float64]:
    """Return the chance of each output of each original, (m, outputs)."""
    noise, (low, high) = Noise("discrete_laplace", case.epsilon), case.bounds
    sensitivity = max(case.values) - min(case.values)
    outputs = np.arange(low, high + 1)
    rows = []
    for value in case.values:
        up_to = cdf(noise, outputs - value, sensitivity)
        up_to[-1] = 1.0
        rows.append(np.diff(up_to, prepend=0.0))
    return np.array(rows)


def _case(values: Values, epsilon: int, limit: float) -> Case:
    wide = values[-1] - values[0]
    return Case(values, Fraction(epsilon), limit, (values[0] - wide, values[-1] + wide))


CASES = tuple(
    _case(values, epsilon, limit)
    for values, limits in (((0, 10), (0, 0.5)), ((0, 5, 10), (0, 1 / 3)), ((0, 3, 6, 9), (0, 0.25)))
    for limit in limits
    for epsilon in (1, 2, 4)
)


def table() -> list[str]:
    """Return the rows of the table in docs/attacks.md."""
    names = ["members", "ε", "limit", "accepted", "right, of all", "right, of the accepted"]
    names.append("the mean that is judged by default")
    lines = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    for case in CASES:
        row = accepted(case)
        cells = [f"{len(case.values)}", f"{case.epsilon}", f"{case.limit:.2g}"]
        cells += [f"{number:.3f}" for number in (row.chance, row.before, row.after, row.expected)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    print("\n".join(table()))
