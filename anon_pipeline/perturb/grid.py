"""The public grid of a perturb column: values as whole multiples of its resolution, and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import slices_of
from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.perturb.budget import exact_fraction

LARGEST = 2**52
"""Grid units up to which every integer, and the half above it, is an exact float64."""

_SNAP = 1e-9


def to_grid(values: NDArray[np.float64], resolution: float) -> NDArray[np.float64]:
    """Return values in grid units, on the integer where they lie on the grid.

    A quotient within 1e-9 of an integer (relative to the quotient where that is above 1) is that integer:
    it differs by the rounding of the division and of the decimals alone. From 5e8 grid units on this
    rounds every value.

    Args:
        values: (n,) in the column's unit.
        resolution: of the grid, in the column's unit, > 0.
    Returns:
        (n,) grid units; NaN and infinities stay.
    Raises:
        PolicyError: a resolution that is not positive and finite.

    >>> to_grid(np.array([172.3, 0.25]), 0.1).tolist()
    [1723.0, 2.5]
    """
    _check_resolution(resolution)
    found = np.asarray(values, np.float64) / resolution
    for part in slices_of(len(found)):
        found[part] = _snap(found[part])
    return found


def _snap(quotients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move quotients onto the integers that they are next to."""
    nearest = np.floor(quotients + 0.5)
    with np.errstate(invalid="ignore"):  # infinity minus infinity is not near
        near = np.abs(quotients - nearest) <= _SNAP * np.maximum(1.0, np.abs(quotients))
    return np.where(near, nearest, quotients)


def quantize(grid: NDArray[np.float64]) -> NDArray[np.int64]:
    """Round grid units to integers by floor(x + ½): a half always goes up.

    Rounding half to even would move two values that are 1 apart to integers 2 apart (0.5 and 1.5 to 0 and
    2), which the noise would have to cover.

    Args:
        grid: (n,) or (n, p) grid units.
    Raises:
        InputError: values that are missing, infinite or beyond ±2^52 (their count).

    >>> quantize(np.array([0.5, 1.5, -0.5])).tolist()
    [1, 2, 0]
    """
    wrong = sum(int((~(np.abs(grid[part]) <= LARGEST)).sum()) for part in slices_of(len(grid)))
    if wrong:
        raise InputError(
            f"values must be finite and within 2^52 grid units of 0, got {wrong} that are not. "
            f"Remove them or use a coarser resolution."
        )
    found = np.empty(grid.shape, np.int64)
    for part in slices_of(len(grid)):
        lower = np.floor(grid[part])
        found[part] = lower + (grid[part] - lower >= 0.5)
    return found


def from_grid(grid: NDArray[np.int64], resolution: float) -> NDArray[np.float64]:
    """Return grid units in the column's unit: the float64 nearest to the exact decimal.

    Args:
        grid: (n,) grid units.
        resolution: of the grid, in the column's unit, > 0.
    Returns:
        (n,) such as 172.3 for 1723 at 0.1, never 172.30000000000001.
    Raises:
        PolicyError: a resolution that is not positive and finite.

    >>> from_grid(np.array([1723, -3]), 0.1).tolist()
    [172.3, -0.3]
    """
    _check_resolution(resolution)
    step = exact_fraction(resolution)
    furthest = max(abs(int(grid.min(initial=0))), abs(int(grid.max(initial=0))))
    if max(furthest, 1) * step.numerator <= 2**53 >= step.denominator:  # both exact: one rounding
        return (grid * step.numerator) / np.float64(step.denominator)
    exact = [int(unit) * step.numerator / step.denominator for unit in grid]  # Python divides exactly too
    return np.array(exact, np.float64)


def _check_resolution(resolution: float) -> None:
    """Refuse a grid without a step."""
    if not (np.isfinite(resolution) and resolution > 0):
        raise PolicyError(f"resolution must be > 0 and finite, got {resolution}. Declare the column's step.")
