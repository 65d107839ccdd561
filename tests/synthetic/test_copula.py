"""Copulas keep distributions and correlations, also of categories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic.copula import copula_records

Synthetic = Callable[..., SyntheticPolicy]


def test_means_spreads_and_correlations_stay(synthetic: Synthetic, people: Callable[..., Any]) -> None:
    codes = people(20_000)
    drawn = copula_records(synthetic(), codes, np.ones(len(codes), int), 20_000, RandomNumbers(1))
    assert np.allclose(drawn.mean(axis=0), codes.mean(axis=0), rtol=0.02, atol=0.02)
    assert np.allclose(drawn[:, [0, 2]].std(axis=0), codes[:, [0, 2]].std(axis=0), rtol=0.03)
    assert abs(np.corrcoef(drawn.T)[0, 2] - np.corrcoef(codes.T)[0, 2]) < 0.05
    assert 3 not in set(drawn[:, 1])


@pytest.mark.parametrize("rho", [-0.8, 0.0, 0.5])
def test_rounding_does_not_weaken_correlations(synthetic: Synthetic, rho: float) -> None:
    """Behind two columns are normal numbers with correlation ρ; one of them is cut into three categories."""
    random = np.random.default_rng(0)
    z = random.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 40_000)
    codes = np.stack(
        [np.clip(50 + 15 * z[:, 0], 0, 99), np.digitize(z[:, 1], [-0.3, 0.8]), np.full(40_000, 500)], axis=1
    ).astype(np.int64)
    drawn = copula_records(synthetic(), codes, np.ones(40_000, int), 40_000, RandomNumbers(0))
    means = [[table[table[:, 1] == at, 0].mean() for at in range(3)] for table in (codes, drawn)]
    assert np.allclose(means[0], means[1], atol=0.8)
    assert set(drawn[:, 2]) == {500}
