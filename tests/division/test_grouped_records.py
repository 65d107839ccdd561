"""Groups of records are what counting them one by one finds, whatever the widths of the columns."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.division import grouped_records
from anon_pipeline.division.grouped_records import group_records


@pytest.mark.parametrize("largest", [2**62, 40, 1], ids=["packed", "some packed", "grouped first"])
@settings(deadline=None, max_examples=120)
@given(data=st.data())
def test_groups_and_their_values(data: st.DataObject, largest: int) -> None:
    n, q, others = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 3)), data.draw(st.integers(0, 2))
    highest = data.draw(st.sampled_from([0, 2, 9, 300]))

    def column() -> np.ndarray:
        kind = np.int16 if highest > 100 else np.int8
        return np.array(data.draw(st.lists(st.integers(0, highest), min_size=n, max_size=n)), kind)

    columns, more = [column() for _ in range(q)], [column() for _ in range(others)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouped_records, "_LARGEST_KEY", largest)
        found = group_records(columns, more)
    rows = list(zip(*(own.tolist() for own in columns), strict=True))
    sizes = Counter(rows)
    assert [tuple(row) for row in found.codes.tolist()] == sorted(sizes)
    assert found.sizes.tolist() == [sizes[row] for row in sorted(sizes)]
    pairs = [Counter(zip(rows, own.tolist(), strict=True)) for own in more]
    assert found.entries == max(len(sizes), sum(map(len, pairs)))
    for own, counted in zip(found.values, pairs, strict=True):
        whole = own.histograms(slice(0, len(sizes)), found.sizes)
        classes = [sorted(sizes)[place] for place in whole.classes]
        known = dict(zip(zip(classes, whole.codes.tolist(), strict=True), whole.counts.tolist(), strict=True))
        assert known == dict(counted)
        begin = data.draw(st.integers(0, len(sizes) - 1))
        run = slice(begin, data.draw(st.integers(begin + 1, len(sizes))))
        some = own.histograms(run, found.sizes[run])
        assert some.starts[0] == 0
        assert (np.diff(some.starts) > 0).all()
        assert some.counts.sum() == found.sizes[run].sum()


def test_columns_are_left_as_they_are() -> None:
    column, other = np.array([3, 1, 3], np.int8), np.array([5, 5, 4], np.int8)
    group_records([column], [other, other])
    assert (column.tolist(), other.tolist()) == ([3, 1, 3], [5, 5, 4])
