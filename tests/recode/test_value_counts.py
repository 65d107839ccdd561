"""Histograms of several columns, tuple by tuple: laid out and taken apart again."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.value_counts import count_columns
from anon_pipeline.risk.histograms import ClassHistograms, class_histograms
from tests.example_counts import examples_of
from tests.recode.asking import compact


def same(one: ClassHistograms, other: ClassHistograms) -> bool:
    return all(
        getattr(one, name).tolist() == getattr(other, name).tolist()
        for name in ("starts", "codes", "counts", "sizes")
    )


@settings(deadline=None, max_examples=examples_of(200))
@given(data=st.data())
def test_each_column_comes_back_alone(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 20))
    labels = np.unique(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), return_inverse=True)[1]
    m = int(labels.max()) + 1
    columns = [
        np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    apart = [class_histograms(column, labels, m=m) for column in columns]
    counted = count_columns(apart, labeled=True)
    assert (counted.columns, counted.limited) == (len(columns), len(columns) - 1)
    for place, own in enumerate(apart):
        assert same(counted.column(place, own.sizes), own)
    # As the kernels read it: class after class, and column after column in each.
    for label in range(m):
        for place, column in enumerate(columns):
            begin, end = counted.starts[label * len(columns) + place :][:2]
            values, counts = np.unique(column[labels == label], return_counts=True)
            assert counted.values[begin:end].tolist() == values.tolist()
            assert counted.counts[begin:end].tolist() == counts.tolist()


@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_tuples_that_become_one_hold_what_their_records_hold(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 20))
    labels = np.unique(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), return_inverse=True)[1]
    t = int(labels.max()) + 1
    into = compact(data.draw(st.lists(st.integers(-1, 2), min_size=t, max_size=t)))
    if into.max() < 0:
        return
    columns = [np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))) for _ in range(2)]
    m, sizes = int(into.max()) + 1, np.bincount(labels)
    counted = count_columns([class_histograms(column, labels, m=len(sizes)) for column in columns])
    merged = counted.merge(sizes, into, m=m)
    for place, column in enumerate(columns):
        kept = into[labels] >= 0
        want = class_histograms(column[kept], into[labels][kept], m=m)
        assert same(merged.column(place, want.sizes), want)


def test_no_column_is_nothing() -> None:
    assert count_columns([]) is None
