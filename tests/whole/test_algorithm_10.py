"""Algorithm 10 of the book, as it is printed, is not ε-DP: which records share a group is published exactly.

Each record keeps the noisy means of its groups in all columns. Values of one group are equal, those of two
groups differ (with probability one for Laplace noise), so that the records show which of them were in one
group. With one column there is nothing to be seen.
"""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
K = 2


def groups_of(column: Integers) -> Integers:
    """Return the group of each record: neighbours in the sorted column, equal values by their place."""
    groups = np.empty(len(column), np.int64)
    groups[np.argsort(column, kind="stable")] = np.arange(len(column)) // K
    return groups


def printed_algorithm(table: Integers, random: np.random.Generator) -> NDArray[np.float64]:
    """Return the records that Algorithm 10 releases, Laplace noise on the mean of each group."""
    released = np.empty(table.shape)
    for place, column in enumerate(table.T):
        groups = groups_of(column)
        noise = random.laplace(0, 2 / K, groups.max() + 1)
        means = np.bincount(groups, column) / np.bincount(groups) + noise
        released[:, place] = means[groups]
    return released[random.permutation(len(released))]


def pattern_of(released: NDArray[np.float64]) -> tuple[tuple[int, ...], ...]:
    """Return what an attacker sees whatever the noise: how often values of the columns come together."""
    pairs = Counter(map(tuple, released))
    by_first: dict[float, list[int]] = {}
    for (first, _), count in pairs.items():
        by_first.setdefault(first, []).append(count)
    return tuple(sorted(tuple(sorted(counts)) for counts in by_first.values()))


def test_neighbours_have_patterns_that_the_other_one_never_has() -> None:
    random, told = np.random.default_rng(0), 0
    rows = list(itertools.product(range(3), repeat=2))
    for rest in itertools.combinations(rows, 3):
        seen = {}
        for last in rows:
            table = np.array([*rest, last])
            seen[last] = {pattern_of(printed_algorithm(table, random)) for _ in range(5)}
            assert len(seen[last]) == 1  # the noise does not change it
        told += len({pattern for patterns in seen.values() for pattern in patterns}) > 1
    assert told > 50  # an attacker who knows three records rules values of the fourth out for certain


def test_with_one_column_there_is_one_pattern() -> None:
    random = np.random.default_rng(0)
    patterns = set()
    for values in itertools.product(range(3), repeat=4):
        released = printed_algorithm(np.array(values)[:, None], random)[:, 0]
        patterns.add(tuple(sorted(Counter(released).values())))
    assert patterns == {(2, 2)}
