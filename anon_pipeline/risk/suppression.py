"""Confidence-based suppression: remove the released records that too few originals could stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.risk.people import count_people

ClassLimit = Callable[[NDArray[np.int64], NDArray[np.int64], int], NDArray[np.bool_]]
"""Tells which classes break a limit: (positions (r',) of the records still there, their classes (r',)
numbered 0 … m'−1 without gaps, m') to a mask (m',). It must judge every class by itself, as t-closeness
against the whole input and l-diversity do; its classes are then final after one pass."""


@dataclass(frozen=True, slots=True, eq=False)
class Suppression:
    """Which released records stay, and how many went for each reason; a record goes once.

    keep: (r,) whether each record stays.
    unconfident: records with 0 < ℓ < k.
    small: records of classes that the first step left with fewer than k.
    limits: records of classes that broke each limit, by its name, in the order of the limits.
    """

    keep: NDArray[np.bool_] = field(repr=False)
    unconfident: int
    small: int
    limits: dict[str, int]

    @property
    def suppressed(self) -> int:
        """Records removed, for whatever reason."""
        return self.unconfident + self.small + sum(self.limits.values())


def suppress_unconfident(
    counts: NDArray[np.integer] | None,
    labels: NDArray[np.integer],
    *,
    k: int,
    limits: Mapping[str, ClassLimit] | None = None,
    people: NDArray[np.integer] | None = None,
) -> Suppression:
    """Suppress records that are not c-confidently k-anonymous, then classes that became too small.

    In this order: records with 0 < ℓ < k; classes left with fewer than k records, those with ℓ = 0
    counted; classes that break a limit. Records with ℓ = 0 stay: the noise has made them outliers.

    Args:
        counts: (r,) ℓ of each released record, capped at k or beyond (`risk.confidence`); None if the
            policy sets no confidence.
        labels: (r,) class of each released record, ≥ 0.
        k: class size, in records, ≥ 1; in people where these are given.
        limits: what classes must keep besides k, by name.
        people: (r,) whose record it is; None: each one is somebody else's.
    Returns:
        The records that stay, possibly none, and the counts of the others by reason.
    Raises:
        ValueError: a released record of no class (−1), or a limit that answers for another number of classes.
    Source:
        [KE V-C], by its text (its formula leaves ℓ = 0 out); [methods 7].

    >>> suppress_unconfident(np.array([2, 1, 0, 2]), np.zeros(4, np.int64), k=2).keep.tolist()
    [True, False, True, True]
    """
    classes = np.asarray(labels).astype(np.int64)
    if len(classes) and int(classes.min()) < 0:
        raise ValueError("labels must be ≥ 0, got −1. Leave out the records that are suppressed already.")
    keep = np.ones(len(classes), np.bool_) if counts is None else (counts == 0) | (counts >= k)
    unconfident = _count_lost(keep)
    m = int(classes.max(initial=0)) + 1
    if people is None:
        left = np.bincount(classes[keep], minlength=m)
    else:
        left = count_people(classes[keep], people[keep], m=m)
    keep &= left[classes] >= k
    small = _count_lost(keep) - unconfident
    lost = {}
    for name, limit in (limits or {}).items():
        before = _count_lost(keep)
        _apply(limit, keep, classes, name)
        lost[name] = _count_lost(keep) - before
    return Suppression(keep, unconfident, small, lost)


def _count_lost(keep: NDArray[np.bool_]) -> int:
    return len(keep) - int(np.count_nonzero(keep))


def _apply(limit: ClassLimit, keep: NDArray[np.bool_], labels: NDArray[np.int64], name: str) -> None:
    """Drop from ``keep`` the classes that break the limit; it is not asked about an empty table."""
    positions = np.flatnonzero(keep)
    if len(positions) == 0:
        return
    there = np.bincount(labels[positions]) > 0
    present, numbers = np.flatnonzero(there), np.cumsum(there) - 1
    compact = numbers[labels[positions]]
    broken = np.asarray(limit(positions, compact.astype(np.int64), len(present)), np.bool_)
    if broken.shape != present.shape:
        raise ValueError(f"limit {name!r} must answer for {len(present)} classes, got {broken.shape}.")
    keep[positions[broken[compact]]] = False
