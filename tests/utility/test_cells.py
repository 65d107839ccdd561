"""Widths, levels and squared distances, against hand-picked cases."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.hierarchy.levels import from_columns
from anon_pipeline.utility.cells import (
    absolute_distance,
    mean_squared_error,
    numerical_precision,
    relative_distance,
)
from tests.utility.columns import categories, decades, on_level, ranged


def test_nothing_generalized_loses_nothing_and_of_nothing_released_there_is_no_level():
    own = [0, 3, 4, 7]
    plain, gone = on_level(decades(), own, [0] * 4), on_level(decades(), own, [None] * 4)
    assert (numerical_precision([plain]), numerical_precision([gone])) == (0.0, 1.0)
    assert (mean_squared_error([plain]), mean_squared_error([gone])) == (0.0, None)
    assert absolute_distance([gone]) is None
    assert relative_distance([gone]) is None


def test_the_mean_is_over_columns_of_numbers():
    numbers, letters = on_level(decades(), [0, 4], [1, 1]), on_level(categories(), [0, 3], [2, 2])
    assert numerical_precision([numbers, letters]) == 0.3  # 0…3 of the table's 0…10
    assert numerical_precision([letters]) is None


def test_distances_are_of_one_level_per_column():
    numbers, letters = on_level(decades(), [0, 4], [1, 1]), on_level(categories(), [0, 3], [2, 2])
    assert absolute_distance([numbers, letters]) == 3
    assert relative_distance([numbers, letters]) == 1.5
    assert absolute_distance([on_level(decades(), [0, 4], [1, 0])]) is None
    assert absolute_distance([ranged(decades(), [0, 4], [(0, 4), (0, 4)])]) is None
    assert absolute_distance([on_level(decades(), [0, 4], [1, None])]) == 1  # suppression is no level


def test_a_range_is_read_as_its_middle():
    column = ranged(decades(), [1, 5, 7], [(0, 4), (4, 5), (7, 7)])
    middle = [(5 - 1) / 12, (10.5 - 11) / 12, 0.0]
    assert mean_squared_error([column]) == pytest.approx(sum(x * x for x in middle) / 3)


def test_a_range_with_missing_values_loses_everything():
    column = ranged(decades(missing=True), [1, 8], [(1, 8), (8, 8)])
    assert numerical_precision([column]) == 0.5
    assert mean_squared_error([column]) == pytest.approx(((1 + 13) / 2 - 1) ** 2)  # 1 is the only number


def test_a_constant_column_loses_its_suppressed_cells_alone():
    only = from_columns("x", [np.array(["5"], object), np.array(["*"], object)], coordinates=np.array([5.0]))
    assert numerical_precision([on_level(only, [0, 0], [0, 0])]) == 0.0
    assert numerical_precision([on_level(only, [0, 0], [0, None])]) == 0.5
    assert mean_squared_error([on_level(only, [0, 0], [0, 0])]) == 0.0


def test_without_columns_nothing_is_measured():
    assert numerical_precision([]) is None
    assert mean_squared_error([]) is None
    assert absolute_distance([]) is None
