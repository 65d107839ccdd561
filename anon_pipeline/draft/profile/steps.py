"""Public steps: 1, 2 and 5 times a power of ten, by which numbers are made coarser.

Widths and bounds of a policy are such steps and multiples of them, so that they do not quote the data.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

_BASES = (1, 2, 5)
_LEVELS = 4
_FEWEST_BEYOND = 20


def step_from(width: float) -> float:
    """Return the smallest public step of at least a width.

    >>> step_from(3), step_from(0.07), step_from(5)
    (5.0, 0.1, 5.0)
    """
    exponent = math.floor(math.log10(width))
    for power in (exponent, exponent + 1):
        for base in _BASES:
            step = float(base * Fraction(10) ** power)
            if step >= width * (1 - 1e-9):
                return step
    raise AssertionError("the next power of ten is larger")


def nested_steps(width: float, span: float, *, levels: int = _LEVELS) -> tuple[float, ...]:
    """Return public steps from a width on, each a multiple of the one before, below a span.

    >>> nested_steps(5, 80), nested_steps(1, 30)
    ((5.0, 10.0, 20.0), (1.0, 2.0, 10.0, 20.0))
    """
    found = [Fraction(repr(step_from(width)))]
    candidate = found[0]
    while len(found) < levels:
        candidate = Fraction(repr(step_from(float(candidate) * 1.01)))
        if candidate >= span:
            break
        if (candidate / found[-1]).denominator == 1:
            found.append(candidate)
    return tuple(map(float, found))


def inner_bounds(
    numbers: NDArray[np.float64], step: float, *, fewest: int = _FEWEST_BEYOND
) -> tuple[float | None, float | None]:
    """Return bounds, multiples of a step, with at least so many records at or beyond each.

    They are moved inwards: that many records are like the outermost one. None where a bound would cut nothing
    off, or where there are too few records.

    Args:
        numbers: (n,) finite.
    """
    if len(numbers) < 10 * fewest:
        return None, None
    ordered = np.sort(numbers)
    share = max(fewest, len(numbers) // 200)
    low = _multiple(float(ordered[share - 1]), step, up=True)
    high = _multiple(float(ordered[-share]), step, up=False)
    if low >= high:
        return None, None
    return (low if ordered[0] < low else None), (high if ordered[-1] > high else None)


def _multiple(number: float, step: float, *, up: bool) -> float:
    exact = Fraction(number) / Fraction(repr(step))
    return float((math.ceil(exact) if up else math.floor(exact)) * Fraction(repr(step)))
