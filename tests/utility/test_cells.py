"""Losses by cell, against the definitions written out cell by cell in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.hierarchy.levels import from_columns
from anon_pipeline.utility.cells import (
    absolute_distance,
    entropy,
    granularity,
    mean_squared_error,
    numerical_precision,
    precision,
    relative_distance,
)
from anon_pipeline.utility.records import Generalized

SHARES = (precision, granularity, numerical_precision, entropy)


def decades(*, missing: bool = False) -> Hierarchy:
    """Eight numbers in two intervals of four, then everything."""
    numbers = np.array([0.0, 1, 2, 3, 10, 11, 12, 13])
    levels = [
        np.array([str(int(x)) for x in numbers], object),
        np.array(["low"] * 4 + ["high"] * 4, object),
        np.full(8, "*", object),
    ]
    return from_columns("x", levels, missing=missing, coordinates=numbers)


def categories() -> Hierarchy:
    levels = [np.array(list("abcd"), object), np.array(list("mmnn"), object), np.full(4, "*", object)]
    return from_columns("c", levels)


def on_level(hierarchy: Hierarchy, own: list[int], levels: list[int | None]) -> Generalized:
    """A column whose cells are on the levels that are given; None is not released."""
    found: dict[tuple[int, int, int], int] = {}
    codes = []
    for leaf, level in zip(own, levels, strict=True):
        if level is None:
            codes.append(-1)
            continue
        below = np.flatnonzero(hierarchy.lookups[level] == hierarchy.lookups[level][leaf])
        codes.append(found.setdefault((int(below[0]), int(below[-1]), level), len(found)))
    low, high, on = np.array(list(found), np.int64).reshape(-1, 3).T
    return Generalized(
        hierarchy, np.array(own), np.array(codes), low, high, on, low, high, np.full(len(low), np.nan)
    )


def ranged(hierarchy: Hierarchy, own: list[int], ranges: list[tuple[int, int]]) -> Generalized:
    low, high = np.array(ranges, np.int64).T
    codes, none = np.arange(len(own)), np.full(len(own), -1)
    return Generalized(hierarchy, np.array(own), codes, low, high, none, low, high, np.full(len(own), np.nan))


columns = st.lists(
    st.tuples(st.integers(0, 7), st.one_of(st.none(), st.integers(0, 2))), min_size=1, max_size=30
)


@given(columns, st.randoms(use_true_random=False))
def test_losses_are_those_of_the_definitions(cells, random):
    hierarchy, n = decades(), len(cells)
    own = [leaf for leaf, _ in cells]
    column = on_level(hierarchy, own, [level for _, level in cells])
    counts = Counter(own)
    steps = granules = Fraction(0)
    widths, bits, most = [], [], []
    span = np.ptp(hierarchy.coordinates[own])
    for leaf, level in cells:
        at = 2 if level is None else level
        below = np.flatnonzero(hierarchy.lookups[at] == hierarchy.lookups[at][leaf]).tolist()
        steps += Fraction(1) if level is None else Fraction(level, 2)
        granules += Fraction(1) if level is None else Fraction(len(below) - 1, 7)
        wide = np.ptp(hierarchy.coordinates[below])
        share = min(1.0, wide / span) if span else float(len(below) > 1)
        widths.append(1.0 if level is None else share)
        within = n if level is None else sum(counts[other] for other in below)
        bits.append(math.log2(within / counts[leaf]))
        most.append(math.log2(n / counts[leaf]))
    assert precision([column]) == pytest.approx(float(steps / n))
    assert granularity([column]) == pytest.approx(float(granules / n))
    assert numerical_precision([column]) == pytest.approx(sum(widths) / n)
    expected = sum(bits) / sum(most) if sum(most) else 0.0
    assert entropy([column]) == pytest.approx(expected)
    moved = random.sample(cells, n)
    other = on_level(hierarchy, [leaf for leaf, _ in moved], [level for _, level in moved])
    for loss in (*SHARES, mean_squared_error):
        assert loss([column]) == loss([other])


def test_nothing_generalized_loses_nothing_and_everything_suppressed_loses_everything():
    own = [0, 3, 4, 7]
    plain, gone = on_level(decades(), own, [0] * 4), on_level(decades(), own, [None] * 4)
    for loss in SHARES:
        assert loss([plain]) == 0.0
        assert loss([gone]) == 1.0
    assert mean_squared_error([plain]) == 0.0
    assert mean_squared_error([gone]) is None
    assert absolute_distance([gone]) is None
    assert relative_distance([gone]) is None


def test_the_mean_is_over_columns():
    numbers, letters = on_level(decades(), [0, 4], [1, 1]), on_level(categories(), [0, 3], [2, 2])
    assert precision([numbers, letters]) == 0.75
    assert granularity([numbers, letters]) == pytest.approx((3 / 7 + 1) / 2)
    assert numerical_precision([numbers, letters]) == 0.3  # 0…3 of the table's 0…10
    assert numerical_precision([letters]) is None


def test_distances_are_of_one_level_per_column():
    numbers, letters = on_level(decades(), [0, 4], [1, 1]), on_level(categories(), [0, 3], [2, 2])
    assert absolute_distance([numbers, letters]) == 3
    assert relative_distance([numbers, letters]) == 1.5
    assert absolute_distance([on_level(decades(), [0, 4], [1, 0])]) is None
    assert absolute_distance([ranged(decades(), [0, 4], [(0, 4), (0, 4)])]) is None
    assert absolute_distance([on_level(decades(), [0, 4], [1, None])]) == 1  # suppression is no level


def test_ranges_lose_their_width():
    column = ranged(decades(), [1, 5, 7], [(0, 4), (4, 5), (7, 7)])
    assert precision([column]) == pytest.approx((10 / 12 + 1 / 12 + 0) / 3)
    assert granularity([column]) == pytest.approx((4 + 1 + 0) / 7 / 3)
    middle = [(5 - 1) / 12, (10.5 - 11) / 12, 0.0]
    assert mean_squared_error([column]) == pytest.approx(sum(x * x for x in middle) / 3)


def test_a_range_with_missing_values_loses_everything():
    column = ranged(decades(missing=True), [1, 8], [(1, 8), (8, 8)])
    assert numerical_precision([column]) == 0.5
    assert mean_squared_error([column]) == pytest.approx(((1 + 13) / 2 - 1) ** 2)  # 1 is the only number


def test_a_constant_column_loses_nothing_while_it_is_released():
    only = from_columns("x", [np.array(["5"], object), np.array(["*"], object)], coordinates=np.array([5.0]))
    column = on_level(only, [0, 0], [0, 0])
    for loss in SHARES:
        assert loss([column]) == 0.0
    assert mean_squared_error([column]) == 0.0


def test_without_columns_nothing_is_measured():
    for loss in (*SHARES, mean_squared_error):
        assert loss([]) is None
    assert absolute_distance([]) is None
