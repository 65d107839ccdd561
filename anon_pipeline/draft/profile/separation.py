"""Distinction and separation: how well sets of columns distinguish records, as arithmetic over codes.

Source: Motwani and Xu (2007), Efficient algorithms for masking and finding quasi-identifiers; the distinction
of a set of columns is its number of different tuples divided by the records, the separation the share of all
pairs of records that differ in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_RECORDS = 100_000
"""Records that sets of columns are measured on; of more, so many at random, always the same."""


@dataclass(frozen=True, slots=True)
class Separation:
    """How well a set of columns distinguishes records.

    columns: positions.
    distinction: different tuples divided by the records, in (0, 1].
    separation: share of the pairs of records that differ, in [0, 1].
    alone: share of the records that no other equals, in [0, 1].
    """

    columns: tuple[int, ...]
    distinction: float
    separation: float
    alone: float


def separate(codes: Sequence[NDArray[np.int64]], columns: Sequence[int]) -> Separation:
    """Measure a set of columns.

    Args:
        codes: q arrays (n,); a value's number, −1 where it is missing, which counts as a value.
        columns: positions of the set, at least one.

    >>> separate([np.array([0, 0, 1, 1])], [0])
    Separation(columns=(0,), distinction=0.5, separation=0.6666666666666667, alone=0.0)
    """
    label = np.zeros(len(codes[0]), np.int64)
    for j in columns:
        label = _merge(label, codes[j])
    return _measure(tuple(columns), label)


def _merge(label: NDArray[np.int64], column: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (n,) labels, without gaps, of records that agree in both."""
    width = int(column.max(initial=-1)) + 2
    labels: NDArray[np.int64] = np.unique(label * width + column + 1, return_inverse=True)[1].astype(np.int64)
    return labels


def _measure(columns: tuple[int, ...], label: NDArray[np.int64]) -> Separation:
    sizes = np.bincount(label)
    sizes = sizes[sizes > 0].astype(np.float64)
    n = float(sizes.sum())
    pairs = n * (n - 1)
    together = float((sizes * (sizes - 1)).sum())
    separation = 1 - together / pairs if pairs else 0.0
    return Separation(columns, len(sizes) / n, separation, float((sizes == 1).sum()) / n)


def smallest_separating_set(
    codes: Sequence[NDArray[np.int64]], candidates: Sequence[int], *, enough: float = 0.8, most: int = 4
) -> Separation | None:
    """Find few columns that together leave most records alone, greedily: the next column separates most.

    Args:
        codes: as in `separate`.
        candidates: positions to choose from.
        enough: share of the records alone at which to stop, in (0, 1].
        most: columns, at most.
    Returns:
        The set, or as far as it came; None without candidates.
    """
    best: Separation | None = None
    label = np.zeros(len(codes[0]) if codes else 0, np.int64)
    left = list(candidates)
    while left and (best is None or (best.alone < enough and len(best.columns) < most)):
        chosen = () if best is None else best.columns
        tried = [_measure((*chosen, j), _merge(label, codes[j])) for j in left]
        best = max(tried, key=lambda one: (one.alone, one.separation))
        label = _merge(label, codes[best.columns[-1]])
        left.remove(best.columns[-1])
    return best


def sampled_rows(records: int, most: int = MOST_RECORDS) -> NDArray[np.int64] | None:
    """Choose the records that sets of columns are measured on; None: all."""
    if records <= most:
        return None
    return np.sort(np.random.default_rng(records).choice(records, most, replace=False))
