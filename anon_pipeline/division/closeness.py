"""What t a partition must keep by itself so that its classes keep t towards the whole table."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.task import SensitiveLimit
from anon_pipeline.risk.histograms import ClassHistograms
from anon_pipeline.risk.t_closeness import t_closeness_of

_FINE: Final = (
    0.1  # a smaller t is rounded to three digits, others to two: it is published, and tells of data
)
_ROUNDING: Final = 1e-9  # of a unit: an error of floats, far below the tolerance with which t is judged


def closeness_within(limit: SensitiveLimit, parts: NDArray[np.int64]) -> float | None:
    """Return the largest t for which a class that keeps it within its partition keeps ``limit.t`` as well.

    Earth mover's distances keep the triangle inequality: a class is at most as far from the whole as it is
    from its partition, and its partition from the whole. The ordered distance counts in ranks of the values
    that occur, so it is the same one in a partition only if all values of the whole occur there.

    Args:
        limit: with ``t``.
        parts: (p, v) records of each partition with each value; a value of the whole is a column.
    Returns:
        t, rounded down to a coarse step; None: not known, or there is none.
    """
    assert limit.t is not None  # noqa: S101 - asked of columns with a t
    occurring = limit.whole > 0
    if limit.distance == "ordered" and not (parts[:, occurring] > 0).all():
        return None
    pairs = parts > 0
    histograms = ClassHistograms(
        np.concatenate((np.zeros(1, np.int64), np.cumsum(pairs.sum(axis=1)))),
        np.nonzero(pairs)[1].astype(np.int64),
        parts[pairs].astype(np.int64),
        parts.sum(axis=1).astype(np.int64),
    )
    far = t_closeness_of(histograms, whole=limit.whole, distance=limit.distance, lookups=limit.lookups)
    units = 100 if limit.t >= _FINE else 1_000
    left = math.floor((limit.t - float(far.max())) * units + _ROUNDING) / units
    return min(left, limit.t) if left > 0 else None
