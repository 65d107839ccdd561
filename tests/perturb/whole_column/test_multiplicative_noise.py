"""Multiplicative noise: lognormal factors of mean 1."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import kstest

from anon_pipeline.perturb.whole_column.columns_to_change import Columns
from anon_pipeline.perturb.whole_column.multiplicative_noise import multiply
from tests.perturb.whole_column.twins import normal_numbers


@pytest.mark.parametrize("s", [0.05, 0.3, 1.0])
def test_factors_are_lognormal_with_the_mean_one(columns: Callable[..., Columns], s: float) -> None:
    n, value = 40_000, 10**8
    factor = multiply(columns(np.full(n, value), s))[:, 0] / value
    assert abs(factor.mean() - 1) < 5 * np.sqrt(np.expm1(s * s) / n)
    assert kstest((np.log(factor) + s * s / 2) / s, "norm").pvalue > 1e-3


def test_zeros_and_signs_stay(columns: Callable[..., Columns]) -> None:
    values = np.array([0, 10**6, -(10**6)] * 500)
    found = multiply(columns(values, 0.5))[:, 0]
    assert (np.sign(found) == np.sign(values)).all()


@pytest.mark.parametrize("amounts", [(0.05, 0.3), (1.0, 2.5)])
def test_it_is_its_slow_twin(columns: Callable[..., Columns], amounts: tuple[float, float]) -> None:
    table = np.random.default_rng(0).integers(-(10**6), 10**6, (300, 2))
    made, found = columns(table, amounts), multiply(columns(table, amounts))
    for column, s in enumerate(amounts):
        factors = [math.exp(s * normal) / math.exp(s * s / 2) for normal in normal_numbers(made, column)]
        wanted = [
            round(value * factor) for value, factor in zip(table[:, column].tolist(), factors, strict=True)
        ]
        assert found[:, column].tolist() == wanted
