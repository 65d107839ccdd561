"""Onto the grid and back, without a stray digit."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.perturb.grid import from_grid, quantize, to_grid

RESOLUTIONS = ["0.1", "1", "0.5", "0.25", "0.01", "0.3", "2.5", "5", "1000", "0.001", "1e-6"]
units = st.integers(-(10**9), 10**9)


@given(st.lists(units, max_size=20), st.sampled_from(RESOLUTIONS))
def test_grid_to_decimals_and_back(grid, resolution):
    decimals = from_grid(np.array(grid, np.int64), float(resolution))
    assert decimals.tolist() == [float(unit * Decimal(resolution)) for unit in grid]
    again = to_grid(decimals, float(resolution))
    assert again.tolist() == grid
    assert quantize(again).tolist() == grid


@given(st.lists(units, max_size=10), st.floats(1e-9, 1e9))
def test_any_resolution_gives_the_nearest_float(grid, resolution):
    step = Fraction(repr(resolution))
    assert from_grid(np.array(grid, np.int64), resolution).tolist() == [float(unit * step) for unit in grid]


@given(st.lists(st.floats(-1e6, 1e6), max_size=20), st.sampled_from(["0.1", "1", "0.25", "5"]))
def test_quantized_value_is_at_most_half_a_step_away(values, resolution):
    g = float(resolution)
    released = from_grid(quantize(to_grid(np.array(values, np.float64), g)), g)
    assert np.all(np.abs(released - values) <= g / 2 * (1 + 1e-6))


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20))
def test_quantize_keeps_the_order_and_inflates_no_distance_beyond_one(values):
    ordered = np.sort(np.array(values))
    distances = np.diff(quantize(ordered))
    assert np.all(distances >= 0)
    assert np.all(distances <= np.floor(np.diff(ordered)) + 1)


def test_units_of_decimals():
    assert to_grid(np.array([172.3, 0.3, 0.25, 172.34]), 0.1).tolist() == [1723, 3, 2.5, 172.34 / 0.1]
    assert from_grid(np.array([1723, 3, 7]), 0.1).tolist() == [172.3, 0.3, 0.7]


def test_halves_go_up():
    assert quantize(np.array([0.5, 1.5, 2.5, -0.5, -1.5])).tolist() == [1, 2, 3, 0, -1]


def test_largest_float_below_a_half_goes_down():
    assert quantize(np.array([0.49999999999999994, 2.0**51 + 0.5])).tolist() == [0, 2**51 + 1]


def test_missing_and_infinite_values_stay_until_quantized():
    grid = to_grid(np.array([np.nan, np.inf, -np.inf, 1.0]), 0.5)
    assert grid.tolist()[1:] == [np.inf, -np.inf, 2]
    assert np.isnan(grid[0])
    with pytest.raises(InputError, match="got 3 that are not"):
        quantize(grid)


def test_values_beyond_exact_floats():
    with pytest.raises(InputError, match="got 1 that are not"):
        quantize(np.array([2.0**53, 2.0**52]))


@pytest.mark.parametrize("resolution", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("turn", [to_grid, from_grid])
def test_resolution_out_of_range(turn, resolution):
    with pytest.raises(PolicyError, match="resolution must be > 0"):
        turn(np.array([1]), resolution)
