"""Individual ranking: means of consecutive values."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.perturb.keys import NoiseKey, Words
from anon_pipeline.perturb.whole_column.columns_to_change import Columns
from anon_pipeline.perturb.whole_column.individual_ranking import average_ranks


def test_groups_are_consecutive_and_the_last_one_takes_the_rest(columns: Callable[..., Columns]) -> None:
    values = np.array([7, 1, 3, 10, 2, 8, 9])
    found = average_ranks(columns(values, 3))[:, 0]
    assert found.tolist() == [9, 2, 2, 9, 2, 9, 9]  # 1, 2, 3 and 7, 8, 9, 10: 8.5 is rounded up


def test_fewer_values_than_a_group_have_one_mean(columns: Callable[..., Columns]) -> None:
    assert average_ranks(columns([4, 6], 5))[:, 0].tolist() == [5, 5]


def test_sums_beyond_64_bits_are_exact(columns: Callable[..., Columns]) -> None:
    values = [-(2**52), *[2**52] * 999]
    assert average_ranks(columns(values, 1000))[:, 0].tolist() == [4494592428115755] * 1000


@given(st.lists(st.integers(-(2**51), 2**51), min_size=2, max_size=40), st.integers(2, 6))
def test_the_mean_of_all_stays_and_each_value_has_k_records(values: list[int], k: int) -> None:
    table = np.array(values, np.int64)[:, None]
    words = Words(NoiseKey(b"i" * 32), np.arange(len(values), dtype=np.int64))
    found = average_ranks(Columns(table, np.zeros(len(values), np.int64), (float(k),), (words,)))[:, 0]
    assert np.unique(found, return_counts=True)[1].min() >= min(k, len(values))
    assert abs(sum(found.tolist()) - sum(values)) <= len(values) / 2  # each mean is rounded
    order = np.argsort(table[:, 0], kind="stable")
    assert (np.diff(found[order]) >= 0).all()


@pytest.mark.parametrize("k", [2, 5, 20])
def test_the_loss_grows_with_the_group_and_is_below_that_of_groups_of_records(
    columns: Callable[..., Columns], k: int
) -> None:
    """Of several columns, one at a time loses less than groups of whole records do [DB 3.2]."""
    values = np.random.default_rng(0).normal(0, 1_000, (400, 3)).round()
    one = np.square(average_ranks(columns(values, k)) - values).sum()
    larger = np.square(average_ranks(columns(values, 2 * k)) - values).sum()
    order = np.argsort(values.sum(axis=1))
    grouped = np.empty_like(values)
    for start in range(0, 400, k):
        grouped[order[start : start + k]] = values[order[start : start + k]].mean(axis=0)
    assert one < larger and one < np.square(grouped - values).sum()


def means_by_hand(values: list[int], k: int) -> list[int]:
    """Return the mean of each value's group, in whole numbers; a half goes up."""
    order = sorted(range(len(values)), key=lambda record: values[record])
    found, groups = [0] * len(values), max(len(values) // k, 1)
    for group in range(groups):
        members = order[group * k :] if group == groups - 1 else order[group * k : (group + 1) * k]
        mean = Fraction(sum(values[record] for record in members), len(members))
        for record in members:
            found[record] = math.floor(mean + Fraction(1, 2))
    return found


@given(
    table=st.lists(st.tuples(st.integers(-(2**52), 2**52), st.integers(-3, 3)), min_size=1, max_size=30),
    sizes=st.tuples(st.integers(2, 6), st.integers(2, 6)),
)
def test_it_is_its_slow_twin(table: list[tuple[int, int]], sizes: tuple[int, int]) -> None:
    n = len(table)
    words = Words(NoiseKey(b"i" * 32), np.arange(n, dtype=np.int64))
    columns = Columns(
        np.array(table), np.zeros(n, np.int64), tuple(map(float, sizes)), (words, words.of_column(1))
    )
    wanted = [means_by_hand([row[j] for row in table], sizes[j]) for j in range(2)]
    assert average_ranks(columns).T.tolist() == wanted
