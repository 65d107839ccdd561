"""Grouping records: against a dictionary, and at the widths where a packed key overflows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.classes import (
    EquivalenceClasses,
    equivalence_classes,
    group_rows,
    row_order,
    same_partition,
)


def slow_group_rows(codes: np.ndarray) -> tuple[list[int], list[int], list[int]]:
    """Twin of `group_rows`: a dictionary from row to its records, in sorted order of the rows."""
    members: dict[tuple[int, ...], list[int]] = {}
    for record, row in enumerate(codes.tolist()):
        members.setdefault(tuple(row), []).append(record)
    rows = sorted(members)
    first = [members[row][0] for row in rows]
    return first, [rows.index(tuple(row)) for row in codes.tolist()], [len(members[row]) for row in rows]


def assert_groups(codes: np.ndarray) -> None:
    first, inverse, sizes = group_rows(codes)
    assert (first.tolist(), inverse.tolist(), sizes.tolist()) == slow_group_rows(codes)
    assert [part.dtype for part in (first, inverse, sizes)] == [np.dtype(np.int64)] * 3
    order = row_order(codes)
    assert codes[order].tolist() == sorted(codes.tolist())
    assert sorted(order.tolist()) == list(range(len(codes)))


@st.composite
def code_tables(draw: st.DrawFn) -> np.ndarray:
    """Small tables whose columns are narrow or as wide as int64 allows."""
    q = draw(st.integers(1, 5))
    values = [
        draw(st.sampled_from([(0, 1), (0, 1, 2, 3), (5, 2**31, 2**40), (0, 2**61, 2**62)])) for _ in range(q)
    ]
    rows = draw(st.lists(st.tuples(*(st.sampled_from(column) for column in values)), max_size=25))
    return np.array(rows, np.int64).reshape(-1, q)


@settings(deadline=None)
@given(code_tables())
def test_groups_equal_the_slow_twin(codes: np.ndarray) -> None:
    assert_groups(codes)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint16])
def test_any_integer_type_groups_without_overflow(dtype: type) -> None:
    rng = np.random.default_rng(1)
    assert_groups(rng.integers(0, 120, (300, 12)).astype(dtype))


def test_a_column_order_of_any_layout_is_read_right() -> None:
    codes = np.array([[2, 0, 1], [0, 5, 1], [2, 0, 1], [0, 4, 9]])
    assert_groups(np.asfortranarray(codes))
    assert_groups(codes[:, ::-1])


def test_no_columns_is_one_group_and_no_rows_is_none() -> None:
    assert [part.tolist() for part in group_rows(np.zeros((3, 0), np.int64))] == [[0], [0, 0, 0], [3]]
    assert [part.tolist() for part in group_rows(np.zeros((0, 2), np.int64))] == [[], [], []]
    assert [part.tolist() for part in group_rows(np.zeros((0, 0), np.int64))] == [[], [], []]


def test_classes_are_numbered_lexicographically_and_leave_suppressed_records_out() -> None:
    classes = equivalence_classes(np.array([[1, 0], [-1, -1], [0, 5], [1, 0], [0, 7]]))
    assert classes.labels.tolist() == [2, -1, 0, 2, 1]
    assert classes.sizes.tolist() == [1, 1, 2]
    assert classes.k == 1


def test_a_row_with_one_negative_code_is_suppressed() -> None:
    assert equivalence_classes(np.array([[0, -1], [0, 0]])).labels.tolist() == [-1, 0]


def test_members_lists_records_by_class_and_where_each_class_begins() -> None:
    order, starts = EquivalenceClasses(np.array([1, -1, 0, 1]), np.array([1, 2])).members()
    assert order.tolist() == [2, 0, 3]
    assert starts.tolist() == [0, 1, 3]


def test_no_class_has_k_0() -> None:
    classes = equivalence_classes(np.full((4, 2), -1))
    assert (classes.k, classes.labels.tolist(), classes.sizes.tolist()) == (0, [-1] * 4, [])


def test_more_than_46340_records_in_one_class_are_counted() -> None:
    assert equivalence_classes(np.zeros((100_000, 3), np.int32)).sizes.tolist() == [100_000]


labels = st.lists(st.integers(0, 4), max_size=12)


@given(labels, st.permutations(range(5)), labels)
def test_same_partition_is_about_who_is_together(
    numbers: list[int], names: list[int], others: list[int]
) -> None:
    def compact(values: list[int]) -> np.ndarray:
        return np.unique(np.array(values, np.int64), return_inverse=True)[1]

    def together(values: np.ndarray) -> set[tuple[int, int]]:
        return {(i, j) for i in range(len(values)) for j in range(len(values)) if values[i] == values[j]}

    first = compact(numbers)
    assert same_partition(first, compact([names[value] for value in numbers]))
    size = min(len(first), len(others))
    a, b = compact(list(first[:size])), compact(others[:size])
    assert same_partition(a, b) == (together(a) == together(b))
