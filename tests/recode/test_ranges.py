"""What a range on one axis releases and costs."""

from __future__ import annotations

import datetime
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.ranges import covered_leaves, lengths, make_axis, release_ranges
from tests.example_counts import examples_of


def numbers(values: list[Any], coordinates: list[float]) -> Hierarchy:
    """A hierarchy of two levels over values with these coordinates."""
    leaves = np.empty(len(values), object)
    leaves[:] = values
    lookups = (np.arange(len(values)), np.zeros(len(values), np.int64))
    return Hierarchy("x", lookups, (leaves, np.array(["*"], object)), np.array(coordinates, float))


def released(hierarchy: Hierarchy, ranges: list[tuple[int, int]]) -> list[object]:
    low, high = np.array(ranges, np.int64).T
    got = release_ranges(make_axis(hierarchy, np.arange(hierarchy.leaves)), low, high)
    return [got.values[code] for code in got.codes]


def test_numbers_release_their_least_and_greatest() -> None:
    hierarchy = numbers([165, 170, 180], [165, 170, 180])
    assert released(hierarchy, [(0, 2), (1, 1), (0, 1)]) == ["[165, 180]", 170, "[165, 170]"]


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1.0, 2.0, "[1, 2]"),
        (1.5, 2.0, "[1.5, 2]"),
        (np.float64(0.1), np.float64(3.0), "[0.1, 3]"),
        (np.int64(7), np.int64(9), "[7, 9]"),
        (-3, 4, "[-3, 4]"),
        (datetime.date(1960, 1, 2), datetime.date(1961, 3, 4), "[1960-01-02, 1961-03-04]"),
        (pd.Timestamp("1960-01-02"), pd.Timestamp("1961-03-04"), "[1960-01-02, 1961-03-04]"),
        (pd.Timestamp("1960-01-02 10:30"), pd.Timestamp("1961-03-04"), "[1960-01-02 10:30:00, 1961-03-04]"),
        ("007", "010", "[007, 010]"),
    ],
)
def test_ends_are_written_plainly(low: object, high: object, text: str) -> None:
    assert released(numbers([low, high], [0, 1]), [(0, 1)]) == [text]


def test_ordered_categories_release_their_ends_and_cost_by_rank() -> None:
    leaves = np.array(["low", "middle", "high", None], object)
    lookups = (np.arange(4), np.zeros(4, np.int64))
    hierarchy = Hierarchy("x", lookups, (leaves, np.array(["*"], object)), ordered=True)
    ends = [(0, 2), (0, 1), (1, 1), (3, 3), (2, 3)]
    assert released(hierarchy, ends) == ["[low, high]", "[low, middle]", "middle", None, "*"]
    axis, (low, high) = make_axis(hierarchy, np.arange(4)), np.array(ends).T
    costs, full, _ = lengths(axis, low, high)
    assert (costs.tolist(), full) == ([2, 1, 0, 0, 2], 2)
    costs, full, _ = covered_leaves(axis, low, high)
    assert (costs.tolist(), full) == ([2, 1, 0, 0, 3], 3)


def test_numbers_mixed_with_missing_release_the_top_and_missing_alone_itself() -> None:
    hierarchy = numbers([1, 2, None], [1, 2, np.nan])
    assert released(hierarchy, [(0, 2), (2, 2), (1, 2), (0, 1)]) == ["*", None, "*", "[1, 2]"]


def test_equal_released_values_have_equal_codes() -> None:
    hierarchy = numbers([1, 2, None], [1, 2, np.nan])
    axis = make_axis(hierarchy, np.arange(3))
    got = release_ranges(axis, np.array([0, 1, 0, 0]), np.array([2, 2, 1, 2]))
    assert got.codes[0] == got.codes[1] == got.codes[3] != got.codes[2]
    assert len(set(got.values)) == len(got.values) == 2


def test_a_category_with_the_name_of_its_parent_is_one_value(from_rows) -> None:
    """A tree of uneven depth repeats a name on the level above."""
    hierarchy = from_rows("x", [("a1", "A", "*"), ("a2", "A", "*"), ("Other", "Other", "*")])
    twin = from_rows("x", [("A", "A", "*"), ("a2", "A", "*"), ("Other", "Other", "*")])
    assert released(hierarchy, [(0, 1), (2, 2), (1, 2)]) == ["A", "Other", "*"]
    axis = make_axis(twin, np.arange(3))
    got = release_ranges(axis, np.array([0, 0]), np.array([0, 1]))
    assert got.codes.tolist() == [0, 0]


def test_leaves_out_of_number_order_are_put_in_order() -> None:
    axis = make_axis(numbers([30, 10, None, 20], [30, 10, np.nan, 20]), np.array([0, 1]))
    assert (axis.leaves.tolist(), axis.positions.tolist()) == ([1, 3, 0, 2], [2, 0, 3, 1])
    got = release_ranges(axis, np.array([0]), np.array([2]))
    assert got.values[got.codes[0]] == "[10, 30]"
    assert axis.span == 20  # of the numbers that occur


@settings(deadline=None, max_examples=examples_of(80))
@given(data=st.data())
def test_the_lowest_common_ancestor_is_released(data: st.DataObject, drawn: SimpleNamespace) -> None:
    hierarchy = data.draw(drawn.hierarchies().filter(lambda h: h.coordinates is None))
    low = data.draw(st.integers(0, hierarchy.leaves - 1))
    high = data.draw(st.integers(low, hierarchy.leaves - 1))
    level = next(lv for lv, lookup in enumerate(hierarchy.lookups) if len(set(lookup[low : high + 1])) == 1)
    code = hierarchy.lookups[level][low]
    assert released(hierarchy, [(low, high)]) == [hierarchy.values[level][code]]
    axis = make_axis(hierarchy, np.arange(hierarchy.leaves))
    ends = np.array([low]), np.array([high])
    assert lengths(axis, *ends)[0].tolist() == [level]
    covered = int((hierarchy.lookups[level] == code).sum())
    assert covered_leaves(axis, *ends)[0].tolist() == [covered - 1]


def test_golden_numerical_precision(golden: dict[str, Any]) -> None:
    for example in golden["numerical_precision"]:
        marks = sorted({*example["class"], *example["table"]})
        axis = make_axis(numbers(marks, marks), np.arange(len(marks)))
        low, high = (np.array([marks.index(end)]) for end in example["class"])
        costs, full, _ = lengths(axis, low, high)
        assert costs[0] / full == example["loss"]


def test_costs_of_numbers() -> None:
    axis = make_axis(numbers([10, 11, 20, 40, None], [10, 11, 20, 40, np.nan]), np.array([0, 2, 4]))
    low, high = np.array([0, 1, 0, 4, 2]), np.array([1, 1, 2, 4, 4])
    costs, full, _ = lengths(axis, low, high)
    assert (costs.tolist(), full) == ([1, 0, 10, 0, 10], 10)
    costs, full, _ = covered_leaves(axis, low, high)
    assert (costs.tolist(), full) == ([1, 0, 2, 0, 4], 4)


def test_one_number_mixed_with_missing_loses_everything() -> None:
    axis = make_axis(numbers([5, None], [5, np.nan]), np.array([0, 1]))
    for measured in (lengths, covered_leaves):
        costs, full, _ = measured(axis, np.array([0, 0]), np.array([1, 0]))
        assert (costs / full).tolist() == [1, 0]


def test_a_column_with_one_value_has_nothing_to_lose() -> None:
    one = Hierarchy("x", (np.zeros(1, np.int64),), (np.array(["a"], object),))
    number = Hierarchy("x", one.lookups, (np.array([3], object),), np.array([3.0]))
    for hierarchy in (one, number):
        axis = make_axis(hierarchy, np.zeros(4, np.int64))
        for measured in (lengths, covered_leaves):
            assert measured(axis, np.array([0]), np.array([0])).suppressed == 0
