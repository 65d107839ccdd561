"""How far the noise moves values: the error that was realized, the error to expect, the spread to compare."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.sums import exact_sum
from anon_pipeline.perturb.discrete_laplace_law import mean_absolute

_LARGEST = 2.0**900  # of what `exact_sum` adds
_QUARTILES = 1.349
"""Distance of the quartiles of a normal distribution, in standard deviations."""


@dataclass(frozen=True, slots=True)
class RealizedError:
    """How far the released values of a column are from their own originals.

    relative: mean |y − x|/|x| over the records with x ≠ 0; None if there is none.
    zeros: records left out because x = 0.
    of_range: mean |y − x| over the range of the column in the input; 0 without an error, None where a
        constant column has one.
    """

    relative: float | None
    zeros: int
    of_range: float | None


def _mean(values: NDArray[np.float64]) -> float:
    """Return the exactly rounded mean, which no order of the records can change."""
    small = float(np.abs(values).max(initial=0.0)) < _LARGEST
    return (exact_sum(values) if small else math.fsum(values.tolist())) / len(values)


def realized_error(released: NDArray[np.float64], own: NDArray[np.float64], *, span: float) -> RealizedError:
    """Measure the error of a released column.

    Args:
        released: (r,) released values.
        own: (r,) original value of each released record, in the same unit.
        span: largest minus smallest value of the column in the input, in the same unit, ≥ 0.
    Raises:
        ValueError: nothing released.
    Source:
        [KE (4)]; [methods 9.2].

    >>> realized_error(np.array([110.0, 5.0]), np.array([100.0, 0.0]), span=100.0)
    RealizedError(relative=0.1, zeros=1, of_range=0.075)
    """
    if len(released) == 0:
        raise ValueError("released must hold a record, got none. Its error is not defined.")
    distance = np.abs(np.asarray(released, np.float64) - own)
    measured = own != 0
    relative = _mean(distance[measured] / np.abs(own[measured])) if measured.any() else None
    mean = _mean(distance)
    of_range = mean / span if span > 0 else (0.0 if mean == 0 else None)
    return RealizedError(relative, len(own) - int(measured.sum()), of_range)


def expected_relative_error(
    originals: NDArray[np.float64],
    labels: NDArray[np.integer],
    *,
    scales: NDArray[np.float64],
    discrete: bool = True,
) -> float | None:
    """Compute the mean of E|y − x|/|x| before any noise is drawn.

    With continuous noise it is [KE (8)], (1/ε)·Σ diam(E)·|E|/(H(E)·n): |E|/H(E) is Σ 1/|x| over the class
    and diam(E)/ε its scale. With discrete noise E|Z| = 2q/(1 − q²) takes the place of the scale. Nothing is
    clamped; with public bounds see `expected_relative_shift`.

    Args:
        originals: (n,) one column, in grid units.
        labels: (n,) class of each original, 0 … m−1; −1 for a record of no class.
        scales: (m,) scale diam/ε of each class, in grid units, ≥ 0.
        discrete: whether the noise is discrete Laplace; otherwise the paper's continuous one.
    Returns:
        The expected error over the records in classes with x ≠ 0; None if there is none.
    Raises:
        ValueError: a class without a scale.
    Source:
        [KE (7), (8)]; [methods 9.2].
    """
    noise = mean_absolute(scales) if discrete else np.asarray(scales, np.float64)
    if int(labels.max(initial=-1)) >= len(noise):
        raise ValueError(f"scales must cover every class, got {len(noise)} for {int(labels.max()) + 1}.")
    shifts = np.zeros(len(labels))
    shifts[labels >= 0] = noise[labels[labels >= 0]]
    return expected_relative_shift(originals, labels, shifts=shifts)


def expected_relative_shift(
    originals: NDArray[np.float64], labels: NDArray[np.integer], *, shifts: NDArray[np.float64]
) -> float | None:
    """Compute the mean of E|y − x|/|x| of any noise, from the E|y − x| of each record.

    Args:
        originals: (n,) one column, in grid units.
        labels: (n,) class of each original, 0 … m−1; −1 for a record of no class.
        shifts: (n,) E|y − x| of each record, in grid units, ≥ 0: `mechanisms.shifts`, bounds included.
    Returns:
        The expected error over the records in classes with x ≠ 0; None if there is none.
    Raises:
        ValueError: a record without a shift.
    Source:
        [KE (7)]; [methods 9.2].
    """
    measured = (labels >= 0) & (originals != 0)
    if len(shifts) != len(originals):
        raise ValueError(f"shifts must be one per record, got {len(shifts)} for {len(originals)}.")
    if not measured.any():
        return None
    return _mean(shifts[measured] / np.abs(originals[measured]))


def shift_over_spread(originals: NDArray[np.float64], shifts: NDArray[np.float64]) -> float:
    """Compute the mean of E|y − x| over the spread of the originals, before any noise is drawn.

    At 1 the noise moves a value as far as the values differ from each other. Values that do not differ
    count as if they differed by a step of the grid.

    Args:
        originals: (n,) one column, in grid units, n ≥ 1.
        shifts: (n,) E|y − x| of each record, in grid units, ≥ 0: `mechanisms.shifts`, bounds included.
    Source:
        [methods 9.2].

    >>> shift_over_spread(np.array([1.0, 2, 3, 4, 5]), np.full(5, math.sqrt(2)))
    1.0
    """
    mean = _mean(shifts)
    return mean / (spread_of(originals) or 1.0)


def spread_of(numbers: NDArray[np.float64]) -> float:
    """Return how far values lie apart: the standard deviation, or that of their middle half if it is less.

    A few huge values make the standard deviation large. That of a normal distribution with the same quartiles
    (their distance / 1.349) takes its place then, unless the quartiles are equal.

    Args:
        numbers: (n,) finite, n ≥ 1.

    >>> spread_of(np.array([1.0, 2, 3, 4, 5])), spread_of(np.array([7.0, 7]))
    (1.4142135623730951, 0.0)
    """
    deviation = float(numbers.std())
    middle = float(np.subtract(*np.quantile(numbers, (0.75, 0.25)))) / _QUARTILES
    return min(deviation, middle) if middle > 0 else deviation
