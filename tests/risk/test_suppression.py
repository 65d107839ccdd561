from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.risk.suppression import suppress_unconfident
from anon_pipeline.risk.t_closeness import t_closeness


def twin(counts, labels, k, broken):
    """[KE V-C] step by step, over lists of positions."""
    left = [i for i, count in enumerate(counts) if count == 0 or count >= k]
    size = Counter(labels[i] for i in left)
    large = [i for i in left if size[labels[i]] >= k]
    good = [i for i in large if labels[i] not in broken]
    return good, len(counts) - len(left), len(left) - len(large), len(large) - len(good)


records = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), max_size=40)


@given(records, st.integers(1, 4), st.sets(st.integers(0, 5)))
def test_equals_the_definition(pairs, k, broken):
    counts, labels = (np.array(side, int) for side in (list(zip(*pairs, strict=True)) or [[], []]))

    def limit(rows, compact, m):
        return np.array([bool(set(labels[rows[compact == label]]) & broken) for label in range(m)])

    found = suppress_unconfident(counts, labels, k=k, limits={"t": limit})
    keep, unconfident, small, limited = twin(counts.tolist(), labels.tolist(), k, broken)
    assert np.flatnonzero(found.keep).tolist() == keep
    assert (found.unconfident, found.small, found.limits) == (unconfident, small, {"t": limited})
    assert found.suppressed == len(counts) - len(keep)
    assert all(size >= k for size in Counter(labels[found.keep].tolist()).values())


def test_records_that_the_noise_made_outliers_stay_and_count():
    found = suppress_unconfident(np.array([2, 1, 0, 1]), np.zeros(4, int), k=2)
    assert found.keep.tolist() == [True, False, True, False]
    assert (found.unconfident, found.small) == (2, 0)


def test_a_class_left_with_fewer_than_k_goes():
    found = suppress_unconfident(np.array([3, 3, 1, 3, 3, 3]), np.array([0, 0, 0, 1, 1, 1]), k=3)
    assert found.keep.tolist() == [False] * 3 + [True] * 3
    assert (found.unconfident, found.small, found.suppressed) == (1, 2, 3)


def test_counts_capped_at_k_decide_alike():
    counts, labels = np.array([9, 2, 0, 5, 3, 3]), np.array([0, 0, 0, 1, 1, 1])
    full, capped = (suppress_unconfident(each, labels, k=3) for each in (counts, np.minimum(counts, 3)))
    assert full.keep.tolist() == capped.keep.tolist()


def test_without_confidence_only_the_limits_suppress():
    labels = np.array([7, 7, 3, 3])
    found = suppress_unconfident(
        None, labels, k=2, limits={"l": lambda rows, compact, m: np.array([True, False])}
    )
    assert found.keep.tolist() == [True, True, False, False]  # class 3 comes first
    assert (found.unconfident, found.small, found.limits) == (0, 0, {"l": 2})


def test_limits_see_what_is_left_numbered_without_gaps():
    seen = []

    def first(rows, labels, m):
        seen.append((rows.tolist(), labels.tolist(), m))
        return np.array([False, True, False])

    def second(rows, labels, m):
        seen.append((rows.tolist(), labels.tolist(), m))
        return np.zeros(m, bool)

    labels = np.array([5, 1, 5, 9, 9, 1, 4])
    found = suppress_unconfident(
        np.array([2, 2, 2, 2, 2, 2, 1]), labels, k=2, limits={"a": first, "b": second}
    )
    assert seen == [([0, 1, 2, 3, 4, 5], [1, 0, 1, 2, 2, 0], 3), ([1, 3, 4, 5], [0, 1, 1, 0], 2)]
    assert found.limits == {"a": 2, "b": 0}


def test_t_closeness_as_a_limit():
    codes, whole = np.array([0, 0, 0, 1]), np.array([2, 2])

    def beyond_t(rows, labels, m):
        return t_closeness(codes[rows], labels, whole=whole, m=m, distance="equal") > 0.4

    found = suppress_unconfident(None, np.array([0, 0, 1, 1]), k=2, limits={"t_closeness": beyond_t})
    assert found.keep.tolist() == [False, False, True, True]


def test_nothing_left_is_an_answer_and_limits_are_not_asked():
    def never(rows, labels, m):
        raise AssertionError

    found = suppress_unconfident(np.array([1, 1]), np.array([0, 0]), k=2, limits={"t": never})
    assert not found.keep.any()
    assert (found.suppressed, found.limits) == (2, {"t": 0})
    assert suppress_unconfident(np.empty(0, int), np.empty(0, int), k=2).suppressed == 0


def test_the_input_is_left_alone():
    counts, labels = np.array([1, 2]), np.array([0, 0])
    suppress_unconfident(counts, labels, k=2)
    assert (counts.tolist(), labels.tolist()) == ([1, 2], [0, 0])


def test_a_record_of_no_class_is_refused():
    with pytest.raises(ValueError, match="labels must be ≥ 0"):
        suppress_unconfident(None, np.array([0, -1]), k=2)


def test_a_limit_that_answers_for_other_classes_is_refused():
    with pytest.raises(ValueError, match="limit 't' must answer for 1 classes"):
        suppress_unconfident(
            None, np.array([0, 0]), k=2, limits={"t": lambda rows, labels, m: np.zeros(2, bool)}
        )
