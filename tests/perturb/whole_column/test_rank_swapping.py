"""Rank swapping: Algorithm 1 of the book, rank by rank."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.perturb.keys import NoiseKey, Words
from anon_pipeline.perturb.whole_column.columns_to_change import Columns
from anon_pipeline.perturb.whole_column.rank_swapping import partners, rank_swap


def _slow(uniform: list[float], reach: int) -> list[int]:
    """Follow [DB 3.2], Algorithm 1, with a list of the ranks that are not exchanged."""
    found, free = list(range(len(uniform))), list(range(len(uniform)))
    while free:
        i = free.pop(0)
        near = [j for j in free if j <= i + reach]
        if near:
            j = near[int(uniform[i] * len(near))]
            found[i], found[j] = j, i
            free.remove(j)
    return found


@given(st.lists(st.floats(0.001, 0.999), max_size=40), st.integers(1, 50))
def test_partners_are_those_of_the_book(uniform: list[float], reach: int) -> None:
    found = partners(np.array(uniform), reach)
    assert found.tolist() == _slow(uniform, reach)
    assert (found[found] == np.arange(len(uniform))).all()


def test_partners_are_uniform_among_those_in_reach() -> None:
    random = np.random.default_rng(0)
    first = Counter(int(partners(random.random(6), 3)[0]) for _ in range(6_000))
    assert set(first) == {1, 2, 3} and all(abs(many - 2_000) < 200 for many in first.values())


@given(st.integers(2, 200), st.floats(0.01, 1))
def test_no_rank_moves_by_more_than_the_share_and_the_values_stay(n: int, share: float) -> None:
    columns = _one_column(n, share)
    found = rank_swap(columns)[:, 0]
    assert sorted(found) == sorted(columns.values[:, 0])
    moved = np.abs(np.argsort(np.argsort(found)) - np.argsort(np.argsort(columns.values[:, 0])))
    assert moved.max() <= max(int(share * n), 1)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.floats(0.01, 1), st.integers(0, 99))
def test_categories_move_by_no_more_than_the_share_of_the_ranks(
    codes: list[int], share: float, key: int
) -> None:
    """Equal ones have the ranks that chance gives them, as equal numbers have; a twin follows the book."""
    n, reach = len(codes), max(math.floor(Fraction(repr(share)) * len(codes)), 1)
    words = Words(NoiseKey(key.to_bytes(32, "big")), np.arange(n, dtype=np.int64))
    columns = Columns(np.array(codes)[:, None], np.zeros(n, np.int64), (share,), (words,))
    found, ranked = rank_swap(columns)[:, 0].tolist(), sorted(codes)
    assert sorted(found) == ranked
    for own, released in zip(codes, found, strict=True):
        first, last = ranked.index(own), n - 1 - ranked[::-1].index(own)
        assert ranked[max(first - reach, 0)] <= released <= ranked[min(last + reach, n - 1)]
    order = columns.ranks(0, part=1)[0].tolist()
    swapped = _slow(columns.uniform(0)[order].tolist(), reach)
    assert found == [codes[order[swapped[order.index(at)]]] for at in range(n)]


def _one_column(n: int, share: float) -> Columns:
    """Make one column of different values in a mixed order."""
    values = np.random.default_rng(n).permutation(n)[:, None] * 3
    words = Words(NoiseKey(b"r" * 32), np.arange(n, dtype=np.int64))
    return Columns(values.astype(np.int64), np.zeros(n, np.int64), (share,), (words,))


def test_correlations_suffer_less_the_smaller_the_share(columns: Callable[..., Columns]) -> None:
    random = np.random.default_rng(1)
    base = random.normal(0, 100, 5_000)
    values = np.rint(np.stack((base, base + random.normal(0, 30, 5_000)), axis=1))
    kept = [np.corrcoef(rank_swap(columns(values, share)).T)[0, 1] for share in (0.01, 0.1, 0.5)]
    own = np.corrcoef(values.T)[0, 1]
    assert own > kept[0] > kept[1] > kept[2]
