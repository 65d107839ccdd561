"""The attacks on Adult: simulated noise agrees with what was computed without drawing any."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from anon_pipeline.perturb.discrete_laplace import discrete_laplace
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.risk.assignment import one_to_one_risk
from anon_pipeline.risk.averaging import averaging_risk
from anon_pipeline.risk.expected_linking import NoiseLaw, expected_linking_risk
from anon_pipeline.risk.linking import LinkingRisk, expected_column_linking, linking_risk
from anon_pipeline.risk.posterior import posterior_risk
from anon_pipeline.sources.patients import heights


def realized_averaging_risk(releases: Any, own: Any, originals: Any, *, labels: Any) -> LinkingRisk:
    """Link the mean of several releases; sums are compared, so that no rounding makes or breaks a tie."""
    return linking_risk(releases.sum(axis=0), own, originals * len(releases), labels=labels)


RUNS = 20


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Heights (0.1 cm) and hours a week of Adult, in classes of ten and more; −1 for the others."""
    path = shared_data / "adult" / "adult.csv"
    if not path.is_file():
        pytest.skip("needs adult/adult.csv in the shared data")
    table = pd.read_csv(path, sep=";")
    made = heights(table["age"].to_numpy(), table["sex"].to_numpy(), rng=np.random.default_rng(0))
    values = np.stack((np.round(made * 10), table["age"].to_numpy() % 8), axis=1).astype(np.int64)
    labels = table.groupby([table["age"] // 8, "sex", "race", "marital-status"]).ngroup().to_numpy()
    rare = np.bincount(labels)[labels] < 10
    labels = np.where(rare, -1, labels)
    labels[~rare] = np.unique(labels[~rare], return_inverse=True)[1]
    return values, labels


def spans(values: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    found = pd.DataFrame(values[labels >= 0]).groupby(labels[labels >= 0])
    return (found.max() - found.min()).to_numpy()


def noisy(values, labels, epsilon: Fraction, seed: int):
    entropy, kept = seeded_entropy(seed), labels >= 0
    wide = spans(values, labels)[labels[kept]]
    for _ in range(RUNS):
        columns = [
            discrete_laplace(wide[:, j].copy(), epsilon, entropy=entropy) for j in range(values.shape[1])
        ]
        yield (values[kept] + np.stack(columns, axis=1)).astype(float)


def agrees(expected: float, simulated: list[float], error: float = 0.0) -> bool:
    own = np.std(simulated, ddof=1) / math.sqrt(len(simulated))
    return abs(np.mean(simulated) - expected) <= 3 * math.hypot(own, error)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(8)])
def test_the_closed_form_is_within_three_standard_errors(adult, epsilon):
    values, labels = adult[0][:, :1], adult[1]
    own, grid = np.flatnonzero(labels >= 0), values.astype(float)
    scales = spans(values, labels)[:, 0] / float(epsilon)
    risks = [linking_risk(y, own, grid, labels=labels).risk for y in noisy(values, labels, epsilon, 1)]
    assert agrees(expected_column_linking(values[:, 0], labels, scales=scales), risks)
    assert not agrees(expected_column_linking(values[:, 0], labels, scales=scales * 1.3), risks)


def test_two_columns_are_within_three_standard_errors(adult):
    values, labels = adult
    own, grid = np.flatnonzero(labels >= 0), values.astype(float)
    law = NoiseLaw(spans(values, labels) / 2.0, (None, None))
    found = expected_linking_risk(values, labels, law, random=np.random.default_rng(2), draws=20)
    risks = [linking_risk(y, own, grid, labels=labels).risk for y in noisy(values, labels, Fraction(2), 2)]
    assert found.draws == 20
    assert agrees(found.risk, risks, found.standard_error)


def test_the_mean_of_releases_is_within_three_standard_errors(adult):
    values, labels = adult[0][:, :1], adult[1]
    own, grid = np.flatnonzero(labels >= 0), values.astype(float)
    drawn = [np.stack(list(noisy(values, labels, Fraction(2), seed)))[:5] for seed in range(8)]
    risks = [realized_averaging_risk(five, own, grid, labels=labels).risk for five in drawn]
    scales = spans(values, labels)[:, 0] / 2.0
    assert agrees(averaging_risk(values[:, 0], labels, scales=scales, releases=5), risks)
    assert not agrees(averaging_risk(values[:, 0], labels, scales=scales, releases=2), risks)


@pytest.mark.parametrize("epsilon", [Fraction(2), Fraction(8)])
def test_one_to_one_alone_is_weaker_than_the_nearest_neighbor(adult, epsilon):
    values, labels = adult[0][:, :1], adult[1]
    own, grid = np.flatnonzero(labels >= 0), values.astype(float)
    gains = []
    for y in noisy(values, labels, epsilon, 3):
        assigned = one_to_one_risk(y, own, grid, labels=labels).attacker_success
        gains.append(assigned - linking_risk(y, own, grid, labels=labels).attacker_success)
    error = np.std(gains, ddof=1) / math.sqrt(RUNS)
    assert np.mean(gains) < -3 * error  # so the gate takes the larger of the two


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(8)])
def test_the_most_probable_original_is_never_weaker_on_average(adult, epsilon, columns):
    values, labels = adult[0][:, :columns], adult[1]
    large = np.bincount(labels[labels >= 0])[labels] > 200  # they take minutes
    labels = np.where(large, -1, labels)
    labels[labels >= 0] = np.unique(labels[labels >= 0], return_inverse=True)[1]
    own, grid = np.flatnonzero(labels >= 0), values.astype(float)
    law = NoiseLaw(spans(values, labels) / float(epsilon), (None,) * columns)
    gains = []
    for y in islice(noisy(values, labels, epsilon, 4), 8):
        found = posterior_risk(y, own, grid, labels=labels, law=law)
        nearest = linking_risk(y, own, grid, labels=labels)
        gains.append((found.attacker_success - nearest.attacker_success, found.risk - nearest.risk))
    mean, error = np.mean(gains, axis=0), np.std(gains, axis=0, ddof=1) / math.sqrt(len(gains))
    assert mean[0] >= -3 * error[0]
    assert mean[1] > 3 * error[1]  # the values themselves are guessed more often by far
    if (columns, epsilon) == (2, 8):
        assert mean[0] > 3 * error[0]
