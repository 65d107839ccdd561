"""Sorting inside compiled loops, against numpy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.sorting import lexicographically_below, sort_pairs, sort_rows


@given(st.lists(st.integers(-5, 5), max_size=40))
def test_pairs_are_sorted_and_partners_move_along(keys: list[int]) -> None:
    numbers, partners = np.array(keys, np.int64), np.arange(len(keys))
    sort_pairs(numbers, partners)
    assert numbers.tolist() == sorted(keys)
    assert [keys[place] for place in partners] == numbers.tolist()
    assert sorted(partners.tolist()) == list(range(len(keys)))


@pytest.mark.parametrize("n", [0, 1, 2, 31, 32, 33, 64, 65, 100, 257, 1000])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_rows_are_sorted_as_numpy_sorts_them(n: int, p: int) -> None:
    rows = np.random.default_rng(n).integers(0, 6, (n + 4, p)).astype(np.float64)
    before = rows.copy()
    sort_rows(rows, 2, n + 2, np.empty((max(n, 1), p)))
    own = before[2 : n + 2]
    assert (rows[2 : n + 2] == own[np.lexsort(own.T[::-1])]).all()
    assert (rows[:2] == before[:2]).all()
    assert (rows[n + 2 :] == before[n + 2 :]).all()


def test_a_row_is_below_another_by_the_columns_that_count() -> None:
    a, b = np.array([2.0, 1.0, 5.0]), np.array([1.0, 1.0, 6.0])
    assert not lexicographically_below(a, b, 0)
    assert lexicographically_below(a, b, 1)
    assert not lexicographically_below(a, a, 0)
