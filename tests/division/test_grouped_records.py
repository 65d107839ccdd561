"""Groups of records are what counting them one by one finds, whatever the widths of the columns."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.division import grouped_records, record_keys
from anon_pipeline.division.grouped_records import GroupedRecords, group_in_parts, group_records
from anon_pipeline.division.record_keys import Levels
from tests.example_counts import examples_of


@pytest.mark.parametrize("largest", [2**62, 1], ids=["packed", "grouped first"])
@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_groups_and_their_values(data: st.DataObject, largest: int) -> None:
    n, q, others = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 3)), data.draw(st.integers(0, 2))
    highest = data.draw(st.sampled_from([0, 2, 9, 300]))

    def column() -> np.ndarray:
        kind = np.int16 if highest > 100 else np.int8
        return np.array(data.draw(st.lists(st.integers(0, highest), min_size=n, max_size=n)), kind)

    columns, more = [column() for _ in range(q)], [column() for _ in range(others)]
    coarse = [np.arange(highest + 1) // data.draw(st.integers(1, 3)) for _ in columns]
    without = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    without[data.draw(st.integers(0, n - 1))] = False
    levels = Levels(columns, coarse, data.draw(st.sampled_from([None, without])))
    counts = np.ones(n, np.bool_) if levels.without is None else ~without
    for own in more:
        own[~counts] = -1  # as a missing value of a limited column is
    most = data.draw(st.integers(1, 12))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_keys, "_LARGEST_KEY", largest)
        patch.setattr(grouped_records, "AT_ONCE", data.draw(st.integers(1, 40)))
        patch.setattr(grouped_records, "_SAMPLE", data.draw(st.integers(1, 40)))
        found = group_records(levels, more)
        bounded = group_records(levels, more, most=most)
        parts = list(group_in_parts(levels, more, most=most))
    coded = [lookup[own][counts] for lookup, own in zip(coarse, columns, strict=True)]
    rows = list(zip(*(own.tolist() for own in coded), strict=True))
    sizes = Counter(rows)
    assert found is not None
    assert [tuple(row) for row in found.codes.tolist()] == sorted(sizes)
    assert found.sizes.tolist() == [sizes[row] for row in sorted(sizes)]
    pairs = [Counter(zip(rows, own[counts].tolist(), strict=True)) for own in more]
    assert found.entries == max(len(sizes), sum(map(len, pairs)))
    for own, counted in zip(found.values, pairs, strict=True):
        assert values_of(own, found) == dict(counted)
        begin = data.draw(st.integers(0, len(sizes) - 1))
        run = slice(begin, data.draw(st.integers(begin + 1, len(sizes))))
        some = own.histograms(run, found.sizes[run])
        assert some.starts[0] == 0
        assert (np.diff(some.starts) > 0).all()
        assert some.counts.sum() == found.sizes[run].sum()
    assert (bounded is None) == (found.entries > most)
    assert [row for part in parts for row in part.codes.tolist()] == found.codes.tolist()
    assert [size for part in parts for size in part.sizes.tolist()] == found.sizes.tolist()
    assert all(part.entries <= most or len(part.sizes) == 1 for part in parts)
    for place, counted in enumerate(pairs):
        known = dict[object, int]()
        for part in parts:
            known |= values_of(part.values[place], part)
        assert known == dict(counted)


def values_of(values: Any, groups: GroupedRecords) -> dict[tuple[tuple[int, ...], int], int]:
    """How many records of each class have each value."""
    whole = values.histograms(slice(0, len(groups.sizes)), groups.sizes)
    classes = [tuple(groups.codes[place].tolist()) for place in whole.classes]
    return dict(zip(zip(classes, whole.codes.tolist(), strict=True), whole.counts.tolist(), strict=True))


def test_columns_are_left_as_they_are() -> None:
    column, other = np.array([3, 1, 3], np.int8), np.array([5, 5, 4], np.int8)
    group_records(Levels([column], [np.arange(4)]), [other, other])
    assert (column.tolist(), other.tolist()) == ([3, 1, 3], [5, 5, 4])
