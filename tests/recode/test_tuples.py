"""Distinct tuples: nothing is lost, the row order is forgotten, codes outside a hierarchy are refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.by_record import by_record, count_records
from anon_pipeline.recode.tuples import (
    ValueCounts,
    distinct_tuples,
    generalize,
    leaf_counts,
    node_classes,
    some_tuples,
    with_values,
)
from tests.example_counts import examples_of


@settings(deadline=None, max_examples=examples_of(50))
@given(data=st.data())
def test_tuples_and_labels_give_the_records_back(data: st.DataObject, drawn: SimpleNamespace) -> None:
    codes, hierarchies = data.draw(drawn.tables(least=0))
    table, labels = distinct_tuples(codes, hierarchies)
    assert table.tuples[labels].tolist() == codes.tolist()
    assert table.tuples.tolist() == sorted(map(list, set(map(tuple, codes.tolist()))))
    assert table.counts.tolist() == np.bincount(labels, minlength=len(table.counts)).tolist()
    assert table.records == len(codes)


def test_row_order_changes_labels_alone(from_rows) -> None:
    hierarchy = from_rows("x", [("a", "*"), ("b", "*")])
    one, labels = distinct_tuples(np.array([[1], [0], [1]]), [hierarchy])
    two, _ = distinct_tuples(np.array([[0], [1], [1]]), [hierarchy])
    assert one.tuples.tolist() == two.tuples.tolist() == [[0], [1]]
    assert one.counts.tolist() == two.counts.tolist() == [1, 2]
    assert labels.tolist() == [1, 0, 1]


@pytest.mark.parametrize("code", [-1, 2, 2**40])
def test_a_code_outside_its_hierarchy_is_refused_by_column(from_rows, code: int) -> None:
    hierarchies = [from_rows("fine", [("a", "*"), ("b", "*")]), from_rows("wrong", [("a", "*"), ("b", "*")])]
    with pytest.raises(ValueError, match=r"leaves of their hierarchy; these columns have others: wrong\.$"):
        distinct_tuples(np.array([[0, 0], [1, code]]), hierarchies)


def test_a_column_without_hierarchy_is_refused(from_rows) -> None:
    with pytest.raises(ValueError, match=r"a column per hierarchy \(1\), got \(3, 2\)"):
        distinct_tuples(np.zeros((3, 2), np.int64), [from_rows("x", [("a", "*")])])


@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_tuples_with_counts_are_the_tuples_of_that_many_records(
    data: st.DataObject, drawn: SimpleNamespace
) -> None:
    codes, hierarchies = data.draw(drawn.tables())
    weights = np.array(data.draw(st.lists(st.integers(1, 5), min_size=len(codes), max_size=len(codes))))
    values = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(codes), max_size=len(codes))))
    rows = np.repeat(np.arange(len(codes)), weights)
    records = by_record(codes[rows], hierarchies, sensitive=[values[rows]])
    want = count_records(records, labeled=False)
    table, labels = distinct_tuples(codes, hierarchies, weights=weights)
    found = with_values(table, hierarchies, [ValueCounts(codes, values, weights)])
    assert table.tuples[labels].tolist() == codes.tolist()
    assert (found.tuples.tolist(), found.counts.tolist()) == (want.tuples.tolist(), want.counts.tolist())
    assert [own.tolist() for own in (found.counted.starts, found.counted.values, found.counted.counts)] == [
        own.tolist() for own in (want.counted.starts, want.counted.values, want.counted.counts)
    ]
    for column, leaves in enumerate(leaf_counts(found, hierarchies)):
        assert leaves.tolist() == np.bincount(codes[rows, column], minlength=len(leaves)).tolist()


def test_values_of_other_tuples_are_refused(from_rows) -> None:
    hierarchies = [from_rows("x", [("a", "*"), ("b", "*")])]
    table, _ = distinct_tuples(np.array([[0], [1]]), hierarchies, weights=np.array([3, 4]))
    for codes, counts in (([[0]], [3]), ([[0], [1]], [3, 5])):
        column = ValueCounts(np.array(codes), np.zeros(len(counts), np.int64), np.array(counts))
        with pytest.raises(ValueError, match="columns must count the records of each tuple"):
            with_values(table, hierarchies, [column])


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, 2, 3]])
def test_weights_are_at_least_one_for_each_row(from_rows, weights: list[int]) -> None:
    with pytest.raises(ValueError, match="weights must be one for each row"):
        distinct_tuples(
            np.array([[0], [1]]), [from_rows("x", [("a", "*"), ("b", "*")])], weights=np.array(weights)
        )


@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_a_generalized_table_has_the_same_classes_from_there_on(
    data: st.DataObject, drawn: SimpleNamespace
) -> None:
    codes, hierarchies = data.draw(drawn.tables())
    values = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(codes), max_size=len(codes))))
    table = count_records(by_record(codes, hierarchies, sensitive=[values]), labeled=False)
    low = [data.draw(st.integers(0, hierarchy.height - 1)) for hierarchy in hierarchies]
    high = [data.draw(st.integers(level, h.height - 1)) for level, h in zip(low, hierarchies, strict=True)]
    found = generalize(table, hierarchies, low)
    assert len(found.counts) == len(node_classes(table, hierarchies, low)[0])
    one, other = generalize(table, hierarchies, high), generalize(found, hierarchies, high)
    assert (one.tuples.tolist(), one.counts.tolist()) == (other.tuples.tolist(), other.counts.tolist())
    assert one.counted.values.tolist() == other.counted.values.tolist()
    assert one.counted.counts.tolist() == other.counted.counts.tolist()
    which = np.arange(len(one.counts)) % 2 == 0
    some = some_tuples(one, which)
    assert (some.tuples.tolist(), some.counts.tolist()) == (
        one.tuples[which].tolist(),
        one.counts[which].tolist(),
    )
    assert some.counted.column(0, some.counts).sizes.tolist() == some.counts.tolist()
