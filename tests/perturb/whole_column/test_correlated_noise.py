"""Correlated noise: means, covariances and correlations stay, on average over the noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import fmean

import numpy as np
import pytest

from anon_pipeline.perturb.whole_column.columns_to_change import Columns
from anon_pipeline.perturb.whole_column.correlated_noise import add_correlated_noise
from tests.perturb.whole_column.twins import normal_numbers, triangle_of

COVARIANCE = np.array([[1.0, 0.8, -0.3], [0.8, 1.0, 0.1], [-0.3, 0.1, 1.0]]) * 10**8


def _values(n: int) -> np.ndarray:
    return np.random.default_rng(0).multivariate_normal([0, 10**5, -(10**5)], COVARIANCE, n).round()


@pytest.mark.parametrize("alpha", [0.1, 1.0, 5.0])
def test_means_and_covariances_stay_within_sampling_error(
    columns: Callable[..., Columns], alpha: float
) -> None:
    n = 50_000
    values = _values(n)
    found = add_correlated_noise(columns(values, alpha)).astype(float)
    scale = np.sqrt(np.diag(COVARIANCE))
    assert (np.abs(found.mean(axis=0) - values.mean(axis=0)) < 5 * scale / np.sqrt(n)).all()
    error = np.abs(np.cov(found.T) - np.cov(values.T)) / np.outer(scale, scale)
    assert error.max() < 5 * np.sqrt(2 / n)
    assert (np.abs(found - values).mean(axis=0) > 0.1 * scale).all()  # and yet every value moves


def test_the_noise_has_the_variance_that_was_asked_for(columns: Callable[..., Columns]) -> None:
    """Undo the transformation: what is left is the noise, with α times the covariances [DB 3.2]."""
    values, alpha = _values(50_000), 0.5
    found = add_correlated_noise(columns(values, alpha)).astype(float)
    mean = values.mean(axis=0)
    noise = (found - mean) * np.sqrt(1 + alpha) - (values - mean)
    ratio = np.cov(noise.T) / (alpha * np.cov(values.T))
    assert np.abs(np.diag(ratio) - 1).max() < 0.04
    assert abs(np.corrcoef(noise.T)[0, 1] - np.corrcoef(values.T)[0, 1]) < 0.02


def test_independent_noise_would_weaken_correlations(columns: Callable[..., Columns]) -> None:
    """The same noise column by column: what the book says that correlated noise avoids."""
    values = _values(20_000)
    apart = np.hstack([add_correlated_noise(columns(values[:, [j]], 1.0, key=j)) for j in range(3)])
    together = add_correlated_noise(columns(values, 1.0))
    own = np.corrcoef(values.T)[0, 1]
    assert abs(np.corrcoef(together.T)[0, 1] - own) < 0.02
    assert np.corrcoef(apart.T)[0, 1] == pytest.approx(own / 2, abs=0.03)  # 1/(1 + α)


def test_constant_and_repeated_columns_are_no_problem(columns: Callable[..., Columns]) -> None:
    base = np.random.default_rng(1).integers(0, 1_000, 500)
    values = np.stack((base, np.full(500, 7), 2 * base), axis=1)
    found = add_correlated_noise(columns(values, 1.0))
    assert (found[:, 1] == 7).all()
    assert np.abs(found[:, 2] - 2 * found[:, 0]).max() <= 2  # what follows from another column still does


def test_it_is_its_slow_twin(columns: Callable[..., Columns]) -> None:
    """Number by number: mean + (centered + √α · L z)/√(1 + α), where L·Lᵀ are the covariances."""
    table, alphas, n = _values(200).astype(int).tolist(), (0.1, 1.0, 5.0), 200
    made, q = columns(table, alphas), range(3)
    means = [fmean(row[j] for row in table) for j in q]
    centered = [[row[j] - means[j] for j in q] for row in table]
    triangle = triangle_of([[sum(row[i] * row[j] for row in centered) / n for j in q] for i in q])
    normal = [normal_numbers(made, column) for column in q]
    wanted = [
        [
            round(
                means[j]
                + (row[j] + math.sqrt(alphas[j]) * sum(triangle[j][t] * normal[t][one] for t in q))
                / math.sqrt(1 + alphas[j])
            )
            for j in q
        ]
        for one, row in enumerate(centered)
    ]
    assert add_correlated_noise(made).tolist() == wanted
