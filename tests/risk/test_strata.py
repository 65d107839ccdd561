"""Shares that are simulated by groups of classes: the error is the one that many repetitions have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.risk.expected_linking import NoiseLaw, expected_linking_risk
from anon_pipeline.risk.strata import MOST, combined_ratio, draws_of, groups_of


@given(st.lists(st.integers(1, 1_000), min_size=1, max_size=300))
def test_groups_are_compact_and_about_equal(sizes: list[int]) -> None:
    groups = groups_of(np.array(sizes))
    many = min(MOST, len(sizes))
    assert set(groups.tolist()) == set(range(many))
    assert np.ptp(np.bincount(groups)) <= 2
    whole = np.bincount(groups, weights=sizes)
    assert whole.max() - whole.min() <= 2 * max(sizes)


def test_groups_depend_on_sizes_alone() -> None:
    sizes = np.array([5, 9, 5, 1, 9])
    assert np.array_equal(groups_of(sizes), groups_of(sizes.copy()))
    assert groups_of(np.full(2 * MOST, 3)).tolist() == [*range(MOST), *range(MOST - 1, -1, -1)]


@pytest.mark.parametrize(
    ("sizes", "draws"),
    [
        ([100_000], 8),  # one class: its own spread alone
        ([50_000] * 2, 5),  # 7 degrees of freedom, 2 of each draw beyond the first
        ([50_000] * 7, 2),
        ([300_000] + [10] * 60, 8),  # one class is nearly all there is
        ([10] * 30_000, 2),
        ([10] * 3_000, 5),  # 131,072 records in all
        ([10] * 10, 8),  # never more
    ],
)
def test_draws_are_enough_for_the_records_and_for_the_error(sizes: list[int], draws: int) -> None:
    assert draws_of(np.array(sizes), records=2**17) == draws


@pytest.mark.parametrize(("draws", "sizes"), [(2, [40] * 100), (2, [400, 200] + [20] * 60), (8, [500])])
def test_the_standard_error_is_the_spread_of_repetitions(draws: int, sizes: list[int]) -> None:
    """Records are released by chance, and linked by a chance of their class; a thousand times."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    linked_by, kept_by = rng.uniform(0, 0.6, len(sizes)), rng.uniform(0.5, 1, len(sizes))
    own, many, means, errors = groups_of(np.array(sizes))[labels], min(MOST, len(sizes)), [], []
    for _ in range(1_000):
        of, counted = np.zeros((2, draws, many))
        for draw in range(draws):
            kept = rng.random(len(labels)) < kept_by[labels]
            linked = kept & (rng.random(len(labels)) < linked_by[labels])
            of[draw], counted[draw] = (np.bincount(own[each], minlength=many) for each in (kept, linked))
        mean, error = combined_ratio(counted, of)
        means.append(mean)
        errors.append(error)
    spread = float(np.std(means, ddof=1))  # itself known to 1/√2000
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(spread, rel=0.1)
    true = float(np.dot(linked_by * kept_by, sizes) / np.dot(kept_by, sizes))
    assert np.mean(means) == pytest.approx(true, abs=5 * spread / np.sqrt(1_000))
    beyond = np.mean(np.array(means) + 3 * np.array(errors) < true)
    assert beyond <= 0.02  # of a normal share with 7 degrees of freedom: 0.01


def test_one_group_has_the_error_of_the_mean_of_draws() -> None:
    counted = np.array([[3.0], [5.0], [4.0]])
    mean, error = combined_ratio(counted, np.full((3, 1), 10.0))
    assert mean == pytest.approx(0.4)
    assert error == pytest.approx(0.1 / np.sqrt(3))


def test_a_group_that_no_draw_releases_adds_nothing() -> None:
    counted, of = np.array([[3.0, 0], [5, 0]]), np.array([[10.0, 0], [10, 0]])
    assert combined_ratio(counted, of) == pytest.approx(combined_ratio(counted[:, :1], of[:, :1]))


def test_few_draws_by_groups_agree_with_many_of_the_whole() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(300), 10)
    originals, law = rng.integers(0, 40, (3_000, 2)), NoiseLaw(np.full((300, 2), 12.0), (None, None))
    many = expected_linking_risk(originals, labels, law, random=np.random.default_rng(1), most=0, draws=300)
    found = [
        expected_linking_risk(originals, labels, law, random=np.random.default_rng(seed), most=0, draws=2)
        for seed in range(2, 42)
    ]
    errors = np.array([each.standard_error for each in found])
    means = np.array([each.risk for each in found])
    assert np.abs(means - many.risk).max() < 5 * errors.mean()
    assert errors.mean() == pytest.approx(many.standard_error * np.sqrt(150), rel=0.1)
    assert errors.mean() == pytest.approx(means.std(ddof=1), rel=0.4)


def test_a_single_draw_does_not_tell_its_error() -> None:
    assert combined_ratio(np.array([[3.0, 1.0]]), np.array([[10.0, 10.0]])) == (0.2, 1.0)
