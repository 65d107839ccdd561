"""Linking by a column of categories: what the best attacker gets right on average, in closed form."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.perturb.category_law import CategoryNoise, pmf

_CELLS = 2**22  # of a block of classes, values in a class times values of the domain
_EQUAL = 1 - 1e-12  # what equal chances may differ by


def expected_category_linking(
    codes: NDArray[np.int64], labels: NDArray[np.int64], noise: CategoryNoise
) -> float:
    """Return the share of records that the best attacker links on average, in [0, 1].

    He knows every original and its class. For a released value o of a class he takes one of the originals x
    of the class with the largest P(o|x), at random where several have it: whoever takes another one is right
    no more often. So Σ over o of max P(o|x) records of the class are linked, before any value is drawn. For
    randomized response that is the original with the released value, if the class has one.

    Args:
        codes: (n,) originals, codes of the domain.
        labels: (n,) equivalence class; −1 is suppressed and does not count.
    Raises:
        ValueError: no record is in a class.
    """
    inside = labels >= 0
    if not inside.any():
        raise ValueError("at least one record must be in a class.")
    linked = linked_by_class(codes[inside], labels[inside], pmf(noise))
    return math.fsum(linked.tolist()) / int(inside.sum())


def linked_by_class(
    codes: NDArray[np.int64], labels: NDArray[np.int64], law: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how many records the best attacker links on average, of each class that has some, (m,).

    Args:
        codes: (n,) originals, codes of D values.
        labels: (n,) class, ≥ 0; classes are returned in the order of their numbers.
        law: (D, D) chance of each value by the original.
    """
    d = len(law)
    pairs = np.unique(labels.astype(np.int64) * d + codes)
    values, first = pairs % d, np.flatnonzero(np.diff(pairs // d, prepend=-1))
    ends, step = np.append(first, len(pairs)), max(1, _CELLS // d**2)
    linked = np.empty(len(first))
    for begin in range(0, len(first), step):
        own = first[begin : begin + step]
        rows = law[values[own[0] : ends[min(begin + step, len(first))]]]
        linked[begin : begin + step] = np.maximum.reduceat(rows, own - own[0], axis=0).sum(axis=1)
    return linked


def right_category_guesses(
    codes: NDArray[np.int64],
    labels: NDArray[np.int64],
    own: NDArray[np.int64],
    drawn: NDArray[np.int64],
    noise: CategoryNoise,
) -> NDArray[np.float64]:
    """Return the chance that the attacker of `expected_category_linking` takes the own record, (r,).

    Args:
        codes: (n,) originals, codes of the domain.
        labels: (n,) equivalence class.
        own: (r,) record that each released one is of, in a class.
        drawn: (r,) released values, codes of the domain.
    """
    law, d = pmf(noise), len(noise.domain.values)
    inside = np.flatnonzero(labels >= 0)
    pairs, many = np.unique(labels[inside].astype(np.int64) * d + codes[inside], return_counts=True)
    shown, which = np.unique(labels[own].astype(np.int64) * d + drawn, return_inverse=True)
    first = np.searchsorted(pairs, shown // d * d)
    last = np.searchsorted(pairs, (shown // d + 1) * d)
    best, ties = np.empty((2, len(shown)))
    for j, (start, end) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        likely = law[pairs[start:end] % d, shown[j] % d]
        best[j] = likely.max() * _EQUAL
        ties[j] = many[start:end][likely >= best[j]].sum()
    return np.where(law[codes[own], drawn] >= best[which], 1 / ties[which], 0.0)
