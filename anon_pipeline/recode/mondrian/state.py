"""What Mondrian's kernels work on: number lines, and where the division of the entries stands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Axes(NamedTuple):
    """The q number lines along which classes are cut.

    coordinates: (x,) where each position lies, all axes end to end; NaN for a missing value.
    starts: (q,) where an axis begins in ``coordinates``.
    spans: (q,) length of the axis, what a width is normalized by; 0 if it is a point.
    """

    coordinates: NDArray[np.float64]
    starts: NDArray[np.int64]
    spans: NDArray[np.float64]


class State(NamedTuple):
    """Where the division of e entries stands; the kernel moves entries so that classes are neighbors.

    cells: (q + a, e) position on each of q axes, then value of each of a sensitive columns.
    weights: (e,) records of each entry.
    entries: (e,) which entry lies at each place.
    begins: (e,) where each finished class begins.
    ends: (e + 1,) where the parts still to be cut end, the nearest last.
    progress: (4,) parts still to be cut, where the nearest begins, finished classes, cuts made.
    cuts: (3, e) at each place where a right half begins: the axis of the cut, the greatest position of its
        left half, its number.
    tried: (≥ q,) axes of the nearest part that have no allowable cut.
    goes_left: (e,) scratch: whether an entry belongs to the left half.
    spare: (e,) scratch: entries of the right half.
    seen: (≥ positions of an axis, values of a sensitive column) scratch, all zero between calls.
    """

    cells: NDArray[np.int32]
    weights: NDArray[np.int64]
    entries: NDArray[np.int64]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    progress: NDArray[np.int64]
    cuts: NDArray[np.int32]
    tried: NDArray[np.bool_]
    goes_left: NDArray[np.bool_]
    spare: NDArray[np.int64]
    seen: NDArray[np.int64]


def initial_state(cells: NDArray[np.int32], weights: NDArray[np.int64], most_values: int) -> State:
    """Return the state before the first cut.

    Args:
        cells: (q + a, e) positions and sensitive values of e ≥ 1 entries in a fixed order; they are moved.
        weights: (e,) records of each, every one ≥ 1; they are moved.
        most_values: positions of the longest axis, or values of a sensitive column if these are more.
    """
    total = len(weights)
    ends = np.zeros(total + 1, np.int64)
    ends[0] = total
    return State(
        cells=cells,
        weights=weights,
        entries=np.arange(total),
        begins=np.empty(total, np.int64),
        ends=ends,
        progress=np.array([1, 0, 0, 0], np.int64),
        cuts=np.empty((3, total), np.int32),
        tried=np.zeros(len(cells), np.bool_),
        goes_left=np.empty(total, np.bool_),
        spare=np.empty(total, np.int64),
        seen=np.zeros(most_values, np.int64),
    )
