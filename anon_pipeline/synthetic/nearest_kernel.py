"""The nearest of many records to each of some, over columns of numbers and of categories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel


def nearest(
    targets: NDArray[np.float64],
    others: NDArray[np.float64],
    numeric: NDArray[np.bool_],
    *,
    left_out: int = -1,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distance from each target to the nearest of the others, (t,), and which one that is, (t,).

    The distance is the sum over columns of |difference| of numbers, and of 1 for different categories.

    Args:
        targets: (t, p); ``others``: (o, p), o ≥ 1.
        numeric: (p,) whether a column has numbers.
        left_out: column that does not count; −1: none.
    """
    used = np.array([at for at in range(targets.shape[1]) if at != left_out], np.int64)
    kinds = numeric[used]
    keys = [np.ascontiguousarray(table[:, used][:, kinds].sum(axis=1)) for table in (targets, others)]
    order = np.argsort(keys[1], kind="stable")
    distances, places = np.zeros(len(targets)), np.zeros(len(targets), np.int64)
    tables = [np.ascontiguousarray(table) for table in (targets[:, used], others[order][:, used])]
    _search(tables[0], tables[1], kinds, (keys[0], keys[1][order]), distances, places)
    return distances, order[places]


@kernel
def _search(
    targets: NDArray[np.float64],
    others: NDArray[np.float64],
    numeric: NDArray[np.bool_],
    keys: tuple[NDArray[np.float64], NDArray[np.float64]],
    distances: NDArray[np.float64],
    places: NDArray[np.int64],
) -> None:
    """Search outwards from where a target's key is among those of the others, which are in their order.

    The key is the sum of a record's numbers: two records are at least as far apart as their keys.
    """
    columns, many = targets.shape[1], len(others)
    for i in range(len(targets)):
        own = keys[0][i]
        above = np.searchsorted(keys[1], own)
        below = above - 1
        best, place = np.inf, 0
        while below >= 0 or above < many:
            if above >= many or (below >= 0 and own - keys[1][below] <= keys[1][above] - own):
                j, apart = below, own - keys[1][below]
                below -= 1
            else:
                j, apart = above, keys[1][above] - own
                above += 1
            if apart >= best:
                break
            found = 0.0
            for c in range(columns):
                difference = abs(targets[i, c] - others[j, c])
                if not numeric[c] and difference > 0:
                    difference = 1.0
                found += difference
                if found >= best:
                    break
            if found < best:
                best, place = found, j
        distances[i], places[i] = best, place
