from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.risk.histograms import class_histograms, class_sizes, starts_of

compact = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=30).map(
    lambda pairs: (np.unique([c for c, _ in pairs], return_inverse=True)[1], np.array([v for _, v in pairs]))
)


@given(compact)
def test_counts_every_pair_that_occurs_in_order(table):
    labels, codes = table
    m = int(labels.max()) + 1
    found = class_histograms(codes, labels, m=m)
    expected = sorted(Counter(zip(labels.tolist(), codes.tolist(), strict=True)).items())
    pairs = zip(found.classes.tolist(), found.codes.tolist(), found.counts.tolist(), strict=True)
    assert [((c, v), count) for c, v, count in pairs] == expected
    assert found.sizes.tolist() == [int((labels == c).sum()) for c in range(m)]
    assert found.starts.tolist() == [sum(c < e for (c, _), _ in expected) for e in range(m + 1)]


def test_codes_too_wide_for_a_packed_key_keep_their_value():
    codes = np.array([2**61, 0, 2**61, 7])
    found = class_histograms(codes, np.array([0, 0, 0, 1]), m=2)
    assert found.codes.tolist() == [0, 2**61, 7]
    assert found.counts.tolist() == [1, 2, 1]


def test_32_bit_input_does_not_overflow():
    m = 50_000  # class times value passes 2^31
    ids = np.arange(m, dtype=np.int32)
    found = class_histograms(ids[::-1].copy(), ids, m=m)
    assert np.array_equal(found.codes, ids[::-1])
    assert np.array_equal(found.classes, ids)


def test_total_adds_up_within_classes():
    found = class_histograms(np.array([0, 1, 1, 4]), np.array([0, 0, 0, 1]), m=2)
    assert found.total(np.array([1.5, 2.0, 4.0])).tolist() == [3.5, 4.0]


def test_starts():
    assert starts_of(np.array([2, 1, 3])).tolist() == [0, 2, 3, 6]


@pytest.mark.parametrize(
    ("labels", "m", "rule"),
    [
        ([], 0, "at least one"),
        ([], 1, "at least one"),
        ([0, 2], 3, "1 of 3 empty"),
        ([0, -1], 1, "0 … 0"),
        ([0, 1], 1, "0 … 0"),
    ],
)
def test_labels_that_are_not_compact_are_refused(labels, m, rule):
    with pytest.raises(ValueError, match=rule):
        class_sizes(np.array(labels, np.int64), m=m)


def test_a_negative_code_is_refused():
    with pytest.raises(ValueError, match="codes must be ≥ 0"):
        class_histograms(np.array([0, -1]), np.array([0, 0]), m=1)
