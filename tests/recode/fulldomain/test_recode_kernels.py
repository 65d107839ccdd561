"""Kernels of the lattice search against slow twins: dictionaries and sums in plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.fulldomain.kernels import group_keys, pack_keys, price_classes


def grouped(keys: np.ndarray, counts: np.ndarray, space: int) -> list[tuple[int, int]]:
    rows = keys.shape[1]
    slots = np.full(4 << max(1, (2 * rows - 1).bit_length()), 77, np.int64)
    classes = np.full((2, rows), 99, np.int64)
    found = group_keys(keys, counts, space, slots, classes)
    return list(zip(classes[0, :found].tolist(), classes[1, :found].tolist(), strict=True))


def slow_grouped(keys: np.ndarray, counts: np.ndarray) -> list[tuple[int, int]]:
    """Twin of `group_keys`: first row and records of each key, in order of first appearance."""
    first: dict[tuple[int, ...], int] = {}
    records: Counter[tuple[int, ...]] = Counter()
    for row, key in enumerate(map(tuple, keys.T.tolist())):
        first.setdefault(key, row)
        records[key] += int(counts[row])
    return [(row, records[key]) for key, row in first.items()]


KEYS = st.one_of(st.integers(0, 5), st.integers(0, 2**62), st.integers(0, 40).map(lambda high: high << 40))


@settings(deadline=None)
@given(
    words=st.integers(1, 3).flatmap(
        lambda w: st.lists(st.tuples(*[KEYS] * w, st.integers(1, 2**40)), min_size=1, max_size=40)
    )
)
def test_hashed_keys_group_as_a_dictionary_does(words: list[tuple[int, ...]]) -> None:
    table = np.array(words, np.int64).T.copy()
    keys, counts = np.ascontiguousarray(table[:-1]), np.ascontiguousarray(table[-1])
    assert grouped(keys, counts, 0) == slow_grouped(keys, counts)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), min_size=1, max_size=40))
def test_keys_that_are_their_own_slot_group_alike(rows: list[tuple[int, int]]) -> None:
    keys, counts = np.array([rows], np.int64)[:, :, 0].copy(), np.array(rows, np.int64)[:, 1].copy()
    for space in (31, 10**9, 2**62):
        assert grouped(keys, counts, space) == slow_grouped(keys, counts)


def test_colliding_hashes_do_not_merge_classes() -> None:
    """As many distinct keys as tuples, so that many share a slot."""
    keys = np.arange(5000, dtype=np.int64)[None] * 2**32
    counts = np.ones(5000, np.int64)
    assert grouped(keys, counts, 0) == [(row, 1) for row in range(5000)]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=9))
def test_packed_keys_are_mixed_radix_numbers(rows: list[tuple[int, int, int]]) -> None:
    tuples = np.array(rows, np.int64).T.copy()
    table = np.array(
        [0, 0, 1, 1, 0, 1, 2, 0, 0], np.int64
    )  # levels of 4, 3 and 2 leaves, the last one the top
    places = np.array([[0, 1, 0], [4, 2, 1], [7, 0, 1]], np.int64)
    keys = np.full((2, len(rows)), -5, np.int64)
    pack_keys(tuples, table, places, keys)
    assert keys.tolist() == [[row[0] // 2 for row in rows], [2 * row[1] for row in rows]]


@pytest.mark.parametrize(("k", "suppressed", "sums"), [(1, 0, [44, 56]), (3, 2, [40, 50]), (11, 12, [0, 0])])
def test_prices_are_summed_over_the_kept_classes(k: int, suppressed: int, sums: list[int]) -> None:
    tuples = np.array([[0, 1, 1], [1, 0, 1]], np.int64)
    classes = np.array([[0, 1], [2, 10]], np.int64)  # tuple 0 stands for 2 records, tuple 1 for 10
    cost = np.array([2, 4, 5, 3], np.int64)
    got = price_classes(classes, 2, k, tuples, cost, np.array([0, 2]))
    assert (got[0], got[1].tolist()) == (suppressed, sums)


def test_prices_do_not_overflow_32_bits() -> None:
    classes = np.array([[0], [3_000_000_000]], np.int64)
    cost = np.array([50_000], np.int64)
    suppressed, sums = price_classes(classes, 1, 2, np.zeros((1, 1), np.int64), cost, np.zeros(1, np.int64))
    assert (suppressed, sums.tolist()) == (0, [150_000_000_000_000])
