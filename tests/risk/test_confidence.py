from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.catalog.mechanisms import DEFAULT_MECHANISM
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.perturb.mechanisms import Noise, radius
from anon_pipeline.risk.confidence import confidence_table, confident_counts


def test_radius_golden(golden):
    for case in golden["confidence_radius"]:
        noise = Noise(DEFAULT_MECHANISM, exact_fraction(case["epsilon"]))
        found = radius(noise, np.rint([10 * case["diam"]]).astype(np.int64), case["confidence"]) / 10
        assert found.tolist() == [pytest.approx(case["radius"], rel=1e-14)]


def test_radius_holds_the_confidence_of_continuous_noise():
    noise = np.random.default_rng(0).laplace(scale=30 / 2, size=40_000)
    within = radius(Noise(DEFAULT_MECHANISM, exact_fraction(2)), np.array([30]), 0.9)
    assert (np.abs(noise) <= within).mean() == pytest.approx(0.9, abs=0.006)


def twin(released, own_labels, originals, labels, radius):
    return [
        sum(
            all(abs(a - b) <= r for a, b, r in zip(y, x, radius[label], strict=True))
            for x in originals[labels == label].tolist()
        )
        for y, label in zip(released.tolist(), own_labels.tolist(), strict=True)
    ]


@st.composite
def releases(draw):
    p, n, r = draw(st.integers(0, 3)), draw(st.integers(1, 40)), draw(st.integers(0, 8))
    labels = np.array(draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n)))
    labels[0] = 0
    m = int(labels.max()) + 1

    def table(rows, cell):
        return np.array(draw(st.lists(st.tuples(*[cell] * p), min_size=rows, max_size=rows)), float)

    originals = table(n, st.integers(0, 4)).reshape(n, p)
    released = table(r, st.integers(-2, 6)).reshape(r, p)
    radius = table(m, st.sampled_from([0.0, 1.0, 1.5, 9.0])).reshape(m, p)
    own_labels = np.array(draw(st.lists(st.integers(0, m - 1), min_size=r, max_size=r)), int)
    return released, own_labels, originals, labels, radius


@given(releases(), st.integers(1, 6))
def test_counts_equal_the_definition_up_to_the_cap(release, cap):
    released, own_labels, originals, labels, radius = release
    found = confident_counts(released, own_labels, originals, labels=labels, radius=radius, cap=cap)
    assert found.tolist() == [min(count, cap) for count in twin(*release)]


@given(releases(), st.randoms(use_true_random=False))
def test_the_order_of_the_originals_does_not_matter(release, random):
    released, own_labels, originals, labels, radius = release
    order = list(range(len(labels)))
    random.shuffle(order)
    first, second = (
        confident_counts(released, own_labels, originals[rows], labels=labels[rows], radius=radius, cap=100)
        for rows in (slice(None), order)
    )
    assert first.tolist() == second.tolist()


def test_the_ends_of_the_interval_are_inside():
    originals = np.array([[10.0], [12.0], [14.0], [15.0]])
    found = confident_counts(
        np.array([[12.0]]),
        np.zeros(1, int),
        originals,
        labels=np.zeros(4, int),
        radius=np.array([[2.0]]),
        cap=9,
    )
    assert found.tolist() == [3]


def test_a_class_without_noise_finds_all_of_its_values():
    originals = np.full((4, 1), 7.0)
    found = confident_counts(
        originals, np.zeros(4, int), originals, labels=np.zeros(4, int), radius=np.zeros((1, 1)), cap=9
    )
    assert found.tolist() == [4, 4, 4, 4]


def test_all_columns_count_at_once():
    originals = np.array([[0.0, 0.0], [0.0, 9.0], [9.0, 0.0]])
    found = confident_counts(
        np.zeros((1, 2)), np.zeros(1, int), originals, labels=np.zeros(3, int), radius=np.ones((1, 2)), cap=9
    )
    assert found.tolist() == [1]


@pytest.mark.parametrize("p", [1, 2])
def test_a_wide_radius_in_a_large_class_ends_at_the_cap(p):
    n = 100_000  # quadratic work would not end
    originals = np.random.default_rng(p).normal(0, 100, (n, p))
    found = confident_counts(
        originals, np.zeros(n, int), originals, labels=np.zeros(n, int), radius=np.full((1, p), 1e3), cap=20
    )
    assert (found == 20).all()


def test_released_records_of_a_class_that_is_not_there_are_refused():
    for label in (-1, 1):
        with pytest.raises(ValueError, match="own_labels must lie in"):
            confident_counts(
                np.zeros((1, 1)), np.array([label]), np.zeros((1, 1)), labels=np.zeros(1, int),
                radius=np.zeros((1, 1)), cap=1,
            )  # fmt: skip


def test_a_radius_for_another_number_of_classes_is_refused():
    with pytest.raises(ValueError, match="a row per class, got 2 for 1"):
        confident_counts(
            np.zeros((1, 1)), np.array([0]), np.zeros((1, 1)), labels=np.zeros(1, int),
            radius=np.zeros((2, 1)), cap=1,
        )  # fmt: skip


@pytest.mark.parametrize("p", [0, 1, 2])
def test_a_sorted_table_counts_for_any_release(p):
    rng = np.random.default_rng(p)
    labels = np.append(np.repeat(np.arange(6), 5), [-1, -1])
    originals, radius = rng.integers(0, 9, (32, p)).astype(float), rng.uniform(0, 4, (6, p))
    table = confidence_table(originals, labels=labels, radius=radius)
    for cap in (1, 3, 9):
        own_labels = rng.integers(0, 6, 20)
        released = rng.integers(-2, 11, (20, p)).astype(float)
        expected = [
            min(cap, sum((np.abs(y - x) <= radius[c]).all() for x in originals[labels == c]))
            for y, c in zip(released, own_labels, strict=True)
        ]
        assert table.counts(released, own_labels, cap=cap).tolist() == expected
