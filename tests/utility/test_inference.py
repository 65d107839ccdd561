"""Confidence intervals: of means, and of regressions against least squares row by row."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.utility.inference import Interval, compare_inference, overlap
from tests.utility.test_covariances import normal

WIDE = 1.959963984540054
NUMBER = st.floats(-10, 10)
INTERVAL = st.builds(Interval, NUMBER, st.floats(0, 5))


def regression(table: np.ndarray, target: int) -> list[tuple[float, float]]:
    """Coefficients and half intervals by least squares, with a constant."""
    others = np.delete(table, target, axis=1)
    design = np.column_stack([np.ones(len(table)), others])
    slopes, *_ = np.linalg.lstsq(design, table[:, target], rcond=None)
    rest = table[:, target] - design @ slopes
    variance = float(rest @ rest) / (len(table) - design.shape[1])
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    return [(b, WIDE * e) for b, e in zip(slopes[1:], errors[1:], strict=True)]


@given(one=INTERVAL, other=INTERVAL)
def test_an_overlap_is_a_share_and_the_same_both_ways(one: Interval, other: Interval) -> None:
    assert 0 <= overlap(one, other) <= 1
    assert overlap(one, other) == overlap(other, one)
    assert overlap(one, one) == pytest.approx(1)


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ((0, 2), (1, 1), 0.75),
        ((0, 1), (0, 0), 0.5),
        ((0, 1), (2, 0), 0),
        ((0, 0), (0, 0), 1),
        ((0, 1), (2, 1), 0),
    ],
)
def test_overlaps_by_hand(one: tuple[float, float], other: tuple[float, float], share: float) -> None:
    assert overlap(Interval(*one), Interval(*other)) == share


@pytest.mark.parametrize("seed", range(4))
def test_regressions_are_those_of_least_squares(seed: int) -> None:
    before = normal(60, seed=seed) / [1, 100, 1e9]  # lstsq loses digits otherwise
    after = before[:50] + np.random.default_rng(seed).normal(size=(50, 3)) * before.std(axis=0) / 4
    found = compare_inference(before, after)
    scale, overlaps, shifts = before.std(axis=0), [], []
    for target in range(3):
        units = np.delete(scale, target) / scale[target]
        pairs = zip(units, regression(before, target), regression(after, target), strict=True)
        for unit, (b, e), (c, f) in pairs:
            overlaps.append(overlap(Interval(b * unit, e * unit), Interval(c * unit, f * unit)))
            shifts.append(abs(b - c) * unit)
    assert found.regressions == 3
    assert found.coefficients == pytest.approx(np.mean(overlaps), abs=1e-6)
    assert found.shift == pytest.approx(np.mean(shifts), abs=1e-6)


def test_means_have_the_usual_intervals() -> None:
    before, after = np.array([[0.0], [2.0], [4.0]]), np.array([[3.0], [5.0], [np.nan]])
    own = Interval(2, WIDE * 2 / math.sqrt(3))
    released = Interval(4, WIDE * math.sqrt(2) / math.sqrt(2))
    found = compare_inference(before, after)
    assert found.means == pytest.approx(overlap(own, released))
    assert (found.columns, found.regressions, found.coefficients, found.shift) == (1, 0, None, None)


def test_the_same_table_overlaps_with_itself_and_a_constant_column_with_nothing() -> None:
    before = normal()
    same = compare_inference(before, before)
    assert (same.means, same.coefficients) == (pytest.approx(1), pytest.approx(1))
    assert same.shift == pytest.approx(0, abs=1e-9)
    constant = before.copy()
    constant[:, 0] = 1.0
    changed = compare_inference(before, constant)
    assert changed.coefficients is not None and changed.coefficients < 0.4
    copied = np.column_stack([before[:, 0], before[:, 0], before[:, 1]])
    assert compare_inference(copied, copied).regressions == 2  # the third has two regressors that are one


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e300, 1e154, 1e-150, 1e-320])
def test_extreme_numbers_give_finite_results(size: float) -> None:
    for before, after in ((normal(), normal(seed=1) / 1e9 * size), (normal() / 1e9 * size, normal(seed=1))):
        found = compare_inference(before, after)
        numbers = [x for x in (found.means, found.coefficients, found.shift) if x is not None]
        assert all(math.isfinite(x) for x in numbers)
