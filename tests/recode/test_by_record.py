"""Records in memory: nothing is lost by counting them."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.by_record import by_record, count_records
from tests.example_counts import examples_of


@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_every_value_of_every_tuple_is_counted(data: st.DataObject, drawn: SimpleNamespace) -> None:
    codes, hierarchies = data.draw(drawn.tables())
    values = st.lists(st.integers(0, 3), min_size=len(codes), max_size=len(codes))
    columns = [np.array(data.draw(values)) for _ in range(data.draw(st.integers(0, 3)))]
    target = np.array(data.draw(values))
    records = by_record(codes, hierarchies, sensitive=columns, target=target)
    assert records.codes.tolist() == codes.tolist()
    assert records.records == len(codes)
    table = count_records(records, labeled=True)
    assert table.labeled
    assert table.distinct == [len(set(column.tolist())) for column in columns]
    for place, column in enumerate([*columns, target]):
        found = table.counted.column(place, table.counts)
        want = Counter(zip(records.labels.tolist(), column.tolist(), strict=True))
        pairs = zip(found.classes.tolist(), found.codes.tolist(), strict=True)
        assert dict(zip(pairs, found.counts.tolist(), strict=True)) == want
        assert found.sizes.tolist() == table.counts.tolist()


def test_labels_are_counted_only_where_they_are_asked_for(from_rows) -> None:
    hierarchy = from_rows("x", [("a", "*"), ("b", "*")])
    records = by_record(np.array([[0], [1], [0]]), [hierarchy], target=np.array([2, 1, 1]))
    assert count_records(records, labeled=False).counted is None
    assert count_records(records, labeled=True).counted.counts.tolist() == [1, 1, 1]


def test_classes_of_records_leave_suppressed_ones_out(from_rows) -> None:
    hierarchy = from_rows("x", [("a", "*"), ("b", "*")])
    secret = np.array([4, 5, 4, 4])
    records = by_record(np.array([[0], [1], [0], [1]]), [hierarchy], sensitive=[secret], target=secret)
    found = records.contents(np.array([0, -1, 0, 1]))
    assert (found.records, found.sizes.tolist(), found.target) == (4, [2, 1], None)
    assert found.limited[0].counts.tolist() == [2, 1]
    assert records.contents(np.array([0, -1, 0, 1]), labeled=True).target.codes.tolist() == [4, 4]
    nobody = records.contents(np.full(4, -1))
    assert (nobody.records, nobody.sizes.tolist(), nobody.limited) == (4, [], ())


@pytest.mark.parametrize("code", [-1, 2])
def test_a_code_outside_its_hierarchy_is_refused(from_rows, code: int) -> None:
    with pytest.raises(ValueError, match=r"leaves of their hierarchy; these columns have others: x\.$"):
        by_record(np.array([[0], [code]]), [from_rows("x", [("a", "*"), ("b", "*")])])
