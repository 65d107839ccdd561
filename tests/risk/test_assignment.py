from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.perturb.discrete_laplace import discrete_laplace
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.risk.assignment import one_to_one_risk
from anon_pipeline.risk.linking import linking_risk
from tests.example_counts import examples_of


def cost(released, originals, spans):
    apart = np.abs(released - originals)
    return sum(float((apart[:, c] / span).sum()) for c, span in enumerate(spans) if span)


@st.composite
def one_class(draw, columns=(1, 2)):
    p, n = draw(st.integers(*columns)), draw(st.integers(1, 6))
    row = st.tuples(*[st.integers(0, 5)] * p)
    originals = np.array(draw(st.lists(row, min_size=n, max_size=n)), float).reshape(n, p)
    noise = st.tuples(*[st.integers(-5, 5)] * p)
    own = np.array(draw(st.permutations(range(n)))[: draw(st.integers(1, n))])
    noise = np.array(draw(st.lists(noise, min_size=len(own), max_size=len(own))), float).reshape(len(own), p)
    return originals[own] + noise, own, originals


def twin(released, own, originals):
    """All orders in which equal records can be exchanged: what sorted matching gets right on average."""
    values = originals[own, 0]
    right, same, ways = 0, 0, 0
    best = min(np.abs(released[:, 0] - values[list(order)]).sum() for order in permutations(range(len(own))))
    by_value = sorted(released[:, 0]), sorted(values)
    assert np.abs(np.subtract(*by_value)).sum() == best
    for here in permutations(range(len(own))):
        if [released[i, 0] for i in here] != by_value[0]:
            continue
        for there in permutations(range(len(own))):
            if [values[i] for i in there] != by_value[1]:
                continue
            ways += 1
            right += sum(i == j for i, j in zip(here, there, strict=True))
            same += sum(values[i] == values[j] for i, j in zip(here, there, strict=True))
    return right / ways / len(own), same / ways / len(own)


@settings(max_examples=examples_of(60))
@given(one_class(columns=(1, 1)))
def test_one_column_is_assigned_at_least_cost_and_exchanges_count_alike(release):
    released, own, originals = release
    if len(own) > 5 or np.ptp(originals) == 0:
        own, released = own[:5], released[:5]
    found = one_to_one_risk(released, own, originals, labels=np.zeros(len(originals), int))
    if np.ptp(originals):
        success, risk = twin(released, own, originals)
        assert found.attacker_success == pytest.approx(success, abs=1e-12)
        assert found.risk == pytest.approx(risk, abs=1e-12)
    else:
        assert (found.risk, found.attacker_success) == (1.0, pytest.approx(1 / len(own)))


@settings(max_examples=examples_of(60))
@given(one_class(columns=(2, 2)))
def test_several_columns_are_assigned_at_least_cost(release):
    from anon_pipeline.risk.assignment import _assign, _order

    released, own, originals = release
    classes, spans = np.zeros(len(own), np.int64), np.ptp(originals, axis=0)
    scales = np.array([[1 / span if span else 0.0 for span in spans]])
    here, there = _order(released, classes), _order(originals[own], classes)
    given = _assign(released[here], originals[own][there], classes, scales, 10)
    found = cost(released[here], originals[own][there][given], spans)
    least = min(cost(released, originals[own][list(order)], spans) for order in permutations(range(len(own))))
    assert found == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize("p", [1, 2])
def test_the_order_of_records_does_not_matter(p):
    rng = np.random.default_rng(p)
    n = 200
    originals, labels = rng.integers(0, 6, (n, p)).astype(float), rng.integers(-1, 8, n)
    own = rng.permutation(np.flatnonzero(labels >= 0))[:120]
    released = originals[own] + rng.integers(-3, 4, (len(own), p))
    first = one_to_one_risk(released, own, originals, labels=labels)
    for _ in range(5):
        there, here = rng.permutation(n), rng.permutation(len(own))
        place = np.argsort(there)
        moved = one_to_one_risk(released[here], place[own][here], originals[there], labels=labels[there])
        assert moved == first


def gains(p, epsilon, size, m=60, runs=20):
    """By how much one-to-one beats the nearest neighbor, on the same noise; mean and standard error."""
    rng, entropy, found = np.random.default_rng(7), seeded_entropy(3), []
    labels = np.repeat(np.arange(m), size)
    originals = np.floor(rng.normal(1700, 70, (m * size, p)) + 0.5)
    spans = np.array([np.ptp(originals[labels == label], axis=0) for label in range(m)])
    diameters = spans[labels].astype(np.int64).ravel()
    for _ in range(runs):
        noise = discrete_laplace(diameters, Fraction(epsilon) / p, entropy=entropy).reshape(-1, p)
        arrays = originals + noise, np.arange(m * size), originals
        assigned = one_to_one_risk(*arrays, labels=labels).attacker_success
        found.append(assigned - linking_risk(*arrays, labels=labels).attacker_success)
    return np.mean(found), np.std(found, ddof=1) / np.sqrt(runs)


@pytest.mark.parametrize(("p", "epsilon", "size"), [(1, 8, 5), (1, 32, 12), (2, 8, 5), (2, 32, 12)])
def test_it_is_stronger_than_the_nearest_neighbor_in_small_classes_with_little_noise(p, epsilon, size):
    mean, error = gains(p, epsilon, size)
    assert mean > 3 * error


def test_it_is_weaker_in_large_classes_with_much_noise():
    mean, error = gains(1, 2, 40)  # so the gate takes the larger of the two
    assert mean < -3 * error


def test_it_can_be_stronger_than_the_nearest_neighbor():
    originals = np.array([[0.0], [10.0], [20.0]])
    released = np.array([[12.0], [13.0], [14.0]])  # all are nearest to 10, but only one can be it
    arrays = released, np.arange(3), originals
    assert linking_risk(*arrays, labels=np.zeros(3, int)).attacker_success == pytest.approx(1 / 3)
    assert one_to_one_risk(*arrays, labels=np.zeros(3, int)).attacker_success == 1.0


@pytest.mark.parametrize("p", [0, 1, 3])
def test_constant_columns_leave_chance(p):
    found = one_to_one_risk(
        np.random.default_rng(1).normal(size=(4, p)),
        np.arange(4),
        np.full((4, p), 7.0),
        labels=np.zeros(4, int),
    )
    assert (found.released, found.risk, found.attacker_success) == (4, 1.0, 0.25)


def test_classes_are_assigned_apart():
    originals = np.array([[0.0], [100.0], [0.0], [100.0]])
    found = one_to_one_risk(originals[::-1], np.array([3, 2, 1, 0]), originals, labels=np.array([0, 0, 1, 1]))
    assert (found.risk, found.attacker_success) == (1.0, 1.0)


def test_what_cannot_be_assigned_is_refused():
    values, labels = np.random.default_rng(0).normal(size=(30, 2)), np.zeros(30, int)
    with pytest.raises(InputError, match="at most 20 released records, got 1 larger ones, the largest of 30"):
        one_to_one_risk(values, np.arange(30), values, labels=labels, largest=20)
    assert one_to_one_risk(values[:, :1], np.arange(30), values[:, :1], labels=labels, largest=20).risk == 1.0
    with pytest.raises(ValueError, match="must hold a record"):
        one_to_one_risk(values[:0], np.arange(0), values, labels=labels)
    with pytest.raises(ValueError, match="each original once"):
        one_to_one_risk(values[:2], np.array([1, 1]), values, labels=labels)
    with pytest.raises(ValueError, match="must be in a class"):
        one_to_one_risk(values[:1], np.array([0]), values, labels=np.append(-1, labels[1:]))
