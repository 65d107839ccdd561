"""Distinction and separation, by hand and by comparing all pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.draft.profile.separation import sampled_rows, separate, smallest_separating_set


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 3)), min_size=2, max_size=30))
def test_it_is_what_comparing_all_pairs_finds(rows: list[tuple[int, int]]) -> None:
    codes = [np.array([row[j] for row in rows]) for j in range(2)]
    found = separate(codes, [0, 1])
    pairs = list(combinations(rows, 2))
    assert found.separation == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))
    assert found.distinction == pytest.approx(len(set(rows)) / len(rows))
    assert found.alone == pytest.approx(sum(rows.count(row) == 1 for row in rows) / len(rows))


def test_the_set_that_separates_most_is_found_greedily() -> None:
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, m, 500) for m in (2, 40, 3, 30)]
    found = smallest_separating_set(codes, [0, 1, 2, 3], enough=0.5)
    assert found is not None
    assert set(found.columns[:2]) == {1, 3}
    assert found == separate(codes, found.columns)


def test_nothing_to_choose_from() -> None:
    assert smallest_separating_set([], []) is None


def test_it_stops_where_it_is_enough() -> None:
    found = smallest_separating_set([np.arange(10), np.arange(10)], [0, 1])
    assert found is not None
    assert (len(found.columns), found.alone) == (1, 1.0)


def test_large_tables_are_sampled_always_alike() -> None:
    assert sampled_rows(10, 10) is None
    first, second = sampled_rows(1000, 10), sampled_rows(1000, 10)
    assert first is not None
    assert second is not None
    assert first.tolist() == second.tolist() == sorted(set(first.tolist()))
