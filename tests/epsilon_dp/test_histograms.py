"""Counts, bins, and made-up records that have the counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.epsilon_dp.histograms import (
    apportion,
    bin_of,
    bin_starts,
    exact_counts,
    fitted_weights,
    made_records,
    noisy_counts,
)
from anon_pipeline.perturb.budget import exact_fraction
from tests.epsilon_dp.neighbours import KEY, dp_policy

BINNED = {
    "age": {"bounds": [0, 99], "bins": 7, "otherwise": 0},
    "city": {"values": ["Cork", "Dublin", "Galway"], "otherwise": "Cork"},
    "pay": {"bounds": [0, 9], "otherwise": 0},
}
TABLES = {"tables": [["age", "city"], ["city", "pay"]]}


@given(size=st.integers(1, 300), data=st.data())
def test_bins_are_whole_and_as_wide_as_can_be(size: int, data: st.DataObject) -> None:
    bins = data.draw(st.integers(1, size))
    starts, codes = bin_starts(size, bins), np.arange(size)
    assert starts[0] == 0 and starts[-1] == size
    assert set(np.diff(starts)) <= {size // bins, -(-size // bins)}
    assert (bin_of(codes, size, bins) == np.searchsorted(starts, codes, side="right") - 1).all()


def test_counts_are_those_of_a_slow_twin() -> None:
    policy = dp_policy(columns=BINNED, histograms=TABLES)
    codes = np.stack([np.random.default_rng(0).integers(0, size, 500) for size in (100, 3, 10)], axis=1)
    first, second = exact_counts(policy, codes)
    for age in range(7):
        for city in range(3):
            low, high = bin_starts(100, 7)[age : age + 2]
            own = (codes[:, 0] >= low) & (codes[:, 0] < high) & (codes[:, 1] == city)
            assert first[age, city] == own.sum()
    assert second.shape == (3, 10) and second.sum() == 500


@given(weights=st.lists(st.integers(0, 50), min_size=1, max_size=8), records=st.integers(0, 60))
def test_shares_are_rounded_to_whole_records_that_add_up(weights: list[int], records: int) -> None:
    found = apportion(np.array(weights), records, RandomNumbers(0))
    own = weights if any(weights) else [1] * len(weights)
    exact = np.array(own) * records / sum(own)
    assert found.sum() == records and (np.abs(found - exact) < 1).all()


def test_huge_counts_are_divided_exactly() -> None:
    found = apportion(np.array([2**60, 2**60, 2**61]), 1_000, RandomNumbers(0))
    assert found.tolist() == [250, 250, 500]


@given(counts=st.lists(st.integers(-20, 40), min_size=1, max_size=9), records=st.integers(1, 60))
def test_fitted_weights_are_the_nearest_counts_that_add_up(counts: list[int], records: int) -> None:
    """Against the conditions of the projection: a common shift of all that is left, the rest at 0."""
    weights = fitted_weights(np.array(counts), records)
    if sum(max(count, 0) for count in counts) <= records:
        assert weights.tolist() == [max(count, 0) for count in counts]
        return
    kept = weights > 0
    fitted = weights * records / weights.sum()
    shifts = np.array(counts)[kept] - fitted[kept]
    assert kept.any() and np.allclose(shifts, shifts[0]) and shifts[0] > 0
    assert all(count <= shifts[0] + 1e-9 for count in np.array(counts)[~kept])


def test_made_records_have_the_counts() -> None:
    """Without noise the first table is met exactly, and the second one as near as rounding lets it."""
    policy = dp_policy(columns=BINNED, histograms=TABLES)
    codes = np.stack([np.random.default_rng(0).integers(0, size, 500) for size in (100, 3, 10)], axis=1)
    exact = exact_counts(policy, codes)
    made = made_records(policy, exact, 500, RandomNumbers(1))
    again = exact_counts(policy, made)
    assert (again[0] == exact[0]).all() and (again[1] == exact[1]).all()
    assert not (made == codes).all()


def test_a_group_without_counts_has_those_of_all() -> None:
    policy = dp_policy(columns=BINNED, histograms=TABLES)
    counts = [np.ones((7, 3), np.int64), np.zeros((3, 10), np.int64)]
    counts[1][0, 4] = 5
    counts[1][1] = -3  # noise below zero is none
    made = made_records(policy, counts, 210, RandomNumbers(0))
    assert set(made[:, 2]) == {4}
    nothing = [np.full((7, 3), -1), np.full((3, 10), -1)]
    spread = made_records(policy, nothing, 2_100, RandomNumbers(0))
    assert set(spread[:, 2]) == set(range(10)) and set(spread[:, 1]) == {0, 1, 2}


def test_numbers_are_uniform_within_their_bin() -> None:
    policy = dp_policy(columns={"age": BINNED["age"]}, histograms={})
    counts = [np.array([0, 0, 700, -20, 0, 0, 0])]
    made = made_records(policy, counts, 7_000, RandomNumbers(0))[:, 0]
    low, high = bin_starts(100, 7)[2:4]
    found = np.bincount(made - low, minlength=high - low)
    assert made.min() == low and made.max() == high - 1
    assert (np.abs(found - 7_000 / (high - low)) < 5 * np.sqrt(7_000 / (high - low))).all()


def test_noise_has_the_law_of_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """With T tables each has ε/T: mean absolute noise of the two-sided geometric law of scale 2T/ε."""
    policy = dp_policy(
        columns={"age": {"bounds": [0, 9_999], "otherwise": 0}, "city": BINNED["city"]},
        histograms={"tables": [["age"], ["age", "city"]]},
        epsilon=1,
    )
    codes = np.zeros((10, 2), np.int64)
    noisy = noisy_counts(policy, codes, exact_fraction(policy.epsilon), KEY)
    for counts, exact in zip(noisy, exact_counts(policy, codes), strict=True):
        alpha = np.exp(-1 / 4)
        wanted = 2 * alpha / (1 - alpha**2)
        assert abs(np.abs(counts - exact).mean() / wanted - 1) < 0.05
    first, second = (
        (counts - exact).ravel()[:30].tolist()
        for counts, exact in zip(noisy, exact_counts(policy, codes), strict=True)
    )
    assert first != second
