from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from anon_pipeline.risk.t_closeness import t_closeness
from tests.example_counts import examples_of


def shares(codes, v):
    return [Fraction(int((codes == j).sum()), len(codes)) for j in range(v)]


def dense_ordered(p, q):
    """1/(r−1)·Σ|cumulative difference| over the values that occur in the whole table."""
    occurs = [j for j in range(len(q)) if q[j] > 0]
    total = sum(abs(sum(p[i] - q[i] for i in range(j + 1))) for j in occurs)
    return total / (len(occurs) - 1) if len(occurs) > 1 else Fraction(0)


def dense_equal(p, q):
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def transport(p, q, ground):
    """Least work that moves p to q: the linear program behind the earth mover's distance."""
    v = len(p)
    rows = np.kron(np.eye(v), np.ones(v)), np.kron(np.ones(v), np.eye(v))
    marginals = [float(x) for x in [*p, *q]]
    return linprog(ground.ravel(), A_eq=np.vstack(rows), b_eq=marginals, method="highs").fun


def level_distance(lookups):
    """level(LCA)/(h−1) for every pair of values."""
    lookups = np.array(lookups)
    meet = (lookups[:, :, None] == lookups[:, None, :]).argmax(axis=0)
    return meet / max(len(lookups) - 1, 1)


@st.composite
def tables(draw):
    """Whole table (codes), the classes of its records (−1 suppressed), number of values."""
    v = draw(st.integers(1, 7))
    codes = np.array(draw(st.lists(st.integers(0, v - 1), min_size=1, max_size=25)))
    labels = np.array(draw(st.lists(st.integers(-1, 2), min_size=len(codes), max_size=len(codes))))
    labels[0] = 0
    kept = labels >= 0
    labels[kept] = np.unique(labels[kept], return_inverse=True)[1]
    return codes, labels, v


@st.composite
def hierarchies(draw, v):
    lookups = [np.arange(v)]
    for _ in range(draw(st.integers(0, 2))):
        width = int(lookups[-1].max()) + 1
        parents = draw(st.lists(st.integers(0, width - 1), min_size=width, max_size=width))
        lookups.append(np.unique(np.array(parents)[lookups[-1]], return_inverse=True)[1])
    return [*lookups, np.zeros(v, np.int64)]


def measured(codes, labels, v, distance, lookups=None):
    kept, whole = labels >= 0, np.bincount(codes, minlength=v)
    m = int(labels.max()) + 1
    return t_closeness(codes[kept], labels[kept], whole=whole, m=m, distance=distance, lookups=lookups)


def test_ordered_golden(golden):
    for case in golden["emd_ordered"]:
        values, codes = np.unique(case["whole"], return_inverse=True)
        part = np.searchsorted(values, case["class"])
        found = t_closeness(part, np.zeros(len(part), int), whole=np.bincount(codes), m=1, distance="ordered")
        assert found.tolist() == pytest.approx([case["emd"]], abs=1e-15)


def test_equal_golden(golden):
    for case in golden["emd_equal"]:
        part, whole = (np.array(case[name]) * 4 for name in "pq")
        codes = np.repeat(np.arange(len(part)), part.astype(int))
        found = t_closeness(codes, codes * 0, whole=whole.astype(int), m=1, distance="equal")
        assert found.tolist() == [case["emd"]]


def test_ordered_is_not_total_variation():
    whole = np.ones(9, int)
    near = t_closeness(np.array([3, 5, 8]), np.zeros(3, int), whole=whole, m=1, distance="ordered")
    total = t_closeness(np.array([3, 5, 8]), np.zeros(3, int), whole=whole, m=1, distance="equal")
    assert near[0] == pytest.approx(1 / 6)
    assert total[0] == pytest.approx(2 / 3)


@given(tables())
def test_ordered_and_equal_equal_the_definition(table):
    codes, labels, v = table
    q = shares(codes, v)
    ordered, equal = (measured(*table, distance) for distance in ("ordered", "equal"))
    for label in range(labels.max() + 1):
        p = shares(codes[labels == label], v)
        assert ordered[label] == pytest.approx(float(dense_ordered(p, q)), abs=1e-12)
        assert equal[label] == pytest.approx(float(dense_equal(p, q)), abs=1e-12)


@given(tables())
def test_ordered_equals_the_wasserstein_distance_of_ranks(table):
    codes, labels, _ = table
    ranks = np.unique(codes, return_inverse=True)[1]
    found = measured(*table, "ordered")
    for label in range(labels.max() + 1):
        reference = wasserstein_distance(ranks[labels == label], ranks) / max(ranks.max(), 1)
        assert found[label] == pytest.approx(reference, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_ordered_equals_the_dense_sum_for_large_classes_of_many_values(seed):
    rng = np.random.default_rng(seed)
    v, n = 900, 3000
    codes = (v * rng.beta(0.6, 1.4, n)).astype(np.int64)
    labels = np.where(rng.random(n) < 0.2, -1, (codes + rng.integers(-200, 200, n)) // 300 % 3)
    found = measured(codes, labels, v, "ordered")
    q = np.bincount(codes, minlength=v)
    for label in range(3):
        p = np.bincount(codes[labels == label], minlength=v)
        gaps = np.abs(np.cumsum(p / p.sum() - q / n))[q > 0]
        assert found[label] == pytest.approx(gaps.sum() / (len(gaps) - 1), abs=1e-12)


@settings(max_examples=examples_of(60))
@given(st.data())
def test_hierarchical_equals_the_best_transport(data):
    table = codes, labels, v = data.draw(tables())
    lookups = data.draw(hierarchies(v))
    found = measured(*table, "hierarchical", lookups)
    ground = level_distance(lookups)
    for label in range(labels.max() + 1):
        p, q = shares(codes[labels == label], v), shares(codes, v)
        assert found[label] == pytest.approx(transport(p, q, ground), abs=1e-9)


@given(tables())
def test_a_flat_hierarchy_is_the_equal_distance(table):
    _, _, v = table
    flat = measured(*table, "hierarchical", [np.arange(v), np.zeros(v, int)])
    assert flat.tolist() == pytest.approx(measured(*table, "equal").tolist(), abs=1e-12)


@given(tables(), st.sampled_from(["ordered", "equal", "hierarchical"]), st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(table, distance, random):
    codes, labels, v = table
    lookups = [np.arange(v), np.arange(v) // 2, np.zeros(v, int)]
    order = list(range(len(codes)))
    random.shuffle(order)
    moved = measured(codes[order], labels[order], v, distance, lookups)
    assert moved.tolist() == measured(codes, labels, v, distance, lookups).tolist()


def test_the_whole_table_as_one_class_is_exactly_zero_away():
    codes = np.random.default_rng(1).integers(0, 37, 999)
    for distance in ("ordered", "equal", "hierarchical"):
        lookups = [np.arange(37), np.arange(37) // 5, np.zeros(37, int)]
        assert measured(codes, codes * 0, 37, distance, lookups).tolist() == [0.0]


def test_opposite_ends_are_one_apart():
    whole = np.array([1, 0, 0, 999_999])
    for distance in ("ordered", "equal", "hierarchical"):
        lookups = [np.arange(4), np.arange(4) // 2, np.zeros(4, int)]
        found = t_closeness(
            np.array([0]), np.array([0]), whole=whole, m=1, distance=distance, lookups=lookups
        )
        assert found[0] == pytest.approx(0.999999)


@pytest.mark.parametrize("distance", ["ordered", "equal"])
def test_a_constant_column_is_close(distance):
    found = t_closeness(np.zeros(4, int), np.array([0, 0, 1, 1]), whole=np.array([4]), m=2, distance=distance)
    assert found.tolist() == [0.0, 0.0]


def test_many_records_and_values_keep_their_precision():
    rng = np.random.default_rng(2)
    n = 120_000  # counts times sizes pass 2^31, the sum of cumulative counts passes 2^32
    codes = rng.permutation(n).astype(np.int32)
    labels = (codes >= n // 2).astype(np.int32)
    whole = np.ones(n, np.int32)
    found = t_closeness(codes, labels, whole=whole, m=2, distance="ordered")
    exact = np.abs(np.cumsum(np.arange(n) < n // 2) * 2 - np.arange(1, n + 1)).sum() / n / (n - 1)
    assert found.tolist() == pytest.approx([exact, exact], abs=1e-12)
    assert t_closeness(codes, labels, whole=whole, m=2, distance="equal").tolist() == pytest.approx(
        [0.5, 0.5]
    )


def test_records_suppressed_later_still_count_in_the_whole_table():
    found = t_closeness(np.array([0]), np.array([0]), whole=np.array([1, 3]), m=1, distance="equal")
    assert found.tolist() == [0.75]


@pytest.mark.parametrize("code", [1, 5])
def test_a_value_that_the_whole_table_lacks_is_refused(code):
    with pytest.raises(ValueError, match="must occur in the whole table"):
        t_closeness(np.array([code]), np.array([0]), whole=np.array([3, 0, 1]), m=1, distance="ordered")


@pytest.mark.parametrize(
    ("lookups", "rule"),
    [
        (None, "must be given"),
        ([[0, 1], [0, 0]], "one entry for each of the 3"),
        ([[0, 1, 2], [0, 0, 1]], "single top"),
        ([[0, 0, 2], [0, 0, 0]], "begin with the values"),
        ([[0, 1, 2], [0, 0, 1], [0, 1, 1], [0, 0, 0]], "two parents"),
    ],
)
def test_lookups_that_are_no_hierarchy_are_refused(lookups, rule):
    arrays = None if lookups is None else [np.array(level) for level in lookups]
    with pytest.raises(ValueError, match=rule):
        t_closeness(
            np.array([0]), np.array([0]), whole=np.ones(3, int), m=1, distance="hierarchical", lookups=arrays
        )


def test_an_empty_class_is_refused():
    with pytest.raises(ValueError, match="1 of 2 empty"):
        t_closeness(np.array([0]), np.array([0]), whole=np.array([1]), m=2, distance="equal")


def test_an_unknown_distance_is_refused():
    with pytest.raises(ValueError, match="distance must be"):
        t_closeness(np.array([0]), np.array([0]), whole=np.array([1]), m=1, distance="total")  # type: ignore[arg-type]
