"""Distinct tuples: nothing is lost, the row order is forgotten, codes outside a hierarchy are refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.tuples import distinct_tuples


@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_tuples_and_labels_give_the_records_back(data: st.DataObject, drawn: SimpleNamespace) -> None:
    codes, hierarchies = data.draw(drawn.tables(least=0))
    table = distinct_tuples(codes, hierarchies)
    assert table.tuples[table.labels].tolist() == codes.tolist()
    assert table.tuples.tolist() == sorted(map(list, set(map(tuple, codes.tolist()))))
    assert table.counts.tolist() == np.bincount(table.labels, minlength=len(table.counts)).tolist()
    assert table.records == len(codes)


def test_row_order_changes_labels_alone(from_rows) -> None:
    hierarchy = from_rows("x", [("a", "*"), ("b", "*")])
    one = distinct_tuples(np.array([[1], [0], [1]]), [hierarchy])
    two = distinct_tuples(np.array([[0], [1], [1]]), [hierarchy])
    assert one.tuples.tolist() == two.tuples.tolist() == [[0], [1]]
    assert one.counts.tolist() == two.counts.tolist() == [1, 2]
    assert one.labels.tolist() == [1, 0, 1]


@pytest.mark.parametrize("code", [-1, 2, 2**40])
def test_a_code_outside_its_hierarchy_is_refused_by_column(from_rows, code: int) -> None:
    hierarchies = [from_rows("fine", [("a", "*"), ("b", "*")]), from_rows("wrong", [("a", "*"), ("b", "*")])]
    with pytest.raises(ValueError, match=r"leaves of their hierarchy; these columns have others: wrong\.$"):
        distinct_tuples(np.array([[0, 0], [1, code]]), hierarchies)


def test_a_column_without_hierarchy_is_refused(from_rows) -> None:
    with pytest.raises(ValueError, match=r"a column per hierarchy \(1\), got \(3, 2\)"):
        distinct_tuples(np.zeros((3, 2), np.int64), [from_rows("x", [("a", "*")])])
