"""Which perturb columns an attacker compares records by, where some are changed as a whole.

A column that is moved far, compared with how far values of a class are apart, tells little. Added to a
distance it hides what others tell, and an attacker who knows the method leaves it out.

Decision: docs/adr/0088-columns-changed-as-a-whole.md.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.order import rank_values
from anon_pipeline.evidence.evidence import Originals

Reals = NDArray[np.float64]


def median_shifts(released: NDArray[np.number], own: NDArray[np.number]) -> Reals:
    """Return the median of |y − x| of each column, (p,): a mean would be that of a few far values.

    Args:
        released: (r, p) y, grid units; ``own``: (r, p) x.
    """
    found: Reals = np.median(np.abs(np.asarray(released, np.float64) - own), axis=0)
    return found


def attacked_columns(originals: Originals, released: Reals) -> Iterator[NDArray[np.int64]]:
    """Yield sets of perturb columns by which records are compared: the one that tells most, two, … all.

    Args:
        released: (r, p) released values, grid units.
    """
    own = originals.grid[originals.own]
    labels = rank_values(originals.labels[originals.own], int(originals.labels.max()) + 1)[0]
    sizes = np.bincount(labels)
    means = np.stack([np.bincount(labels, weights=column) / sizes for column in own.T], axis=1)
    moved, apart = median_shifts(released, own), median_shifts(means[labels], own)
    told = np.divide(moved, apart, out=np.full(len(moved), np.inf), where=apart > 0)
    order = np.argsort(told, kind="stable").astype(np.int64)
    for many in range(1, len(order) + 1):
        yield np.sort(order[:many])
