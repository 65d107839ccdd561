from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.utility.class_losses import (
    average_class_size,
    classification,
    discernibility,
)

NOTHING = np.empty(0, np.int64)


def test_discernibility():
    assert discernibility(np.array([2, 3]), n=5) == 13
    assert discernibility(np.array([2, 3]), n=7) == 13 + 7 * 2
    assert discernibility(NOTHING, n=4) == 16


def test_discernibility_does_not_overflow():
    assert discernibility(np.array([46_341], np.int32), n=46_341) == 46_341**2
    assert discernibility(np.array([2**32]), n=2**32 + 1) == 2**64 + 2**32 + 1


def test_average_class_size():
    assert average_class_size(np.array([2, 4]), n=6) == 3.0
    assert average_class_size(np.array([2, 4]), n=9) == 3.0  # the suppressed are one more class
    assert average_class_size(NOTHING, n=4) == 4.0


@pytest.mark.parametrize(("sizes", "n", "rule"), [([], 0, "at least 1 record"), ([3, 4], 6, "cover the 7")])
def test_records_that_are_not_there_are_refused(sizes, n, rule):
    sizes = np.array(sizes, np.int64)
    for measure in (
        lambda: discernibility(sizes, n=n),
        lambda: average_class_size(sizes, n=n),
    ):
        with pytest.raises(ValueError, match=rule):
            measure()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3)), min_size=1))
def test_classification_counts_suppressed_and_minority_records(records):
    target, labels = np.array(records).T
    right = 0
    for label in set(labels[labels >= 0].tolist()):
        right += np.bincount(target[labels == label]).max()
    assert classification(target, labels) == (len(records) - right) / len(records)


def test_the_classification_of_nothing_is_refused():
    with pytest.raises(ValueError, match="must hold a record"):
        classification(NOTHING, NOTHING)


@given(st.lists(st.integers(1, 9), min_size=1), st.randoms(use_true_random=False))
def test_the_order_of_the_classes_does_not_matter(classes, random):
    found = set()
    for each in (classes, random.sample(classes, len(classes))):
        sizes = np.array(each)
        n = int(sizes.sum()) + 1
        found.add((discernibility(sizes, n=n), average_class_size(sizes, n=n)))
    assert len(found) == 1
