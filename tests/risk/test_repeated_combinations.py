"""Combinations that repeat as people do: against a count of all pairs, and with rates over seeded tables."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from anon_pipeline.risk.repeated_combinations import counts_repeat, interaction, repeats_as_people_do

Columns = list[NDArray[np.int64]]
TABLES = 200


def drawn(seed: int, n: int, together: float) -> Columns:
    """Age, sex, postal code, trade, children of n people; a hidden number may tie them together."""
    random = np.random.default_rng(seed)
    hidden = random.normal(size=n) * together

    def tied(spread: float, middle: int, most: int) -> NDArray[np.int64]:
        return np.clip((random.normal(size=n) + hidden) * spread + middle, 0, most).astype(np.int64)

    age, code = tied(14, 45, 90), tied(12, 40, 79)
    chosen = [age, code, random.integers(0, 2, n), tied(4, 10, 19), random.poisson(1.1, n)]
    redundant = [code // 8, 100 - age - random.integers(0, 2, n)]
    return [*chosen[: 3 + seed % 3], *redundant[: seed % 4 // 2 + seed % 2]]


def visits(seed: int, persons: int) -> Columns:
    """Records of these people: four on average."""
    random = np.random.default_rng(seed + 10_000)
    own = np.repeat(np.arange(persons), random.geometric(1 / 4, persons))
    return [column[own] for column in drawn(seed, persons, seed % 3 * 0.5)]


def slow_interaction(columns: Columns, i: int, j: int) -> float:
    counts = np.full((2, 2, 2), 0.5)
    for a, b in combinations(range(len(columns[0])), 2):
        rest = all(c[a] == c[b] for k, c in enumerate(columns) if k not in (i, j))
        counts[int(rest), int(columns[i][a] == columns[i][b]), int(columns[j][a] == columns[j][b])] += 1
    odds = counts[:, 0, 0] * counts[:, 1, 1] / (counts[:, 0, 1] * counts[:, 1, 0])
    return float(odds[1] / odds[0])


@pytest.mark.parametrize("seed", range(5))
def test_as_pairs_are_counted(seed: int) -> None:
    random = np.random.default_rng(seed)
    columns = [random.integers(0, many, 50) for many in (3, 4, 2, 5)]
    for i, j in combinations(range(4), 2):
        assert interaction(columns, i, j) == pytest.approx(slow_interaction(columns, i, j))


def test_one_record_each_never_looks_like_people() -> None:
    sizes = np.random.default_rng(0).integers(100, 6_000, TABLES)
    found = [repeats_as_people_do(drawn(seed, n, seed % 3 * 0.7)) for seed, n in enumerate(sizes.tolist())]
    assert sum(found) == 0


def test_people_with_several_records_are_seen_where_columns_tell_them_apart() -> None:
    """A few hundred people of 90 ages, 80 postal codes, two sexes: none is missed."""
    sizes = np.random.default_rng(1).integers(100, 1_000, TABLES)
    found = [repeats_as_people_do(visits(seed, n)) for seed, n in enumerate(sizes.tolist())]
    assert sum(found) == TABLES


def test_few_columns_and_few_records_say_nothing() -> None:
    columns = visits(1, 200)
    assert not repeats_as_people_do(columns[:2])
    assert not repeats_as_people_do([])
    assert not repeats_as_people_do([column[:0] for column in columns])
    assert not repeats_as_people_do([columns[0], columns[0] // 2, columns[0] // 4])
    assert not repeats_as_people_do([column[:6] for column in columns])


def test_a_join_that_writes_each_person_several_times_is_seen() -> None:
    """Three coarse columns, several people in each combination: no pair of columns tells."""
    random = np.random.default_rng(5)
    people = [random.integers(0, m, 600) for m in (5, 2, 12)]
    assert not counts_repeat(people)
    for times in (2, 3, 5):
        rows = random.permutation(np.repeat(np.arange(600), times))
        joined = [column[rows] for column in people]
        assert counts_repeat(joined)
        assert not counts_repeat([column[:-1] for column in joined])


def test_no_table_of_different_people_has_counts_that_repeat() -> None:
    assert not any(counts_repeat(drawn(seed, 400, seed % 3 * 0.5)[:3]) for seed in range(TABLES))


def test_few_combinations_and_no_records_say_nothing() -> None:
    assert not counts_repeat([np.repeat(np.arange(19), 4)])
    assert counts_repeat([np.repeat(np.arange(20), 4)])
    assert not counts_repeat([np.array([], dtype=np.int64)])
