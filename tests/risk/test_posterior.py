"""The most probable original, against the exact chances of small classes and the nearest original."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from anon_pipeline.perturb import mechanisms
from anon_pipeline.perturb.discrete_laplace_law import pmf
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.risk.assignment import one_to_one_risk
from anon_pipeline.risk.expected_linking import NoiseLaw
from anon_pipeline.risk.linking import linking_risk
from anon_pipeline.risk.posterior import posterior_risk


@pytest.mark.parametrize("epsilon", [0.5, 2, 8])
@pytest.mark.parametrize("values", [(0, 3), (0, 1, 3), (0, 2, 2), (0, 0, 3)])
def test_on_small_classes_it_is_the_best_guess_and_never_weaker_than_the_nearest(values, epsilon):
    """All outputs on a grid, each a class of its own: success given each, weighed by its probability."""
    x, n = np.array(values, float), len(values)
    scale = np.ptp(x) / epsilon
    grid = np.arange(-9, 13) if n == 3 else np.arange(-40, 44)
    outputs = np.array(list(product(grid, repeat=n)), float)
    m = len(outputs)
    chances = pmf(outputs[:, :, None] - x, np.full((1, 1, n), scale))
    likely = chances[:, range(n), range(n)].prod(axis=1)
    orders = np.array(list(permutations(range(n))))
    ways = np.stack([chances[:, range(n), order].prod(axis=1) for order in orders], axis=1)
    same = [[(ways * (orders[:, i] == j)).sum(axis=1) for j in range(n)] for i in range(n)]
    posterior = np.array(same).transpose(2, 0, 1) / ways.sum(axis=1)[:, None, None]
    best = float(likely @ posterior.max(axis=2).mean(axis=1) / likely.sum())

    law, originals = NoiseLaw(np.full((m, 1), scale), (None,)), np.tile(x, m)[:, None]
    labels, own = np.repeat(np.arange(m), n), np.arange(m * n)
    guessed = blocks_right(outputs.reshape(-1, 1), own, originals, labels, law)
    nearest = np.abs(outputs[:, :, None] - x)
    ties = nearest == nearest.min(axis=2, keepdims=True)
    hits = (ties[:, range(n), range(n)] / ties.sum(axis=2)).mean(axis=1)
    ours = float(likely @ guessed / likely.sum())
    assert ours >= float(likely @ hits / likely.sum()) - 1e-9
    assert ours == pytest.approx(best, abs=1e-3)


def blocks_right(released, own, originals, labels, law):
    """Share of right guesses in each class, (m,)."""
    from anon_pipeline.risk.posterior import _add_up, _blocks, _guesses

    m = len(law.scales)
    here, there = _blocks(released, labels, m), _blocks(originals[own], labels, m)
    met = _add_up(here, there, _guesses(here, there, law, 2**20))[1]
    return np.bincount(labels, weights=met) / np.bincount(labels)


def made(p=1, n=200, m=8, seed=0):
    rng = np.random.default_rng(seed)
    originals, labels = rng.integers(0, 6, (n, p)).astype(float), rng.integers(-1, m, n)
    own = rng.permutation(np.flatnonzero(labels >= 0))[:120]
    released = originals[own] + rng.integers(-3, 4, (len(own), p))
    return released, own, originals, labels, NoiseLaw(np.full((m, p), 2.0), (None,) * p)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("largest", [2**20, 40, 3])
def test_the_order_of_records_does_not_matter(p, largest):
    released, own, originals, labels, law = made(p)
    first = posterior_risk(released, own, originals, labels=labels, law=law, largest=largest)
    rng = np.random.default_rng(1)
    for _ in range(5):
        there, here = rng.permutation(len(originals)), rng.permutation(len(own))
        place = np.argsort(there)
        arrays = released[here], place[own][here], originals[there]
        assert posterior_risk(*arrays, labels=labels[there], law=law, largest=largest) == first


def test_classes_taken_together_are_guessed_as_one_by_one():
    released, own, originals, labels, law = made()
    whole = posterior_risk(released, own, originals, labels=labels, law=law)
    pairs = len(np.unique(originals)) * len(np.unique(released))
    assert posterior_risk(released, own, originals, labels=labels, law=law, largest=pairs) == whole
    assert posterior_risk(released, own, originals, labels=labels, law=law, largest=1) != whole


def test_originals_that_are_used_up_are_not_guessed_again():
    originals, labels = np.array([[0.0], [10.0]]), np.zeros(2, int)
    released, own = np.array([[4.0], [1.0]]), np.array([1, 0])  # both are nearer to 0
    law = NoiseLaw(np.array([[5.0]]), (None,))
    assert linking_risk(released, own, originals, labels=labels).attacker_success == 0.5
    assert posterior_risk(released, own, originals, labels=labels, law=law).attacker_success == 1
    alone = posterior_risk(released, own, originals, labels=labels, law=law, largest=1)
    assert alone.attacker_success == 0.5


@pytest.mark.parametrize("mechanism", ["discrete_laplace", "staircase", "discrete_gaussian", "uniform"])
def test_every_mechanism_is_guessed_by_its_own_law(mechanism):
    rng = np.random.default_rng(4)
    delta = Fraction(1, 1000) if mechanism == "discrete_gaussian" else None
    noise = Noise(mechanism, Fraction(2), delta, (0, 40))
    originals, labels = rng.integers(0, 40, (60, 1)).astype(float), np.repeat(np.arange(6), 10)
    law = NoiseLaw(np.full((6, 1), 40.0), [(0, 40)], (noise,))
    gains = []
    for _ in range(40):
        released = law.clamp(originals + law.draw(labels, rng))
        arrays = released, np.arange(60), originals
        found = posterior_risk(*arrays, labels=labels, law=law)
        gains.append(found.attacker_success - linking_risk(*arrays, labels=labels).attacker_success)
    assert np.mean(gains) >= -3 * np.std(gains, ddof=1) / np.sqrt(40)
    assert mechanism in mechanisms.MECHANISMS


def test_bounds_are_read_as_everything_beyond_them():
    originals, labels = np.array([[0.0], [9.0], [10.0]]), np.zeros(3, int)
    released = np.array([[0.0], [10.0], [10.0]])
    bounded = NoiseLaw(np.array([[3.0]]), ((0, 10),))
    found = posterior_risk(released, np.arange(3), originals, labels=labels, law=bounded)
    assert found.attacker_success > 1 / 3


@pytest.mark.parametrize("scale", [0.0, 2.0])
def test_nothing_divides_by_zero(scale):
    one = np.zeros((1, 1))
    law = NoiseLaw(np.full((1, 1), scale), (None,))
    found = posterior_risk(one, np.array([0]), one, labels=np.array([0]), law=law)
    assert (found.released, found.risk, found.attacker_success) == (1, 1.0, 1.0)
    same = posterior_risk(np.zeros((4, 1)), np.arange(4), np.zeros((4, 1)), labels=np.zeros(4, int), law=law)
    assert (same.risk, same.attacker_success) == (1.0, 0.25)
    far = posterior_risk(one + 1e6, np.array([0]), one, labels=np.array([0]), law=law)
    assert far.risk == 1.0
    no_columns = np.empty((4, 0))
    law = NoiseLaw(np.empty((1, 0)), ())
    bare = posterior_risk(no_columns, np.arange(4), no_columns, labels=np.zeros(4, int), law=law)
    assert bare.attacker_success == 0.25


@pytest.mark.parametrize(
    ("own", "labels", "message"),
    [([], [0, 0], "at least one"), ([0, 0], [0, 0], "once each"), ([0, 1], [0, -1], "originals of a class")],
)
def test_what_is_no_release_is_refused(own, labels, message):
    law, originals = NoiseLaw(np.ones((1, 1)), (None,)), np.zeros((2, 1))
    own = np.array(own, np.int64)
    with pytest.raises(ValueError, match=message):
        posterior_risk(originals[own], own, originals, labels=np.array(labels), law=law)
    with pytest.raises(ValueError, match="a row per class"):
        wrong = NoiseLaw(np.ones((2, 1)), (None,))
        posterior_risk(originals, np.arange(2), originals, labels=np.zeros(2, int), law=wrong)


def test_equal_values_are_guessed_by_lot_and_assignments_are_not_better():
    released, own, originals, labels, law = made(n=400)
    found = posterior_risk(released, own, originals, labels=labels, law=law)
    assert found.attacker_success < found.risk
    one = one_to_one_risk(released, own, originals, labels=labels)
    assert found.risk >= one.risk - 0.05


@pytest.mark.parametrize("mechanism", ["discrete_laplace", "staircase", "discrete_gaussian", "uniform"])
@pytest.mark.parametrize("bounds", [None, (5, 60)])
def test_many_equal_classes_are_guessed_as_one_of_them(
    mechanism: str, bounds: tuple[int, int] | None
) -> None:
    """Of many classes the law is asked once for each size of noise, of few once for each pair."""
    random, size, copies = np.random.default_rng(4), 9, 80
    delta = Fraction(1, 100) if mechanism == "discrete_gaussian" else None
    law = NoiseLaw(np.array([[30.0]]), [bounds], (Noise(mechanism, Fraction(1), delta),))
    for _ in range(10):
        x = random.integers(0, 60, (size, 1)).astype(float)
        y = law.clamp(x + random.integers(-15, 16, (size, 1)))
        own = np.arange(size)
        one = posterior_risk(y, own, x, labels=np.zeros(size, np.int64), law=law)
        wide = NoiseLaw(np.repeat(law.scales, copies, axis=0), law.bounds, law.drawn)
        labels = np.repeat(np.arange(copies), size)
        many = posterior_risk(
            np.tile(y, (copies, 1)),
            np.arange(size * copies),
            np.tile(x, (copies, 1)),
            labels=labels,
            law=wide,
        )
        assert 0 < one.risk <= 1
        assert many.risk == pytest.approx(one.risk, abs=1e-12)
        assert many.attacker_success == pytest.approx(one.attacker_success, abs=1e-12)
