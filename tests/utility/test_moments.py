from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.utility.moments import Discrepancy, discrepancy


def test_the_same_numbers_have_no_discrepancy():
    numbers = np.random.default_rng(0).normal(size=(50, 3))
    assert discrepancy(numbers, numbers) == Discrepancy(0.0, 0.0, 0.0, 3, 3)


@given(st.integers(0, 2**32 - 1))
def test_discrepancies_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    before, after = rng.normal(size=(40, 3)) * [1, 10, 0.1] + 5, rng.normal(size=(30, 3))
    found = discrepancy(before, after)
    means = np.abs(after.mean(0) - before.mean(0)) / before.std(0)
    variances = np.abs(after.var(0) - before.var(0)) / before.var(0)
    off = np.abs(np.corrcoef(after.T) - np.corrcoef(before.T))[np.triu_indices(3, 1)]
    assert found.means == pytest.approx(means.mean())
    assert found.variances == pytest.approx(variances.mean())
    assert found.correlations == pytest.approx(off.mean())


def test_constant_columns_are_left_out_and_counted():
    before = np.stack([np.arange(4.0), np.full(4, 0.1), np.arange(4.0) * 2], axis=1)
    assert discrepancy(before, before + 1).columns == 2
    only = np.full((4, 1), 0.1)
    assert discrepancy(only, only) == Discrepancy(None, None, None, 0, 0)


def test_a_column_that_becomes_constant_keeps_no_correlation():
    before = np.stack([np.arange(4.0), np.arange(4.0)], axis=1)
    after = before.copy()
    after[:, 1] = 1.5
    found = discrepancy(before, after)
    assert (found.means, found.variances, found.correlations) == (0.0, 0.5, pytest.approx(1.0))


def test_missing_numbers_are_left_out_pair_by_pair():
    before = np.array([[0.0, 1.0], [1.0, 0.0], [np.nan, 9.0], [2.0, np.nan]])
    found = discrepancy(before, before)
    assert found == Discrepancy(0.0, 0.0, 0.0, 2, 1)


def test_nothing_released_compares_nothing():
    assert discrepancy(np.ones((3, 2)), np.empty((0, 2))) == Discrepancy(None, None, None, 0, 0)
    assert discrepancy(np.arange(6.0).reshape(3, 2), np.empty((0, 2))).columns == 0
    assert discrepancy(np.empty((3, 0)), np.empty((2, 0))).columns == 0


@pytest.mark.parametrize("scale", [2.0**600, 2.0**-600])
def test_no_scale_of_a_column_overflows_or_vanishes(scale):
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
    large = np.array([scale, 1.0])
    assert discrepancy(before * large, after * large) == discrepancy(before, after)


def test_large_numbers_near_each_other_keep_their_correlation():
    rng = np.random.default_rng(0)
    near = rng.integers(0, 5, size=(12, 2)).astype(float)
    after = near[:, ::-1] * [1, -1]
    far_off = np.array([2.0**51, 0.0])
    far = discrepancy(near + far_off, after + far_off)
    assert far.correlations == pytest.approx(discrepancy(near, after).correlations, abs=1e-12)
