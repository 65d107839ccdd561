from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.risk.attributes import (
    OpenClasses,
    class_homogeneity,
    class_similarity,
    class_skewness,
    count_open_classes,
)
from anon_pipeline.risk.t_closeness import t_closeness

TREE = [np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]), np.zeros(4, int)]


@st.composite
def tables(draw):
    n = draw(st.integers(1, 20))
    codes = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    _, labels = np.unique(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True)
    return codes, labels, int(labels.max()) + 1


@given(tables(), st.lists(st.integers(0, 5), min_size=4, max_size=4))
def test_all_equal_the_definitions(table, more):
    codes, labels, m = table
    whole = np.bincount(codes, minlength=4) + np.array(more)
    occurring = np.flatnonzero(whole).tolist()
    shares, gains = class_homogeneity(codes, labels, m=m), class_skewness(codes, labels, whole=whole, m=m)
    ordered = class_similarity(codes, labels, m=m, distance="ordered", occurring=whole)
    equal = class_similarity(codes, labels, m=m, distance="equal")
    tree = class_similarity(codes, labels, m=m, distance="hierarchical", lookups=TREE)
    for label in range(m):
        held = codes[labels == label].tolist()
        share = {value: held.count(value) / len(held) for value in held}
        assert shares[label] == max(share.values())
        assert gains[label] == pytest.approx(max(share[v] / (whole[v] / whole.sum()) for v in held))
        ranks = [occurring.index(value) for value in held]
        assert ordered[label] == (max(ranks) - min(ranks)) / max(len(occurring) - 1, 1)
        assert equal[label] == (len(set(held)) > 1)
        same = [len({level[value] for value in held}) == 1 for level in TREE]
        assert tree[label] == same.index(True) / 2


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(table, random):
    codes, labels, m = table
    moved = list(range(len(codes)))
    random.shuffle(moved)
    whole = np.bincount(codes)
    assert (
        class_homogeneity(codes, labels, m=m).tolist()
        == class_homogeneity(codes[moved], labels[moved], m=m).tolist()
    )
    gains = class_skewness(codes[moved], labels[moved], whole=whole, m=m)
    assert gains.tolist() == class_skewness(codes, labels, whole=whole, m=m).tolist()


def test_the_books_half_ill_class_gains_fifty():
    codes, labels = np.array([0, 1, 0, 0]), np.array([0, 0, 1, 1])
    gains = class_skewness(codes, labels, whole=np.array([99, 1]), m=2)
    assert gains == pytest.approx([50, 1 / 0.99])
    assert count_open_classes(gains > 10, np.array([2, 2])) == OpenClasses(1, 2, 0.5)


def test_low_salaries_are_similar_and_close_by_neither():
    codes, labels = np.array([0, 1, 2, 3, 5, 8]), np.repeat([0, 1], 3)  # 3k, 4k, 5k and 6k, 8k, 11k
    spreads = class_similarity(codes, labels, m=2, distance="ordered", occurring=np.ones(9, int))
    assert spreads.tolist() == [0.25, 0.625]
    t = t_closeness(codes, labels, whole=np.ones(9, int), m=2, distance="ordered")
    assert t == pytest.approx([0.375, 0.167], abs=1e-3)


def test_one_class_and_one_value_are_homogeneous():
    codes, labels = np.zeros(5, int), np.zeros(5, int)
    assert class_homogeneity(codes, labels, m=1).tolist() == [1.0]
    assert class_skewness(codes, labels, whole=np.array([5]), m=1).tolist() == [1.0]
    for distance in ("ordered", "equal"):
        assert class_similarity(codes, labels, m=1, distance=distance).tolist() == [0.0]
    assert class_similarity(
        codes, labels, m=1, distance="hierarchical", lookups=[np.zeros(1, int)]
    ).tolist() == [0]
    assert count_open_classes(np.array([True]), np.array([5])) == OpenClasses(1, 5, 1.0)


def test_nothing_released_has_no_attack():
    none = np.empty(0, int)
    for measure in (class_homogeneity, lambda c, x, m: class_skewness(c, x, whole=np.ones(2), m=m)):
        with pytest.raises(ValueError, match="classes must be at least one"):
            measure(none, none, m=0)
    with pytest.raises(ValueError, match="at least one class"):
        count_open_classes(none > 0, none)


def test_what_does_not_fit_is_refused():
    codes, labels = np.array([0, 2]), np.array([0, 0])
    with pytest.raises(ValueError, match="must occur in the whole table"):
        class_skewness(codes, labels, whole=np.array([1, 1, 0]), m=1)
    with pytest.raises(ValueError, match="must occur in the whole table"):
        class_similarity(codes, labels, m=1, distance="ordered", occurring=np.array([1]))
    with pytest.raises(ValueError, match="lookups must be given"):
        class_similarity(codes, labels, m=1, distance="hierarchical")
    with pytest.raises(ValueError, match="single top"):
        class_similarity(codes, labels, m=1, distance="hierarchical", lookups=TREE[:1])
    with pytest.raises(ValueError, match="must be ordered, equal or hierarchical"):
        class_similarity(codes, labels, m=1, distance="near")  # type: ignore[arg-type]
