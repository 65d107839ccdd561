from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.perturb.error import (
    RealizedError,
    expected_relative_error,
    realized_error,
    shift_over_spread,
    spread_of,
)


def test_realized_errors():
    found = realized_error(np.array([110.0, 180.0, -45.0]), np.array([100.0, 200.0, -50.0]), span=250.0)
    assert found.relative == pytest.approx(0.1)
    assert found.of_range == pytest.approx(35 / 3 / 250)
    assert found.zeros == 0


def test_zeros_are_left_out_of_the_relative_error_and_counted():
    found = realized_error(np.array([3.0, 5.0]), np.array([0.0, 4.0]), span=4.0)
    assert found == RealizedError(relative=0.25, zeros=1, of_range=0.5)


def test_all_zeros_have_no_relative_error():
    found = realized_error(np.array([3.0, 5.0]), np.zeros(2), span=4.0)
    assert found == RealizedError(relative=None, zeros=2, of_range=1.0)


def test_a_constant_column():
    same, moved = np.full(2, 5.0), np.full(2, 6.0)
    assert realized_error(same, same, span=0.0) == RealizedError(relative=0.0, zeros=0, of_range=0.0)
    assert realized_error(moved, same, span=0.0) == RealizedError(relative=0.2, zeros=0, of_range=None)


def test_nothing_released_is_refused():
    with pytest.raises(ValueError, match="must hold a record"):
        realized_error(np.empty(0), np.empty(0), span=1.0)


def test_expected_golden(golden):
    for case in golden["expected_relative_error"]:
        values = np.array(case["class"])
        scales = np.array([np.ptp(values) / case["epsilon"]])
        found = expected_relative_error(values, np.zeros(3, int), scales=scales, discrete=False)
        assert found == pytest.approx(case["error"], rel=1e-14)


def test_expected_equals_the_papers_sum_over_classes():
    classes, epsilon = [[160.0, 170.0, 180.0], [50.0, -60.0], [7.0]], 2.0
    n = sum(map(len, classes))
    total = 0.0
    for values in classes:
        harmonic = len(values) / sum(1 / abs(x) for x in values)
        total += (max(values) - min(values)) * len(values) / (harmonic * n)
    found = expected_relative_error(
        np.concatenate(classes),
        np.repeat([0, 1, 2], [3, 2, 1]),
        scales=np.array([max(values) - min(values) for values in classes]) / epsilon,
        discrete=False,
    )
    assert found == pytest.approx(total / epsilon)


@pytest.mark.parametrize("scale", [0.05, 0.4, 3.0])
def test_expected_of_discrete_noise_equals_an_enumeration(scale):
    q = math.exp(-1 / scale)
    mean = sum(abs(z) * (1 - q) / (1 + q) * q ** abs(z) for z in range(-300, 301))
    found = expected_relative_error(np.array([4.0, -8.0]), np.zeros(2, int), scales=np.array([scale]))
    assert found == pytest.approx(mean * (1 / 4 + 1 / 8) / 2, rel=1e-12)


def test_expected_agrees_with_the_realized_error():
    rng = np.random.default_rng(3)
    originals = np.full(40_000, 50.0)
    success = -math.expm1(-1 / 5.0)
    released = originals + rng.geometric(success, 40_000) - rng.geometric(success, 40_000)
    expected = expected_relative_error(originals, np.zeros(40_000, int), scales=np.array([5.0]))
    assert realized_error(released, originals, span=100.0).relative == pytest.approx(expected, rel=0.02)


def test_expected_leaves_zeros_and_suppressed_records_out():
    originals, labels = np.array([0.0, 10.0, 1.0]), np.array([0, 0, -1])
    found = expected_relative_error(originals, labels, scales=np.array([2.0]), discrete=False)
    assert found == 0.2


def test_expected_without_noise_is_zero_and_of_nothing_undefined():
    assert expected_relative_error(np.ones(2), np.zeros(2, int), scales=np.zeros(1)) == 0.0
    assert expected_relative_error(np.zeros(2), np.zeros(2, int), scales=np.ones(1)) is None
    assert expected_relative_error(np.ones(2), np.full(2, -1), scales=np.empty(0)) is None


def test_a_class_without_a_scale_is_refused():
    with pytest.raises(ValueError, match="got 1 for 2"):
        expected_relative_error(np.ones(2), np.array([0, 1]), scales=np.ones(1))


tenths = st.integers(-10_000, 10_000).map(lambda x: x / 10)


@given(st.lists(st.tuples(tenths, tenths), min_size=1), st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(pairs, random):
    moved = random.sample(pairs, len(pairs))
    errors = [realized_error(*np.array(each).T, span=10.0) for each in (pairs, moved)]
    assert errors[0] == errors[1]
    labels = np.zeros(len(pairs), int)
    expected = [
        expected_relative_error(np.array(each)[:, 0], labels, scales=np.ones(1)) for each in (pairs, moved)
    ]
    assert expected[0] == expected[1]


def test_the_spread_is_the_standard_deviation_unless_a_few_huge_values_make_it():
    normal = np.random.default_rng(0).normal(100, 7, 100_000)
    assert spread_of(normal) == pytest.approx(7, rel=0.02)
    huge = np.append(normal, np.full(100, 1e6))
    assert huge.std() > 30_000
    assert spread_of(huge) == pytest.approx(7, rel=0.02)
    assert spread_of(np.array([0.0] * 90 + [100.0] * 10)) == pytest.approx(30)  # equal quartiles
    assert spread_of(np.full(5, 3.0)) == 0


def test_the_error_of_the_spread_is_the_mean_shift_over_it_and_finite_for_equal_values() -> None:
    values = np.array([0.0] * 90 + [100.0] * 10)  # spread 30
    assert shift_over_spread(values, np.array([10.0] * 50 + [20.0] * 50)) == pytest.approx(0.5)
    assert shift_over_spread(np.full(5, 3.0), np.full(5, 4.0)) == 4  # steps of the grid
    assert shift_over_spread(np.full(5, 3.0), np.zeros(5)) == 0
