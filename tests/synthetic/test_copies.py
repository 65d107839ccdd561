"""Copies are drawn from models of their own, by a key; combined estimates have intervals that hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic.copies import synthetic_codes, synthetic_tables
from anon_pipeline.utility.combined_estimates import combine_estimates

Synthetic = Callable[..., SyntheticPolicy]


@pytest.mark.parametrize("method", ["copula", "trees"])
def test_a_key_decides_everything(synthetic: Synthetic, people: Callable[..., Any], method: str) -> None:
    policy, codes = synthetic(method=method, copies=2, copy_records=123), people(500)
    one, same = (synthetic_tables(policy, codes, NoiseKey(bytes(32))) for _ in range(2))
    other = synthetic_tables(policy, codes, NoiseKey(bytes(31) + b"x"))
    assert [len(table) for table in one] == [123, 123] and not one[0].equals(one[1])
    assert all(a.equals(b) for a, b in zip(one, same, strict=True)) and not one[0].equals(other[0])
    assert list(one[0].columns) == ["age", "city", "pay"]


@pytest.mark.parametrize("method", ["copula", "trees"])
def test_intervals_over_the_copies_hold(synthetic: Synthetic, method: str) -> None:
    """95 % intervals of the mean, over 200 tables; those of a single copy are too narrow."""
    columns = {"first": {"bounds": [0, 200], "otherwise": 0}, "second": {"bounds": [0, 200], "otherwise": 0}}
    policy, random = synthetic(columns=columns, method=method, copies=10, k=2), np.random.default_rng(0)
    held, alone, times, numbers = 0, 0, 200, RandomNumbers(0)
    for _ in range(times):
        codes = np.clip(random.normal(100, 20, (200, 2)), 0, 200).round().astype(np.int64)
        copies = synthetic_codes(policy, codes, 200, numbers)
        means = [float(copy[:, 1].mean()) for copy in copies]
        variances = [float(copy[:, 1].var(ddof=1) / len(copy)) for copy in copies]
        low, high = combine_estimates(means, variances).interval()
        held += low <= 100 <= high
        alone += abs(means[0] - 100) <= 1.96 * variances[0] ** 0.5
    assert held >= 0.9 * times > alone
