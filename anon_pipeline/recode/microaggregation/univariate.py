"""Optimal microaggregation of one number: the shortest path over the sorted values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel

_STEP = 100_000_000


@kernel
def _paths(
    values: NDArray[np.float64],
    k: int,
    costs: NDArray[np.float64],
    begins: NDArray[np.int64],
    span: tuple[int, int],
) -> None:
    """Find for each end the cheapest last class, k to 2·k − 1 records, of equal ones the largest.

    Args:
        values: (n,) ascending.
        costs: (n + 1,) in and out: least sum of squared errors of the first j values; infinite if j < k.
        begins: (n + 1,) out: where the last class of the first j values begins.
        span: first end, and one past the last.
    """
    for end in range(span[0], span[1]):
        mean, squares = 0.0, 0.0
        for begin in range(end - 1, max(-1, end - 2 * k), -1):
            size, off = end - begin, values[begin] - mean
            mean += off / size
            squares += off * (values[begin] - mean)
            if size >= k and costs[begin] + squares <= costs[end]:
                costs[end], begins[end] = costs[begin] + squares, begin


def univariate(numbers: NDArray[np.float64], *, k: int) -> NDArray[np.int64]:
    """Divide numbers into classes of at least k with the least sum of squared errors, in O(k·n).

    Missing values are a class of their own if there are k of them, else they join the greatest numbers; fewer
    than k numbers are one class with all missing values.

    Args:
        numbers: (n,) n ≥ k; NaN is missing.
    Returns:
        (n,) class of each, 0 … m−1, ascending.
    Source:
        Hansen and Mukherjee (2003).
    """
    missing = np.isnan(numbers)
    absent, known = int(missing.sum()), int((~missing).sum())
    if known < k:
        return np.zeros(len(numbers), np.int64)
    order = np.argsort(numbers, kind="stable")  # NaN goes last
    values = numbers[order[:known]]
    costs, begins = np.full(known + 1, np.inf), np.zeros(known + 1, np.int64)
    costs[0], some = 0.0, max(1, _STEP // (2 * k))
    for first in range(1, known + 1, some):
        _paths(values, k, costs, begins, (first, min(known + 1, first + some)))
    starts, end = np.zeros(known, np.int64), known
    while end:
        end = int(begins[end])
        starts[end] = 1
    labels = np.empty(len(numbers), np.int64)
    labels[order[:known]] = np.cumsum(starts) - 1
    labels[order[known:]] = starts.sum() if absent >= k else starts.sum() - 1
    return labels
