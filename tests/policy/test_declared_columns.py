"""Columns of ε-DP releases declare all of their values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from pydantic import ValidationError

from anon_pipeline.policy.declared_columns import MOST_STEPS, DeclaredColumn


def test_a_column_of_numbers() -> None:
    column = DeclaredColumn(bounds=(-1, 1), resolution=0.1, bins=7, otherwise="0.3")
    assert (column.steps, column.size, column.counted) == (20, 21, 7)
    assert column.step == Fraction(1, 10) and column.range == (-1, 1)
    assert DeclaredColumn(bounds=(0, 9), otherwise="0").counted == 10


def test_a_column_of_categories() -> None:
    column = DeclaredColumn.model_validate({"values": [1990, "x", 2.5], "otherwise": 1990})
    assert column.values == ("1990", "x", "2.5") and column.otherwise == "1990"
    assert column.size == column.counted == 3


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, "exactly one of bounds"),
        ({"bounds": [0, 1], "values": ["a", "b"]}, "exactly one of bounds"),
        ({"bounds": [1, 1]}, "lowest, highest"),
        ({"bounds": [2, 1]}, "lowest, highest"),
        ({"bounds": [0, 1], "resolution": 0.3}, "whole number of resolutions apart"),
        ({"bounds": [0.5, 1.5]}, "whole multiples of resolution"),
        ({"bounds": [0, MOST_STEPS + 1]}, "resolutions apart"),
        ({"bounds": [2**53, 2**53 + 2]}, "resolutions apart"),
        ({"bounds": [0, 1], "bins": 3}, "bins must be at most the 2 numbers"),
        ({"bounds": [0, 1], "otherwise": "x"}, "otherwise must be a number within bounds"),
        ({"bounds": [0, 1], "otherwise": 2}, "otherwise must be a number within bounds"),
        ({"bounds": [0, 1], "resolution": 0.25, "otherwise": 0.3}, "whole multiple of resolution"),
        ({"bounds": [0, 1], "otherwise": "1/0"}, "otherwise must be a number within bounds"),
        ({"values": ["a"]}, "2 to 100,000 different values"),
        ({"values": ["0", 0]}, "2 to 100,000 different values"),
        ({"values": ["a", "b"]}, "otherwise must be one of values"),
        ({"values": ["0", "b"], "bins": 2}, "must be left out with values"),
        ({"values": ["0", "b"], "resolution": 2}, "must be left out with values"),
        ({"bounds": [0, 1], "resolution": 0}, "greater than 0"),
        ({"bounds": [0, 1e19], "resolution": 1e18}, "fewer digits"),
        ({"bounds": [0, 12345678.5e12], "resolution": 12345678.5}, "fewer digits"),
        ({"bounds": [0, 1e301], "resolution": 1e300}, "fewer digits"),
        ({"bounds": [0, 5e-323], "resolution": 5e-324}, "fewer digits"),
        ({"bounds": [0, 1], "otherwise": "1e999999999"}, "otherwise must be a number within bounds"),
        ({"bounds": [0, 1], "otherwise": "1e-999999999"}, "otherwise must be a number within bounds"),
        ({"bounds": [0, 1], "weight": 5e-324}, "greater than or equal to 0.001"),
    ],
)
def test_what_does_not_fit_is_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        DeclaredColumn.model_validate({"otherwise": 0, **keys})
    with pytest.raises(ValidationError, match="otherwise"):
        DeclaredColumn.model_validate({"bounds": [0, 1]})
