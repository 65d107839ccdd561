"""Rounding to multiples of a base."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anon_pipeline.perturb.whole_column.columns_to_change import Columns
from anon_pipeline.perturb.whole_column.value_rounding import round_values


def test_values_become_the_nearest_multiple_a_half_goes_up(columns: Callable[..., Columns]) -> None:
    values = [-15, -14, -5, -4, 0, 4, 5, 14, 15, 16]
    assert round_values(columns(values, 10))[:, 0].tolist() == [-10, -10, 0, 0, 0, 0, 10, 10, 20, 20]
    assert round_values(columns([2, 3, 4, 5], 3))[:, 0].tolist() == [3, 3, 3, 6]


def test_each_column_has_its_base(columns: Callable[..., Columns]) -> None:
    assert round_values(columns([[7, 7], [2**52 - 1, 11]], [2.0, 5.0])).tolist() == [[8, 5], [2**52, 10]]


def test_nothing_moves_by_more_than_half_the_base(columns: Callable[..., Columns]) -> None:
    values = np.random.default_rng(0).integers(-(10**9), 10**9, 1_000)
    found = round_values(columns(values, 37))[:, 0]
    assert (found % 37 == 0).all() and np.abs(found - values).max() <= 18
