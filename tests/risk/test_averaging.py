from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.mechanisms import NOISE_MECHANISMS
from anon_pipeline.perturb.mechanisms import Noise, pmf
from anon_pipeline.risk.averaging import averaging_risk
from anon_pipeline.risk.linking import LinkingRisk, expected_column_linking, linking_risk
from tests.example_counts import examples_of


def realized_averaging_risk(releases: Any, own: Any, originals: Any, *, labels: Any) -> LinkingRisk:
    """Link the mean of several releases; sums are compared, so that no rounding makes or breaks a tie."""
    return linking_risk(releases.sum(axis=0), own, originals * len(releases), labels=labels)


def twin(members, b, t, reach=60):
    """Convolve the noise by hand and ask of every sum who is nearest."""
    q = math.exp(-1 / b) if b else 0.0
    one = [(1 - q) / (1 + q) * q ** abs(z) for z in range(-reach, reach + 1)]
    law = one
    for _ in range(t - 1):
        law = np.convolve(law, one)
    half, total = t * reach, 0.0
    for x in members:
        for s, chance in zip(range(-half, half + 1), law, strict=True):
            apart = [abs(t * (x - other) + s) for other in members]
            total += chance * (abs(s) == min(apart))
    return total / len(members)


@settings(max_examples=examples_of(25))
@given(
    st.lists(st.integers(-8, 8), min_size=1, max_size=4), st.sampled_from([0.0, 0.4, 1.5]), st.integers(1, 4)
)
def test_the_expected_risk_equals_an_enumeration(members, b, t):
    values, labels = np.array(members), np.zeros(len(members), int)
    found = averaging_risk(values, labels, scales=np.array([b]), releases=t)
    assert found == pytest.approx(twin(members, b, t), abs=1e-9)


def table(n=300, m=15):
    rng = np.random.default_rng(2)
    values, labels = np.floor(rng.normal(1700, 70, n)).astype(np.int64), np.arange(n) % m
    scales = np.array([np.ptp(values[labels == label]) for label in range(m)]) / 4.0
    return values, labels, scales


def test_one_release_is_the_linking_risk():
    values, labels, scales = table()
    found = averaging_risk(values, labels, scales=scales, releases=1)
    assert found == pytest.approx(expected_column_linking(values, labels, scales=scales), abs=1e-12)


@pytest.mark.parametrize("t", [2, 5, 20])
def test_the_expected_risk_predicts_the_measured_one(t):
    values, labels, scales = table()
    random, risks = np.random.default_rng(t), []
    success = -np.expm1(-1 / scales[labels])
    for _ in range(60):
        size = (t, len(values))
        drawn = values + random.geometric(success, size) - random.geometric(success, size)
        grid = values.astype(float)[:, None]
        risks.append(
            realized_averaging_risk(drawn[:, :, None], np.arange(len(values)), grid, labels=labels).risk
        )
    found = averaging_risk(values, labels, scales=scales, releases=t)
    assert found == pytest.approx(np.mean(risks), abs=4 * np.std(risks, ddof=1) / math.sqrt(60))


def test_averaging_more_releases_links_more_records():
    values, labels, scales = table()
    risks = [averaging_risk(values, labels, scales=scales, releases=t) for t in (1, 2, 4, 16, 64)]
    assert risks == sorted(risks)
    assert risks[-1] > 2 * risks[0]


def test_the_order_of_records_does_not_matter():
    values, labels, scales = table()
    labels[3] = -1
    moved = np.random.default_rng(0).permutation(len(values))
    first = averaging_risk(values, labels, scales=scales, releases=3)
    assert averaging_risk(values[moved], labels[moved], scales=scales, releases=3) == first


def test_the_mean_of_one_release_and_of_equal_ones_is_the_release():
    originals, labels = np.array([[0.0, 0.0], [3.0, 1.0], [9.0, 5.0]]), np.zeros(3, int)
    released = np.array([[1.0, 0.0], [5.0, 2.0], [8.0, 8.0]])
    once = linking_risk(released, np.arange(3), originals, labels=labels)
    for t in (1, 3):
        assert (
            realized_averaging_risk(np.stack([released] * t), np.arange(3), originals, labels=labels) == once
        )


def test_constant_columns_no_noise_and_one_record_are_linked():
    assert averaging_risk(np.full(4, 9), np.zeros(4, int), scales=np.zeros(1), releases=7) == 1.0
    assert averaging_risk(np.array([1, 5]), np.zeros(2, int), scales=np.zeros(1), releases=2) == 1.0
    assert averaging_risk(np.array([5]), np.zeros(1, int), scales=np.ones(1), releases=2) == 1.0


def test_what_has_no_mean_is_refused():
    values, labels, scales = table()
    with pytest.raises(ValueError, match="releases must be at least one"):
        averaging_risk(values, labels, scales=scales, releases=0)
    with pytest.raises(InputError, match="coarser resolution"):
        averaging_risk(values, labels, scales=scales * 1e6, releases=2)


@pytest.mark.parametrize("inputs", [None, (2, 5)])
@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
@pytest.mark.parametrize("t", [1, 3])
def test_each_mechanism_averages_by_its_own_law(mechanism, inputs, t):
    """Against the t-fold convolution of its mass function, from where the values are moved to."""
    delta = Fraction(1, 50) if mechanism == "discrete_gaussian" else None
    noise, members, reach = Noise(mechanism, Fraction(8), delta, inputs), [0, 3, 4, 9], 40
    sensitivity = 3 if inputs else 9
    one = pmf(noise, np.arange(-reach, reach + 1), sensitivity)
    law = one
    for _ in range(t - 1):
        law = np.convolve(law, one)
    total = 0.0
    for x in members:
        center = x if inputs is None else min(max(x, inputs[0]), inputs[1])
        for s, chance in zip(range(-t * reach, t * reach + 1), law.tolist(), strict=True):
            apart = [abs(t * (center - other) + s) for other in members]
            total += chance * (abs(t * (center - x) + s) == min(apart))
    values, labels = np.array(members), np.zeros(4, int)
    found = averaging_risk(values, labels, scales=np.array([float(sensitivity)]), releases=t, noise=noise)
    assert found == pytest.approx(total / 4, abs=1e-9)
