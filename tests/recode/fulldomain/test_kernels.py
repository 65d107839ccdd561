"""Kernels of the lattice search against slow twins: dictionaries and sums in plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.fulldomain.fast.tables import cheapest
from anon_pipeline.recode.fulldomain.kernels import count_sizes, price, roll_up
from anon_pipeline.recode.fulldomain.layout import hash_slots
from tests.example_counts import examples_of


def rolled(
    keys: np.ndarray, sizes: np.ndarray, fields: np.ndarray, codes: np.ndarray, cuts: tuple[int, ...] = ()
) -> tuple[list[tuple[int, ...]], list[int], list[int]]:
    rows = keys.shape[1]
    used = 2 << max(1, rows - 1).bit_length()
    slots = np.full(2 * used, 77, np.int32)
    out = np.full((keys.shape[0], rows + 1), 99), np.full(rows, 88), np.full(rows, 77)
    found, begin = 0, 0
    for end in (*cuts, rows):
        found = roll_up((keys, sizes), (fields, codes), (slots, used), out, (begin, end, found))
        begin = end
    whole, unasked = (0, rows, 0), (out[0].copy(), out[1].copy(), np.empty(0, np.int64))
    assert roll_up((keys, sizes), (fields, codes), (slots, used), unasked, whole) == found
    assert all((a == b).all() for a, b in zip(unasked[:2], out[:2], strict=True))
    return list(map(tuple, out[0].T[:found].tolist())), out[1][:found].tolist(), out[2].tolist()


def slow_rolled(
    keys: np.ndarray, sizes: np.ndarray, fields: np.ndarray, codes: np.ndarray
) -> tuple[list[tuple[int, ...]], list[int], list[int]]:
    """Twin of `roll_up`: keys in order of first appearance, their records, and the class of each row."""
    records: Counter[tuple[int, ...]] = Counter()
    order: dict[tuple[int, ...], int] = {}
    labels = []
    for key, size in zip(keys.T.tolist(), sizes.tolist(), strict=True):
        for word, shift, mask, start in fields.tolist():
            old = key[word] >> shift & mask
            key[word] = key[word] & ~(mask << shift) | int(codes[start + old]) << shift
        labels.append(order.setdefault(tuple(key), len(order)))
        records[tuple(key)] += size
    return list(order), [records[key] for key in order], labels


@pytest.mark.parametrize("words", [1, 2, 3])
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_rolled_up_classes_are_those_of_a_dictionary(data: st.DataObject, words: int) -> None:
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, 7)] * 3 * words), min_size=1, max_size=40))
    shifts = data.draw(st.sampled_from([(0, 3, 6), (0, 30, 59), (20, 40, 59)]))
    table = np.array(rows, np.int64).reshape(len(rows), words, 3)
    keys = np.ascontiguousarray((table << np.array(shifts)).sum(axis=2).T)
    sizes = np.array(data.draw(st.lists(st.integers(1, 2**40), min_size=len(rows), max_size=len(rows))))
    chosen = data.draw(
        st.lists(st.tuples(st.integers(0, words - 1), st.integers(0, 2)), unique=True, max_size=4)
    )
    fields = np.array([(w, shifts[s], 7, 8 * place) for place, (w, s) in enumerate(chosen)], np.int64)
    fields = fields.reshape(-1, 4)
    codes = np.sort(np.array(data.draw(st.lists(st.integers(0, 7), min_size=40, max_size=40)), np.int64))
    cut = data.draw(st.integers(0, len(rows)))
    want = slow_rolled(keys, sizes, fields, codes)
    assert rolled(keys, sizes, fields, codes) == want
    assert rolled(keys, sizes, fields, codes, (cut,)) == want


@pytest.mark.parametrize("words", [1, 2])
def test_colliding_hashes_do_not_merge_classes(words: int) -> None:
    """As many distinct keys as rows, so that many share a slot."""
    keys = np.zeros((words, 5000), np.int64)
    keys[-1] = np.arange(5000, dtype=np.int64) * 2**48
    got = rolled(keys, np.ones(5000, np.int64), np.zeros((0, 4), np.int64), np.zeros(0, np.int64))
    assert got == (list(map(tuple, keys.T.tolist())), [1] * 5000, list(range(5000)))


@given(st.lists(st.integers(1, 2**31), min_size=1, max_size=20), st.integers(1, 2**31))
@settings(deadline=None)
def test_sizes_are_counted(sizes: list[int], k: int) -> None:
    kept = np.zeros(len(sizes), np.bool_)
    got = count_sizes(np.array(sizes), k, kept)
    large = [size for size in sizes if size >= k]
    want = sum(sizes) - sum(large), len(large), sum(s * s for s in large), sum(s * s for s in sizes)
    if want[3] < 2**63:
        assert got == want
    assert kept.tolist() == [size >= k for size in sizes]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 50), st.booleans()), min_size=1)
)
def test_prices_are_summed_over_the_kept_classes(rows: list[tuple[int, int, int, bool]]) -> None:
    table = np.array([row[:3] for row in rows], np.int64)
    keys = np.stack([table[:, 0] << 5, table[:, 1] << 2])
    kept = np.array([row[3] for row in rows])
    cost = np.array([3, 1, 4, 1, 50_000, 9, 2, 6], np.int64)
    fields = np.array([[0, 5, 3, 0], [1, 2, 3, 4]], np.int64)
    want = [sum(int(cost[a]) * n for a, _, n, own in rows if own)]
    want.append(sum(int(cost[4 + b]) * n for _, b, n, own in rows if own))
    assert price(keys, table[:, 2].copy(), kept, fields, cost).tolist() == want


def test_prices_do_not_overflow_32_bits() -> None:
    sums = price(
        np.zeros((1, 1), np.int64),
        np.array([3_000_000_000]),
        np.ones(1, np.bool_),
        np.zeros((1, 4), np.int64),
        np.array([50_000]),
    )
    assert sums.tolist() == [150_000_000_000_000]


@settings(deadline=None)
@given(data=st.data())
def test_the_cheapest_table_below_is_found(data: st.DataObject) -> None:
    level = st.tuples(st.integers(0, 2), st.integers(0, 2))
    tables = [((0, 0), 20), *data.draw(st.lists(st.tuples(level, st.integers(0, 20))))]
    node = data.draw(level)
    fits = [(r, p) for p, ((a, b), r) in enumerate(tables) if r > 0 and a <= node[0] and b <= node[1]]
    levels, rows = np.array([own for own, _ in tables]), np.array([count for _, count in tables])
    assert cheapest(levels, rows, np.array(node)) == min(fits)[1]


def test_slots_are_enough_and_never_fewer_for_more_rows() -> None:
    """The scratch space of a whole table is used for each smaller one."""
    rows = sorted({0, 1, 2, *(2**bit + more for bit in range(1, 26) for more in (-1, 0, 1))})
    slots = [hash_slots(many) for many in rows]
    assert slots == sorted(slots)
    assert all(
        found >= 2 * many and found & (found - 1) == 0 for many, found in zip(rows, slots, strict=True)
    )
