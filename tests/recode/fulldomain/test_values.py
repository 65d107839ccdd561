"""Kernels of sensitive values in the lattice search against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.fulldomain.values import by_class, least_distinct, merge, mistakes
from anon_pipeline.recode.task import Constraints, Diversity
from tests.example_counts import examples_of
from tests.recode.asking import limit_of


def histograms(records: list[tuple[int, ...]], labels: list[int], m: int) -> tuple[np.ndarray, ...]:
    """Twin: what `merge` makes, straight from the records."""
    starts, values, counts = [0], [], []
    for group in range(m):
        for column in range(len(records[0])):
            own = [row[column] for row, label in zip(records, labels, strict=True) if label == group]
            for value in sorted(set(own)):
                values.append(value)
                counts.append(own.count(value))
            starts.append(len(values))
    return np.array(starts), np.array(values, np.int64), np.array(counts, np.int64)


@pytest.mark.parametrize("largest", [2, 500])
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_merged_histograms_are_those_of_the_records(data: st.DataObject, largest: int) -> None:
    columns = data.draw(st.integers(1, 3))
    value = st.tuples(*[st.integers(0, largest)] * columns)
    records = data.draw(st.lists(value, min_size=1, max_size=30))
    classes = data.draw(st.integers(1, len(records)))
    below = [row % classes for row in range(len(records))]
    above = data.draw(st.lists(st.integers(0, classes - 1), min_size=classes, max_size=classes))
    compact = {label: place for place, label in enumerate(dict.fromkeys(above))}
    labels = np.array([compact[label] for label in above], np.int64)
    m = len(compact)
    first, order = np.empty(m + 1, np.int64), np.empty(classes, np.int64)
    by_class(labels, first, order)
    assert order.tolist() == sorted(range(classes), key=lambda row: labels[row])
    source = histograms(records, below, classes)
    entries = len(source[1])
    out = np.zeros(m * columns + 1, np.int64), np.empty(entries, np.int64), np.empty(entries, np.int64)
    scratch = np.empty(entries, np.int64), np.empty(entries, np.int64), np.zeros(largest + 1, np.int64)
    for part in ((0, m // 2, columns), (m // 2, m, columns)):
        merge(source, (first, order), out, scratch, part)
    want = histograms(records, [int(labels[label]) for label in below], m)
    found = out[0][-1]
    assert [a.tolist() for a in (out[0], out[1][:found], out[2][:found])] == [a.tolist() for a in want]
    assert not scratch[2].any()


def test_mistakes_are_the_records_outside_the_majority() -> None:
    records = [(0, 1), (0, 1), (0, 2), (1, 0), (1, 0), (1, 3), (1, 3), (1, 4)]
    labels = [0, 0, 0, 1, 1, 1, 1, 1]
    found = mistakes(histograms(records, labels, 2), np.array([3, 5]), np.array([True, False]), 2)
    assert found == (1, 4)


@pytest.mark.parametrize(
    ("diversity", "least"),
    [
        (None, 0),
        (Diversity("distinct", 3), 3),
        (Diversity("entropy", 2.0), 2),
        (Diversity("entropy", 2.3), 3),
        (Diversity("recursive", 3, 0.5), 3),
    ],
)
def test_every_diversity_needs_so_many_distinct_values(diversity: Diversity | None, least: int) -> None:
    codes = np.array([0, 1, 2])
    limit = limit_of("s", codes, np.array([1, 1, 1]), "equal", None, 0.5, diversity)
    assert least_distinct(rules_of(Constraints(2, 0, (limit.limit,)))).tolist() == [least]
