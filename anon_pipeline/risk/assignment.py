"""The optimal assignment attack: every released record of a class gets an original of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.risk.histograms import class_sizes, starts_of

LARGEST_ASSIGNMENT = 2_000
"""Released records of a class up to which several columns are assigned; the work grows with the cube."""


@dataclass(frozen=True, slots=True)
class OneToOneRisk:
    """What an attacker gets right who gives every released record of a class an original of its own.

    released: records released, ≥ 1.
    risk: expected share that is given an original with the own original's values, in [0, 1].
    attacker_success: expected share that is given the own original, in [0, 1]; at most ``risk``.
    """

    released: int
    risk: float
    attacker_success: float


def one_to_one_risk(
    released: NDArray[np.float64],
    own: NDArray[np.integer],
    originals: NDArray[np.float64],
    *,
    labels: NDArray[np.integer],
    largest: int = LARGEST_ASSIGNMENT,
) -> OneToOneRisk:
    """Measure what the cheapest one-to-one assignment within each class gets right.

    The attacker knows the originals, each class, and, unlike in `linking_risk`, which of the originals were
    released: the worst case. An original costs the sum over the columns of its distance from the released
    value, in diameters of the class's originals (a column without diameter costs nothing). That is the most
    likely assignment under Laplace noise of equal shares of ε.

    One column is assigned in order of its values, which is optimal: of x₁ ≤ x₂ and y₁ ≤ y₂, crossing never
    costs less, |y₁ − x₂| + |y₂ − x₁| ≥ |y₁ − x₁| + |y₂ − x₂| (true of every convex cost), so uncrossing
    pair by pair leads from any assignment to this one without a rise in cost. Records of a class with
    equal values are exchangeable; every exchange counts the same, so the order of the records does not
    matter.

    Most likely altogether is not most often right: in large classes with much noise the nearest original is
    right more often (`linking_risk`), in small ones with little noise this is. Take the larger.

    Args:
        released: (r, p) released values, in grid units.
        own: (r,) index of each released record in ``originals``, all different.
        originals: (n, p) original values, in grid units, of records suppressed later too.
        labels: (n,) class of each original, 0 … m−1; −1 for a record of no class.
        largest: of several columns, released records that a class may have.
    Returns:
        The expected shares over the exchanges. Without a column: 1/m of each class of m records.
    Raises:
        ValueError: nothing released, a record of no class or released twice, or labels not compact.
        InputError: several columns, and a class with more records than ``largest``; with their counts.
    Source:
        [DB 4] for linkage; Burkard, Dell'Amico and
        Martello, Assignment Problems (2009), 5.1, for the order on a line.
    """
    classes = _classes(own, labels)
    diameters = _diameters(originals, labels)
    varying = np.flatnonzero((diameters > 0).any(axis=0))
    noisy = np.ascontiguousarray(released[:, varying], np.float64)
    exact = np.ascontiguousarray(originals[own][:, varying], np.float64)
    here, there = _order(noisy, classes), _order(exact, classes)
    given = np.arange(len(own))
    if len(varying) > 1:
        scales = np.divide(1.0, diameters, out=np.zeros_like(diameters), where=diameters > 0)[:, varying]
        given = _assign(noisy[here], exact[there], classes[here], scales, largest)
    return _score(_blocks(noisy, classes, here), _blocks(exact, classes, there), here, there[given])


def _classes(own: NDArray[np.integer], labels: NDArray[np.integer]) -> NDArray[np.int64]:
    if len(own) == 0:
        raise ValueError("released must hold a record, got none. The assignment risk is not defined.")
    if len(np.unique(own)) != len(own):
        raise ValueError("own must name each original once, got repeated ones. A record is released once.")
    classes: NDArray[np.int64] = labels[own].astype(np.int64)
    if int(classes.min()) < 0:
        raise ValueError("released records must be in a class, got some with label −1. Leave them out.")
    return classes


def _diameters(originals: NDArray[np.float64], labels: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return largest minus smallest original of each class and column, (m, p)."""
    kept = np.flatnonzero(labels >= 0)
    order = kept[np.argsort(labels[kept], kind="stable")]
    starts = starts_of(class_sizes(labels[kept], m=int(labels.max()) + 1))[:-1]
    rows = np.asarray(originals[order], np.float64)
    if not rows.shape[1]:
        return np.zeros((len(starts), 0))
    spans: NDArray[np.float64] = np.maximum.reduceat(rows, starts) - np.minimum.reduceat(rows, starts)
    return spans


def _order(values: NDArray[np.float64], classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order records by class, then lexicographically by their values."""
    return np.lexsort((*values.T[::-1], classes))


def _blocks(
    values: NDArray[np.float64], classes: NDArray[np.int64], order: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Number the records so that those equal in class and values have one number, (r,)."""
    rows, labels = values[order], classes[order]
    fresh = (labels[1:] != labels[:-1]) | (rows[1:] != rows[:-1]).any(axis=1)
    blocks = np.empty(len(order), np.int64)
    blocks[order] = np.concatenate((np.zeros(1, np.int64), np.cumsum(fresh)))
    return blocks


def _assign(
    released: NDArray[np.float64],
    originals: NDArray[np.float64],
    classes: NDArray[np.int64],
    scales: NDArray[np.float64],
    largest: int,
) -> NDArray[np.int64]:
    """Return the position of the original that each released record is given; all in order of class."""
    sizes = np.bincount(classes, minlength=len(scales)).astype(np.int64)
    hard = (scales > 0).sum(axis=1) > 1
    if beyond := int((sizes[hard] > largest).sum()):
        raise InputError(
            f"assigning several columns needs classes of at most {largest} released records, got {beyond} "
            f"larger ones, the largest of {int(sizes[hard].max())}"
        )
    given, starts = np.empty(len(classes), np.int64), starts_of(sizes)
    for label in np.flatnonzero(sizes):
        part = slice(starts[label], starts[label + 1])
        assign = _cheapest if hard[label] else _in_order
        given[part] = starts[label] + assign(released[part], originals[part], scales[label])
    return given


def _in_order(
    released: NDArray[np.float64], originals: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Assign one class by its only column that varies."""
    column, given = int(np.argmax(scale)), np.empty(len(released), np.int64)
    given[np.argsort(released[:, column], kind="stable")] = np.argsort(originals[:, column], kind="stable")
    return given


def _cheapest(
    released: NDArray[np.float64], originals: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Assign one class at least cost."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - slow to import

    cost = np.zeros((len(released), len(originals)))
    for column, factor in enumerate(scale):
        cost += np.abs(released[:, column, None] - originals[None, :, column]) * factor
    return np.asarray(linear_sum_assignment(cost)[1], np.int64)


def _score(
    released: NDArray[np.int64],
    originals: NDArray[np.int64],
    here: NDArray[np.int64],
    there: NDArray[np.int64],
) -> OneToOneRisk:
    """Score the assignment of record ``here[i]`` to the original of record ``there[i]``.

    Over all exchanges of equal records a released record of a block of a records gets its own original,
    one of a block of b, with c/(a·b), where c records of the one block were given one of the other.
    """
    width = int(originals.max()) + 1
    pairs, counts = np.unique(released[here] * width + originals[there], return_counts=True)
    wanted = released * width + originals
    at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    met = np.where(pairs[at] == wanted, counts[at], 0)
    share = met / np.bincount(released)[released]
    success = math.fsum((share / np.bincount(originals)[originals]).tolist()) / len(here)
    return OneToOneRisk(len(here), math.fsum(share.tolist()) / len(here), success)
