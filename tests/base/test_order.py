"""Whole numbers in order, against numpy's own sorting and a dictionary, at widths of one digit to four."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.order import (
    add_values,
    count_different,
    count_values,
    different_values,
    rank_values,
    repeated_rows,
    sort_keys,
    sorted_places,
)

SPACES = {"one": 1, "dense": 9, "digit": 2**16, "two": 2**31, "three": 2**48, "four": 2**62}


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
@pytest.mark.parametrize("n", [0, 1, 60, 5_000])
def test_numbers_are_sorted_stably(space: int, n: int) -> None:
    rng = np.random.default_rng(n)
    keys = np.tile(rng.integers(0, space, n), 2)[rng.permutation(2 * n)]
    plain = np.argsort(keys, kind="stable")
    assert sorted_places(keys, space).tolist() == plain.tolist()
    assert [found.tolist() for found in sort_keys(keys, space)] == [keys[plain].tolist(), plain.tolist()]


def test_narrow_integers_do_not_overflow_beside_their_places() -> None:
    keys = np.array([2**30, 5, 2**30, 70_000], np.int32)
    ordered, places = sort_keys(keys, 2**31)
    assert (ordered.tolist(), places.tolist()) == ([5, 70_000, 2**30, 2**30], [1, 3, 0, 2])


@pytest.mark.parametrize("space", [1, 9, 200, 2**40], ids=["one", "dense", "counted", "sorted"])
@pytest.mark.parametrize("n", [0, 1, 60, 5_000])
def test_numbers_are_counted_as_in_a_dictionary(space: int, n: int) -> None:
    keys = np.random.default_rng(n).integers(0, min(space, 50), n) * max(space // 50, 1)
    counted = Counter(keys.tolist())
    values, counts = count_values(keys, space)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == counted
    assert values.tolist() == sorted(counted)
    ranks, many = rank_values(keys, space)
    assert (ranks.tolist(), many) == ([values.tolist().index(key) for key in keys.tolist()], len(counted))
    places, sizes = repeated_rows(keys, space)
    assert sorted(places.tolist()) == [place for place, key in enumerate(keys.tolist()) if counted[key] > 1]
    assert sorted(sizes.tolist()) == sorted(counted.values())


ANY = st.one_of(st.integers(-5, 5), st.integers(-(2**63), 2**63 - 1))


@settings(deadline=None)
@given(st.lists(ANY, max_size=30))
def test_different_values_are_those_of_unique(numbers: list[int]) -> None:
    values, ranks = different_values(np.array(numbers, np.int64))
    wanted, inverse = np.unique(np.array(numbers, np.int64), return_inverse=True)
    assert (values.tolist(), ranks.tolist()) == (wanted.tolist(), inverse.tolist())
    assert count_different(np.array(numbers, np.int64)) == len({*numbers})


@settings(deadline=None)
@given(st.lists(st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False)), max_size=30))
def test_different_floats_are_counted(numbers: list[float]) -> None:
    assert count_different(np.array(numbers)) == len(np.unique(np.array(numbers)))


@given(
    st.lists(st.tuples(st.integers(0, 200), st.integers(1, 2**57)), max_size=30),
    st.sampled_from([201, 2**40]),
)
def test_weights_are_added_as_whole_numbers(rows: list[tuple[int, int]], space: int) -> None:
    """Sums of numbers of 53 bits and more, counted in place and sorted."""
    sums: dict[int, int] = {}
    for key, weight in rows:
        sums[key] = sums.get(key, 0) + weight
    keys, weights = (np.array([row[place] for row in rows], np.int64) for place in (0, 1))
    values, found = add_values(keys, weights, space)
    assert dict(zip(values.tolist(), found.tolist(), strict=True)) == sums
    assert values.tolist() == sorted(sums)
