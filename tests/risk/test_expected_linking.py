from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.catalog.mechanisms import NOISE_MECHANISMS
from anon_pipeline.perturb import mechanisms
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.risk.expected_linking import ExpectedLinkingRisk, NoiseLaw, expected_linking_risk
from anon_pipeline.risk.linking import expected_column_linking, linking_risk


def noise(b, reach=30):
    q = math.exp(-1 / b) if b else 0.0
    return [(z, (1 - q) / (1 + q) * q ** abs(z)) for z in range(-reach, reach + 1)]


def twin(originals, labels, scales, bounds):
    """Enumerate all noise: Σ over outputs of their probability where the own row is nearest."""
    total, kept = 0.0, np.flatnonzero(labels >= 0).tolist()
    for i in kept:
        members = originals[labels == labels[i]]
        spans = np.ptp(members, axis=0)
        for steps in product(*(noise(b) for b in scales[labels[i]])):
            y = originals[i] + np.array([z for z, _ in steps])
            y = np.array(
                [v if b is None else min(max(v, b[0]), b[1]) for v, b in zip(y, bounds, strict=True)]
            )
            apart = ((y - members)[:, spans > 0] / spans[spans > 0]) ** 2
            mine = ((y - originals[i])[spans > 0] / spans[spans > 0]) ** 2
            if mine.sum() <= apart.sum(axis=1).min() * (1 + 1e-12):
                total += math.prod(chance for _, chance in steps)
    return total / len(kept)


@settings(max_examples=6, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=4),
    st.tuples(st.sampled_from([0.0, 0.3, 0.8]), st.sampled_from([0.0, 0.5, 1.1])),
    st.sampled_from([(None, None), ((0, 4), None), ((1, 3), (0, 2))]),
)
def test_the_enumeration_equals_the_definition(rows, scale, bounds):
    originals, labels = np.array(rows), np.zeros(len(rows), int)
    law = NoiseLaw(np.array([scale]), bounds)
    found = expected_linking_risk(originals, labels, law, random=np.random.default_rng(0), most=2**40)
    assert (found.standard_error, found.draws) == (0.0, 0)
    assert found.risk == pytest.approx(twin(originals, labels, [scale], bounds), abs=1e-9)


def table(n=120, m=8, p=2, seed=1):
    rng = np.random.default_rng(seed)
    return np.floor(rng.normal(50, 6, (n, p))).astype(np.int64), np.arange(n) % m


@pytest.mark.parametrize("bounds", [(None, None), ((45, 60), None)])
def test_the_simulation_agrees_with_the_enumeration(bounds):
    originals, labels = table(n=40, m=4)
    law = NoiseLaw(np.full((4, 2), 1.2), bounds)
    exact = expected_linking_risk(originals, labels, law, random=np.random.default_rng(0), most=2**40)
    drawn = expected_linking_risk(originals, labels, law, random=np.random.default_rng(0), most=0, draws=400)
    assert exact.draws == 0
    assert drawn.draws == 400
    assert 0 < drawn.standard_error < 0.01
    assert drawn.risk == pytest.approx(exact.risk, abs=4 * drawn.standard_error)
    wide = NoiseLaw(law.scales * 1.6, bounds)
    other = expected_linking_risk(originals, labels, wide, random=np.random.default_rng(0), most=0, draws=400)
    assert abs(other.risk - exact.risk) > 4 * other.standard_error


def test_the_simulation_predicts_what_is_measured():
    originals, labels = table()
    scales = np.full((8, 2), 4.0)
    random, risks = np.random.default_rng(3), []
    success = -np.expm1(-1 / scales[labels])
    for _ in range(100):
        released = originals + random.geometric(success) - random.geometric(success)
        arrays = released.astype(float), np.arange(len(labels)), originals.astype(float)
        risks.append(linking_risk(*arrays, labels=labels).risk)
    law = NoiseLaw(scales, (None, None))
    found = expected_linking_risk(originals, labels, law, random=random, draws=100)
    error = math.hypot(found.standard_error, np.std(risks, ddof=1) / 10)
    assert found.risk == pytest.approx(np.mean(risks), abs=4 * error)


@pytest.mark.parametrize("most", [0, 2**40])
def test_the_order_of_records_does_not_matter(most):
    originals, labels = table(n=30, m=3)
    labels[0] = -1
    law, moved = NoiseLaw(np.full((3, 2), 0.7), (None, None)), np.random.default_rng(5).permutation(30)
    first = expected_linking_risk(originals, labels, law, random=np.random.default_rng(1), most=most)
    second = expected_linking_risk(
        originals[moved], labels[moved], law, random=np.random.default_rng(1), most=most
    )
    assert first == second


def test_one_column_is_the_closed_form_and_none_is_the_prosecutors():
    originals, labels = table(p=1)
    law = NoiseLaw(np.full((8, 1), 3.0), (None,))
    found = expected_linking_risk(originals, labels, law, random=np.random.default_rng(0))
    closed = expected_column_linking(originals[:, 0], labels, scales=np.full(8, 3.0))
    assert found == ExpectedLinkingRisk(closed, 0.0, 0)
    none = NoiseLaw(np.empty((8, 0)), ())
    found = expected_linking_risk(originals[:, :0], labels, none, random=np.random.default_rng(0))
    assert found == ExpectedLinkingRisk(8 / 120, 0.0, 0)


def test_constant_columns_and_no_noise_are_defined():
    originals, labels = np.full((6, 2), 7), np.zeros(6, int)
    law = NoiseLaw(np.zeros((1, 2)), (None, None))
    for most in (0, 2**20):
        found = expected_linking_risk(originals, labels, law, random=np.random.default_rng(0), most=most)
        assert (found.risk, found.standard_error) == (1.0, 0.0)


def test_what_does_not_fit_is_refused():
    originals, labels = table()
    for law in (NoiseLaw(np.ones((7, 2)), (None, None)), NoiseLaw(np.ones((8, 2)), (None,))):
        with pytest.raises(ValueError, match="scales must have a row per class"):
            expected_linking_risk(originals, labels, law, random=np.random.default_rng(0))
    with pytest.raises(ValueError, match="draws be at least 2"):
        law = NoiseLaw(np.ones((8, 2)), (None, None))
        expected_linking_risk(originals, labels, law, random=np.random.default_rng(0), draws=1)


def of(mechanism, inputs=None):
    delta = Fraction(1, 50) if mechanism == "discrete_gaussian" else None
    return Noise(mechanism, Fraction(8), delta, inputs)


def enumerated(originals, sensitivity, drawn, bounds, reach=40):
    """Twin for any mechanism, of one class: noise from where the values are moved to."""
    total, steps = 0.0, np.arange(-reach, reach + 1)
    laws = [mechanisms.pmf(n, steps, s).tolist() for n, s in zip(drawn, sensitivity, strict=True)]
    assert all(math.fsum(law) == pytest.approx(1, abs=1e-10) for law in laws)
    spans = np.ptp(originals, axis=0)
    for x in originals:
        center = [
            v if n.inputs is None else min(max(v, n.inputs[0]), n.inputs[1])
            for v, n in zip(x, drawn, strict=True)
        ]
        for picked in product(*(range(len(steps)) for _ in drawn)):
            y = np.array([c + steps[place] for c, place in zip(center, picked, strict=True)])
            y = np.array(
                [v if b is None else min(max(v, b[0]), b[1]) for v, b in zip(y, bounds, strict=True)]
            )
            apart = ((y - originals)[:, spans > 0] / spans[spans > 0]) ** 2
            mine = ((y - x)[spans > 0] / spans[spans > 0]) ** 2
            if mine.sum() <= apart.sum(axis=1).min() * (1 + 1e-12):
                total += math.prod(law[place] for law, place in zip(laws, picked, strict=True))
    return total / len(originals)


@pytest.mark.parametrize("inputs", [None, (2, 5)])
@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
def test_each_mechanism_is_enumerated_by_its_own_law(mechanism, inputs):
    originals = np.array([[0, 1], [3, 1], [4, 6], [7, 2]])
    drawn = (of(mechanism, inputs), of("discrete_laplace"))
    sensitivity = [3 if inputs else 7, 5]
    for columns, bounds in (((0,), (None,)), ((0,), ((1, 6),)), ((0, 1), (None, (0, 5)))):
        rows = originals[:, columns]
        law = NoiseLaw(
            np.array([[sensitivity[j] for j in columns]], float), bounds, tuple(drawn[j] for j in columns)
        )
        found = expected_linking_risk(
            rows, np.zeros(4, int), law, random=np.random.default_rng(0), most=2**40
        )
        want = enumerated(rows, [sensitivity[j] for j in columns], law.drawn, bounds)
        assert (found.draws, found.risk) == (0, pytest.approx(want, abs=1e-9))


@pytest.mark.parametrize("inputs", [None, (48, 55)])
@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
def test_each_mechanism_is_simulated_by_its_own_sampler(mechanism, inputs):
    originals, labels = table(n=40, m=4)
    drawn = (of(mechanism, inputs), of("staircase"))
    law = NoiseLaw(np.full((4, 2), 7.0), (None, (40, 60)), drawn)
    exact = expected_linking_risk(originals, labels, law, random=np.random.default_rng(0), most=2**40)
    found = expected_linking_risk(originals, labels, law, random=np.random.default_rng(0), most=0, draws=400)
    assert found.risk == pytest.approx(exact.risk, abs=4 * found.standard_error)
    assert found == expected_linking_risk(
        originals, labels, law, random=np.random.default_rng(0), most=0, draws=400
    )
