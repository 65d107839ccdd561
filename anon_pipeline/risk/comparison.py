"""Every attacker's record compared with every released one, attribute by attribute, without blocking."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.base.errors import InputError

MOST_PATTERNS = 2**20
"""Largest number of combinations of similarity levels."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkageFiles:
    """What a attackers know, and the n released records that they look for it in.

    known_codes: (a, c) categories that each attacker knows, by the same codes as ``codes``.
    codes: (n, c) categories released.
    known_numbers: (a, p) numbers that each attacker knows, in the unit of ``numbers``; finite.
    numbers: (n, p) numbers released; finite.
    own: (a,) the released record that each attacker looks for.
    """

    known_codes: NDArray[np.int64] = field(repr=False)
    codes: NDArray[np.int64] = field(repr=False)
    known_numbers: NDArray[np.float64] = field(repr=False)
    numbers: NDArray[np.float64] = field(repr=False)
    own: NDArray[np.int64] = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse files that do not fit together."""
        a, n = len(self.own), len(self.codes)
        if a == 0 or self.attributes == 0:
            raise ValueError("files must have an attacker and an attribute. No linkage is defined.")
        if (len(self.known_codes), len(self.known_numbers), len(self.numbers)) != (a, a, n):
            raise ValueError("files must have as many codes as numbers, and an own record for each attacker.")
        if self.known_codes.shape[1] != self.codes.shape[1]:
            raise ValueError("files must have the same columns of codes.")
        if self.known_numbers.shape[1] != self.numbers.shape[1]:
            raise ValueError("files must have the same columns of numbers.")
        if int(self.own.min()) < 0 or int(self.own.max()) >= n:
            raise ValueError(f"own must lie in 0 … {n - 1}.")

    @property
    def attributes(self) -> int:
        """How many attributes are compared, c + p."""
        return int(self.codes.shape[1] + self.numbers.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """How similarity becomes levels: 0 is the most similar.

    Codes have two levels: 0 equal, 1 different. Number column j has len(cuts[j]) + 1: the level is how many
    of its cuts the distance exceeds.

    cuts: p ascending arrays of distances ≥ 0.
    widths: (c + p,) levels of each attribute, codes first.
    """

    cuts: tuple[NDArray[np.float64], ...] = field(repr=False)
    widths: NDArray[np.int64] = field(repr=False)

    @property
    def strides(self) -> NDArray[np.int64]:
        """What a level of each attribute counts in the number of a pattern, (c + p,)."""
        return np.concatenate((np.ones(1, np.int64), np.cumprod(self.widths)[:-1]))

    @property
    def patterns(self) -> int:
        """Combinations of levels, P."""
        return int(np.prod(self.widths))

    def table(self) -> NDArray[np.int64]:
        """Return the levels of each pattern, (P, c + p)."""
        return np.arange(self.patterns)[:, None] // self.strides % self.widths


def levels_of(files: LinkageFiles, cuts: tuple[NDArray[np.float64], ...]) -> Levels:
    """Say how similarity becomes levels.

    Args:
        files: whose attributes are compared.
        cuts: of each column of numbers, ascending distances.
    Raises:
        ValueError: cuts of another number of columns, or not ascending.
        InputError: more patterns than can be distinguished.
    """
    if len(cuts) != files.numbers.shape[1] or any((np.diff(each) <= 0).any() for each in cuts):
        raise ValueError(f"cuts must ascend, for {files.numbers.shape[1]} columns of numbers.")
    exact = tuple(np.ascontiguousarray(each, np.float64) for each in cuts)
    widths = [2] * files.codes.shape[1] + [len(each) + 1 for each in exact]
    patterns = 1
    for width in widths:
        patterns *= width
    if patterns > MOST_PATTERNS:
        raise InputError(
            f"linking needs at most {MOST_PATTERNS} combinations of similarity levels, got {patterns}. "
            f"Compare fewer columns, or by fewer levels."
        )
    return Levels(exact, np.asarray(widths, np.int64))


def distance_levels(files: LinkageFiles, *, levels: int = 8) -> Levels:
    """Choose the levels from the known truth: each holds about as many attackers' own records.

    Args:
        files: the own records give the distances.
        levels: of each column of numbers, at most, ≥ 2; fewer where distances are equal.
    Raises:
        ValueError: fewer than two levels.
        InputError: more patterns than can be distinguished.
    """
    if levels < 2:
        raise ValueError(f"levels must be at least 2, got {levels}.")
    apart = np.sort(np.abs(files.known_numbers - files.numbers[files.own]), axis=0)
    at = np.arange(1, levels) * len(apart) // levels
    return levels_of(files, tuple(np.unique(column[at]) for column in apart.T))


def columns_of(files: LinkageFiles) -> tuple[NDArray[np.int64], ...]:
    """Return the kernels' arrays: known and released codes and numbers, columns first, and own."""
    return (
        np.ascontiguousarray(files.known_codes.T, np.int64),
        np.ascontiguousarray(files.codes.T, np.int64),
        np.ascontiguousarray(files.known_numbers.T, np.float64),
        np.ascontiguousarray(files.numbers.T, np.float64),
        np.ascontiguousarray(files.own, np.int64),
    )


def packed_cuts(levels: Levels) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the kernels' levels: strides, all cuts in one array, and the start of each column's cuts."""
    starts = np.cumsum([0, *(len(each) for each in levels.cuts)]).astype(np.int64)
    return levels.strides, np.concatenate((np.zeros(0), *levels.cuts)), starts


@kernel
def _patterns_of(i, arrays, packed, out):  # type: ignore[no-untyped-def]
    """Write the pattern of attacker i and every released record."""
    known_codes, codes, known_numbers, numbers, _ = arrays
    strides, cuts, starts = packed
    out[:] = 0
    for column in range(len(codes)):
        value, row, stride = known_codes[column, i], codes[column], np.int32(strides[column])
        for j in range(len(out)):
            out[j] += stride * (row[j] != value)
    for column in range(len(numbers)):
        number, line, step = known_numbers[column, i], numbers[column], np.int32(strides[len(codes) + column])
        for at in range(starts[column], starts[column + 1]):
            cut = cuts[at]
            for j in range(len(out)):
                out[j] += step * (abs(line[j] - number) > cut)


@kernel
def count_patterns(arrays, packed, width):  # type: ignore[no-untyped-def]
    """Count the pairs of each pattern, (P,), and return the pattern of each attacker's own pair, (a,)."""
    own = arrays[4]
    total, mine = np.zeros(width, np.int64), np.zeros(len(own), np.int64)
    out = np.zeros(arrays[1].shape[1], np.int32)
    for i in range(len(own)):
        _patterns_of(i, arrays, packed, out)
        mine[i] = out[own[i]]
        for j in range(len(out)):
            total[out[j]] += 1
    return total, mine


@kernel
def count_outcomes(arrays, packed, outcomes):  # type: ignore[no-untyped-def]
    """Count, for each attacker, the records of each outcome 0 … 3; outcomes: (P,). (a, 4)."""
    found = np.zeros((len(arrays[4]), 4), np.int64)
    out = np.zeros(arrays[1].shape[1], np.int32)
    for i in range(len(found)):
        _patterns_of(i, arrays, packed, out)
        for j in range(len(out)):
            found[i, outcomes[out[j]]] += 1
    return found


@kernel
def count_each(arrays, packed, width):  # type: ignore[no-untyped-def]
    """Count, for each attacker, the records of each pattern, (a, P), and return the pattern of its own, (a,).

    All that the other kernels count follows from it, for which they compare all pairs once more each.
    """
    own = arrays[4]
    found, mine = np.zeros((len(own), width), np.int64), np.zeros(len(own), np.int64)
    out = np.zeros(arrays[1].shape[1], np.int32)
    for i in range(len(own)):
        _patterns_of(i, arrays, packed, out)
        mine[i] = out[own[i]]
        for j in range(len(out)):
            found[i, out[j]] += 1
    return found, mine


@kernel
def count_best(arrays, packed, ranks):  # type: ignore[no-untyped-def]
    """Return each attacker's highest rank and how many records have it; ranks: (P,). (a, 2)."""
    found = np.zeros((len(arrays[4]), 2), np.int64)
    out = np.zeros(arrays[1].shape[1], np.int32)
    for i in range(len(found)):
        _patterns_of(i, arrays, packed, out)
        best = np.int64(-1)
        count = 0
        for j in range(len(out)):
            rank = ranks[out[j]]
            if rank > best:
                best, count = rank, 0
            count += rank == best
        found[i, 0], found[i, 1] = best, count
    return found


@kernel
def count_similar(arrays, ranges, bounds):  # type: ignore[no-untyped-def]
    """Count, for each attacker, the records as similar as each of two bounds; and the own similarity.

    Similarity is the mean over the attributes: codes 1 if equal, numbers 1 − distance/range, not below 0.
    """
    known_codes, codes, known_numbers, numbers, own = arrays
    upper, lower = bounds
    counts, mine = np.zeros((len(own), 2), np.int64), np.zeros(len(own))
    score = np.zeros(codes.shape[1])
    for i in range(len(own)):
        score[:] = 0.0
        for column in range(len(codes)):
            value, row = known_codes[column, i], codes[column]
            for j in range(len(score)):
                score[j] += row[j] == value
        for column in range(len(numbers)):
            number, line, span = known_numbers[column, i], numbers[column], ranges[column]
            for j in range(len(score)):
                score[j] += max(0.0, 1.0 - abs(line[j] - number) / span)
        score /= len(codes) + len(numbers)
        for j in range(len(score)):
            counts[i, 0] += score[j] >= upper
            counts[i, 1] += score[j] >= lower
        mine[i] = score[own[i]]
    return counts, mine
