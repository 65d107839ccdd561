"""How much more often than by chance a category becomes another, where no law says how likely that is.

Columns of categories that are changed as a whole have no distribution. An attacker who simulates the change
learns from it which original is likelier behind a released value than others of the class. Values that are
given out at random within a class become each other as often as by chance, and tell nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

_CLEAR = 3  # standard deviations of a count from which on it is not by chance


def pair_counts(originals: Integers, released: Integers, labels: Integers, size: int) -> tuple[Reals, Reals]:
    """Count how often each category became each, and how often by chance within the classes.

    By chance means that the released values of a class are given to its records in a random order.

    Args:
        originals, released: (n,) codes of the D categories.
        labels: (n,) class of each record, ≥ 0.
        size: D.
    Returns:
        Two arrays (D, D), original by released value: counts, and their means by chance, Σ n_x·n_y/n over the
        classes.
    """
    from scipy import sparse  # noqa: PLC0415 - slow to import

    counts = np.bincount(originals * size + released, minlength=size * size).reshape(size, size)
    m, ones = int(labels.max(initial=-1)) + 1, np.ones(len(labels))
    before = sparse.csr_matrix((ones, (labels, originals)), shape=(m, size))
    after = sparse.csr_matrix((ones, (labels, released)), shape=(m, size))
    shares = sparse.diags(1 / np.maximum(np.bincount(labels, minlength=m), 1))
    expected: Reals = (before.T @ shares @ after).toarray()
    return counts.astype(np.float64), expected


def log_lifts(counts: Reals, expected: Reals) -> Reals:
    """Return ln of how much likelier an original (row) is behind a released value (column), (D, D).

    0 where the count is within what chance explains. One is added to both, so that it is never infinite.

    Args:
        counts, expected: (D, D) as `pair_counts` returns them, of one or several simulated changes.
    """
    clear = np.abs(counts - expected) > _CLEAR * np.sqrt(expected)
    found: Reals = np.where(clear, np.log((counts + 1) / (expected + 1)), 0.0)
    return found
