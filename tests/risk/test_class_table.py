from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.risk.class_table import ClassTables, class_table, finest_first


@st.composite
def tables(draw):
    p = draw(st.integers(1, 3))
    rows = draw(st.lists(st.tuples(*[st.integers(0, 3)] * p), min_size=1, max_size=80))
    labels = draw(st.lists(st.integers(-1, 2), min_size=len(rows), max_size=len(rows)))
    labels[0] = 0
    kept = {old: new for new, old in enumerate(sorted({x for x in labels if x >= 0}))} | {-1: -1}
    return np.array(rows, np.float64).reshape(-1, p), np.array([kept[x] for x in labels])


@given(tables())
def test_holds_each_distinct_row_of_each_class_in_order_with_its_count(table):
    values, labels = table
    found = class_table(values, labels)
    for label in range(labels.max() + 1):
        begin, end = found.starts[label], found.starts[label + 1]
        expected = sorted(Counter(map(tuple, values[labels == label].tolist())).items())
        assert [tuple(row) for row in found.rows[begin:end].tolist()] == [row for row, _ in expected]
        assert np.diff(found.before)[begin:end].tolist() == [count for _, count in expected]
        diameters = np.ptp(values[labels == label], axis=0)
        assert found.diameters[label].tolist() == diameters.tolist()
        assert found.leads[label] == next((j for j, d in enumerate(diameters) if d > 0), 0)


@pytest.mark.parametrize("n", [32, 33, 500])
def test_short_and_long_classes_are_sorted_alike(n):
    values = np.random.default_rng(n).integers(0, 6, (n, 2)).astype(np.float64)
    found = class_table(values, np.zeros(n, np.int64))
    assert np.array_equal(found.rows, np.unique(values, axis=0))
    assert found.before[-1] == n


@given(tables(), st.sampled_from([1.0, 0.5, 2.0**52, 2.0**54]), st.integers(-(2**53), 2**52))
def test_whole_numbers_other_numbers_and_large_ones_make_equal_tables(table, step, shift):
    """Those of whole numbers are made from one number for each record, the others from rows."""
    values, labels = table
    moved = values * step + (shift if step == 1 else 0)
    found, expected = class_table(moved, labels), class_table(values + 0.5, labels)
    assert np.array_equal(found.rows, (expected.rows - 0.5) * step + (shift if step == 1 else 0))
    assert np.array_equal(found.starts, expected.starts)
    assert np.array_equal(found.before, expected.before)


def test_columns_too_wide_for_one_number_are_sorted_by_rows():
    values = np.random.default_rng(1).integers(-(2**40), 2**40, (300, 2)).astype(np.float64)
    labels = np.arange(300) % 3
    found = class_table(values, labels)
    for label in range(3):
        rows = found.rows[found.starts[label] : found.starts[label + 1]]
        assert np.array_equal(rows, np.unique(values[labels == label], axis=0))


def test_a_class_number_that_nobody_has_is_refused():
    with pytest.raises(ValueError, match="1 of 3 empty"):
        class_table(np.zeros((2, 1)), np.array([0, 2]))


def test_no_class_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        class_table(np.zeros((2, 1)), np.array([-1, -1]))


def test_columns_with_more_distinct_values_come_first():
    values = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [1.0, 2.0, 4.0]])
    assert finest_first(values).tolist() == [2, 1, 0]
    assert finest_first(values[:, :1]).tolist() == [0]
    assert finest_first(np.zeros((3, 2))).tolist() == [0, 1]


def test_what_was_sorted_is_given_again_for_equal_records_in_equal_classes_only():
    tables, values, labels = ClassTables(), np.array([[3.0], [1.0], [2.0], [5.0]]), np.array([0, 0, 1, 1])
    first = tables.sorted_classes(values, labels)
    assert tables.sorted_classes(values.copy(), labels.astype(np.int32)) is first
    others = (values + 1, labels), (values, labels[::-1]), (values.reshape(2, 2), np.array([0, 1]))
    for other, classes in others:
        found = tables.sorted_classes(other, classes)
        assert found is not first
        rows = class_table(other[:, found.order], classes).rows
        assert found.table.rows.tolist() == rows.tolist()
    assert tables.sorted_classes(values, labels) is not first  # three others were sorted since
