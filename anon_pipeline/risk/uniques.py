"""Special uniques: records that few columns single out, as SUDA finds them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel

SIZES = 3
"""Columns that a minimal sample unique may have, at most."""

_DENSE = 4  # counters a record, up to which combinations are counted in place instead of sorted


@dataclass(frozen=True, slots=True)
class SampleUniques:
    """Records that no other equals in all columns: how many they are, of how many."""

    records: int
    of: int

    @property
    def share(self) -> float:
        """The same as a share of all records, in [0, 1]."""
        return self.records / self.of


@dataclass(frozen=True, slots=True, eq=False)
class MinimalUniques:
    """Minimal sample uniques: sets of columns that single a record out while none of their subsets does.

    counts: (n, SIZES) how many sets of 1, 2 and 3 columns do for each record.
    columns: q, how many columns there are.
    """

    counts: NDArray[np.int64] = field(repr=False)
    columns: int

    @property
    def records(self) -> int:
        """Records that have any."""
        return int(np.count_nonzero(self.counts.any(axis=1)))

    @property
    def share(self) -> float:
        """The same as a share of all records, in [0, 1]."""
        return self.records / len(self.counts)

    @property
    def scores(self) -> NDArray[np.float64]:
        """SUDA score of each record, (n,), ≥ 0: a set of s columns counts Π (q − i), i = s … SIZES − 1.

        Smaller sets count more; with at most three columns altogether the product ends at q − 1.

        Source:
            Elliot, Manning and Ford (2002), A computational algorithm for handling the special uniques
            problem.
        """
        last = min(SIZES, self.columns)
        worth = [math.prod(self.columns - i for i in range(size, last)) for size in range(1, SIZES + 1)]
        return np.asarray(self.counts @ np.asarray(worth, np.float64), np.float64)


def sample_uniques(codes: NDArray[np.integer]) -> SampleUniques:
    """Count the records that no other equals in all columns.

    Args:
        codes: (n, q) quasi-identifiers, integers ≥ 0.
    Raises:
        ValueError: no record, no column, or a negative code.

    >>> sample_uniques(np.array([[0, 1], [0, 1], [0, 2]]))
    SampleUniques(records=1, of=3)
    """
    columns = _check_codes(codes)
    key = columns[0]
    for column in columns[1:]:
        key = _compact(key * (int(column.max()) + 1) + column)
    return SampleUniques(int(np.count_nonzero(_unique_in(key))), len(codes))


def minimal_uniques(codes: NDArray[np.integer], *, size: int = SIZES) -> MinimalUniques:
    """Find every record's minimal sample uniques of up to three columns.

    Args:
        codes: (n, q) quasi-identifiers, integers ≥ 0.
        size: columns of a set, at most, 1 … 3.
    Returns:
        How many each record has; the order of records and columns does not matter.
    Raises:
        ValueError: no record, no column, a negative code, or another size.
    Source:
        Elliot, Manning, Mayes, Gurd and Bane (2005), SUDA: a program for detecting special uniques.
    """
    if not 1 <= size <= SIZES:
        raise ValueError(f"size must be 1 to {SIZES}, got {size}.")
    columns = _check_codes(codes)
    q, n = len(columns), len(columns[0])
    counts, found = np.zeros((n, SIZES), np.int64), dict[tuple[int, ...], NDArray[np.bool_]]()
    widths = [int(column.max()) + 1 for column in columns]
    for some in range(1, min(size, q) + 1):
        for chosen in combinations(range(q), some):
            below = [found[part] for part in combinations(chosen, some - 1)] if some > 1 else []
            alone, covered = _unique_in(pack_columns(columns, widths, chosen)), np.zeros(n, np.bool_)
            for part in below:
                covered |= part
            counts[:, some - 1] += alone & ~covered
            if some < size:
                found[chosen] = alone
    return MinimalUniques(counts, q)


def _check_codes(codes: NDArray[np.integer]) -> list[NDArray[np.int64]]:
    """Return each column with its values numbered without gaps."""
    if codes.ndim != 2 or 0 in codes.shape:
        raise ValueError("codes must have at least one record and one column. No uniques are defined.")
    if int(codes.min()) < 0:
        raise ValueError(
            "codes must be ≥ 0, got negative ones. Encode missing values as a value of their own."
        )
    return [_compact(column.astype(np.int64)) for column in codes.T]


def _compact(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number values without gaps, so that packing two columns cannot overflow."""
    if int(key.max()) < _DENSE * len(key):
        seen = np.bincount(key) > 0
        return (np.cumsum(seen) - 1)[key]
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def pack_columns(
    columns: list[NDArray[np.int64]], widths: list[int], chosen: tuple[int, ...]
) -> NDArray[np.int64]:
    """Pack the chosen columns into one number a record."""
    key, width = columns[chosen[0]], widths[chosen[0]]
    for column in chosen[1:]:
        if width * widths[column] >= 2**62:
            key = _compact(key)
            width = int(key.max()) + 1
        key, width = key * widths[column] + columns[column], width * widths[column]
    return key


def _unique_in(key: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which records no other equals, (n,)."""
    if int(key.max()) < _DENSE * len(key):
        alone: NDArray[np.bool_] = _once(key, int(key.max()) + 1)
        return alone
    _, place, counts = np.unique(key, return_inverse=True, return_counts=True)
    return np.asarray(counts[place] == 1)


@kernel
def _once(key, width):  # type: ignore[no-untyped-def]
    """Tell whose key occurs once, counting it up to two."""
    counts = np.zeros(width, np.uint8)
    for i in range(len(key)):
        if counts[key[i]] < 2:
            counts[key[i]] += 1
    alone = np.empty(len(key), np.bool_)
    for i in range(len(key)):
        alone[i] = counts[key[i]] == 1
    return alone
