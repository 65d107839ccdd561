"""How often each number occurs, of numbers that come a slice at a time."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.base.order import add_values, count_values
from anon_pipeline.base.threads import LARGE, processors, side_by_side

_Run = tuple[NDArray[np.int64], NDArray[np.int64]]  # different numbers in ascending order, and counts of each
AT_ONCE: Final = 2**22
"""Numbers of a slice, at most: so many are sorted at once."""
_FULL: Final = 4  # arrays of which less than one part in so many is not used are not copied
_THREADS: Final = 8  # that merge, at most
_DENSE: Final = 2  # numbers with at most one value for so many records are counted in place, not sorted


class Tally:
    """How often each number occurs, of numbers that come a slice at a time.

    Args:
        space: they are below it.
        records: how many will come, about.
    """

    def __init__(self, space: int, records: int) -> None:
        self._space = space
        self._dense = np.zeros(space, np.int64) if space <= min(records // _DENSE, AT_ONCE) else None
        self._runs: list[_Run] = []

    def add(self, numbers: NDArray[np.int64], weights: NDArray[np.integer] | None = None) -> None:
        """Count more numbers, (n,), each as often as its weight says, (n,); None: once."""
        if self._dense is not None:
            # With weights it adds floats, which is exact below 2^53.
            found = np.bincount(numbers, weights, minlength=len(self._dense))
            self._dense += found.astype(np.int64, copy=False)
            return
        if weights is None:
            self._runs.append(count_values(numbers, self._space))
        else:
            self._runs.append(add_values(numbers, weights.astype(np.int64), self._space))
        while len(self._runs) > 1 and len(self._runs[-2][0]) <= len(self._runs[-1][0]):
            self._merge()

    def join(self, other: Tally) -> None:
        """Count also what another tally of such numbers has counted."""
        if self._dense is not None and other._dense is not None:
            self._dense += other._dense
        self._runs += other._runs

    def exceeds(self, most: int) -> bool:
        """Whether more than so many different numbers are known by now."""
        return any(len(keys) > most for keys, _ in self._runs)

    def counts(self) -> _Run:
        """Return the different numbers in ascending order, (m,), and how often each occurs, (m,)."""
        if self._dense is not None:
            found = np.flatnonzero(self._dense)
            return found, self._dense[found]
        if len(self._runs) > 1:
            pivots = _pivots(max((keys for keys, _ in self._runs), key=len))
            tasks = [partial(_merge_all, part) for part in _part(self._runs, pivots)]
            keys, counts = (np.concatenate(own) for own in zip(*side_by_side(tasks), strict=True))
            self._runs = [(keys, counts)]
        return self._runs[0] if self._runs else (np.zeros(0, np.int64), np.zeros(0, np.int64))

    def _merge(self) -> None:
        """Merge the last two runs into one."""
        other = self._runs.pop()
        self._runs[-1] = _merge_two(self._runs[-1], other)


def _pivots(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers at which runs are split, so that each thread merges a range; none of few numbers."""
    many = min(processors(), _THREADS) if len(keys) >= LARGE else 1
    return keys[[len(keys) * part // many for part in range(1, many)]]


def _part(runs: Sequence[_Run], pivots: NDArray[np.int64]) -> list[list[_Run]]:
    """Split each run before the pivots; return a list for each range of numbers, with a piece of each run."""
    pieces = []
    for keys, counts in runs:
        ends = [0, *np.searchsorted(keys, pivots).tolist(), len(keys)]
        pieces.append([(keys[begin:end], counts[begin:end]) for begin, end in pairwise(ends)])
    return [list(part) for part in zip(*pieces, strict=True)]


def _merge_all(runs: list[_Run]) -> _Run:
    """Merge several runs into one, always the two shortest first."""
    left = sorted(runs, key=lambda run: -len(run[0]))
    while len(left) > 1:
        insort(left, _merge_two(left.pop(), left.pop()), key=lambda run: -len(run[0]))
    return left[0]


def _merge_two(one: _Run, other: _Run) -> _Run:
    """Merge two runs into one."""
    many = len(one[0]) + len(other[0])
    keys, counts = np.empty((2, many), np.int64)
    found = _merge_runs(*one, *other, keys, counts)
    run = keys[:found], counts[:found]
    is_full = found * _FULL >= many * (_FULL - 1)
    return run if is_full else (run[0].copy(), run[1].copy())


@kernel
def _merge_runs(
    keys: NDArray[np.int64],
    counts: NDArray[np.int64],
    more_keys: NDArray[np.int64],
    more_counts: NDArray[np.int64],
    all_keys: NDArray[np.int64],
    all_counts: NDArray[np.int64],
) -> int:
    """Write two runs of ascending different numbers as one, and return how many different ones it has."""
    one, other, found = 0, 0, 0
    while one < len(keys) or other < len(more_keys):
        if other == len(more_keys) or (one < len(keys) and keys[one] <= more_keys[other]):
            all_keys[found], all_counts[found] = keys[one], counts[one]
            if other < len(more_keys) and keys[one] == more_keys[other]:
                all_counts[found] += more_counts[other]
                other += 1
            one += 1
        else:
            all_keys[found], all_counts[found] = more_keys[other], more_counts[other]
            other += 1
        found += 1
    return found


def starts_of(ordered: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each different number begins, (m,)."""
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return np.flatnonzero(first)
