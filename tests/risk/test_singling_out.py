"""Which columns single records out: the search with bounds against counting every combination by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from anon_pipeline.risk.singling_out import (
    Columns,
    distinct_share,
    exceeding_sets,
    exceeds,
    is_identifying,
)

Table = list[NDArray[np.int64]]


def slow_twin(columns: Table, allowed: Callable[[Columns], float]) -> tuple[Columns, ...]:
    """Count every pair and triple, and keep the smallest that exceed what is allowed."""
    found: list[Columns] = []
    for size in (2, 3):
        for chosen in combinations(range(len(columns)), size):
            if any(set(part) < set(chosen) for part in found):
                continue
            rows = [row for row in zip(*(columns[j].tolist() for j in chosen), strict=True) if min(row) >= 0]
            counts = Counter(rows)
            alone = sum(counts[row] == 1 for row in rows)
            if rows and allowed(chosen) < 1 and exceeds(alone, len(rows), allowed(chosen)):
                found.append(chosen)
    return tuple(found)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    n, q = draw(st.integers(1, 60)), draw(st.integers(0, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = []
    for _ in range(q):
        codes = random.integers(0, draw(st.integers(1, 20)), n)
        lacking = random.random(n) < draw(st.sampled_from([0.0, 0.0, 0.3, 1.0]))
        columns.append(np.where(lacking, -1, np.unique(codes, return_inverse=True)[1]).astype(np.int64))
    return columns


@given(tables(), st.sampled_from([0.0, 0.05, 0.3]), st.data())
def test_the_search_finds_what_counting_finds(columns: Table, usual: float, data: st.DataObject) -> None:
    every = [c for size in (2, 3) for c in combinations(range(len(columns)), size)]
    more = data.draw(st.sets(st.sampled_from(every), max_size=4)) if every else set()
    share = data.draw(st.sampled_from([0.1, 0.5, 1.0]))

    def allowed(chosen: Columns) -> float:
        return share if any(set(chosen) <= set(known) for known in more) else usual

    found = exceeding_sets(columns, allowed)
    assert found.complete
    assert found.sets == slow_twin(columns, allowed)


def test_a_wide_table_uses_the_budget_up_and_says_so() -> None:
    random = np.random.default_rng(0)
    columns = [random.integers(0, 40, 2_000) for _ in range(12)]
    whole = exceeding_sets(columns, lambda chosen: 0.9)
    assert whole.complete
    short = exceeding_sets(columns, lambda chosen: 0.9, budget=100_000)
    assert not short.complete
    assert set(short.sets) <= set(whole.sets)
    assert exceeding_sets(columns, lambda chosen: 1.0, budget=500_000).complete  # nothing has to be counted


def test_bounds_spare_the_counting_of_narrow_columns() -> None:
    columns = [np.random.default_rng(j).integers(0, 3, 10_000) for j in range(30)]
    visits = 1_000 * (30 * 29 // 2 + 30 * 29 * 28 // 6)
    found = exceeding_sets(columns, lambda chosen: 0.05, budget=visits)  # not one record is looked at
    assert found.complete
    assert found.sets == ()


@pytest.mark.parametrize(
    ("singled", "records", "refused"),
    [
        (5, 100, False),
        (6, 100, True),
        (4, 10, False),
        (5, 10, True),
        (2, 4, True),
        (1, 4, False),
        (4, 60, False),
    ],
)
def test_a_few_records_of_a_small_table_do_not_count_until_they_are_half_of_it(
    singled: int, records: int, refused: bool
) -> None:
    assert exceeds(singled, records, 0.05) is refused


def test_an_identifier_has_half_as_many_different_values_as_values() -> None:
    number = np.arange(100)
    assert is_identifying(number)
    assert is_identifying(number // 2)  # two records a person
    assert not is_identifying(number // 3)
    assert is_identifying(np.where(number < 60, -1, number))  # missing values do not dilute it
    assert not is_identifying(np.where(number < 96, -1, number))  # four values say little
    assert not is_identifying(np.full(100, -1))
    assert distinct_share(np.array([0, 0, 1, -1])) == pytest.approx(2 / 3)
    assert distinct_share(np.array([-1])) == 0
