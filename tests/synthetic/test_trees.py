"""Sequential trees keep what a column says of a later one, and release no rare category."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic.trees import tree_records

Synthetic = Callable[..., SyntheticPolicy]


def test_dependence_stays_and_rare_values_do_not(synthetic: Synthetic, people: Callable[..., Any]) -> None:
    codes = people(20_000)
    drawn = tree_records(synthetic(method="trees"), codes, np.ones(len(codes), int), 20_000, RandomNumbers(1))
    assert np.allclose(drawn.mean(axis=0), codes.mean(axis=0), rtol=0.03, atol=0.03)
    assert abs(np.corrcoef(drawn.T)[0, 2] - np.corrcoef(codes.T)[0, 2]) < 0.05
    by_city = [[table[table[:, 1] == at, 2].mean() for at in range(3)] for table in (codes, drawn)]
    assert np.allclose(by_city[0], by_city[1], rtol=0.03)
    assert 3 not in set(drawn[:, 1])


def test_records_that_do_not_count_are_not_looked_at(
    synthetic: Synthetic, people: Callable[..., Any]
) -> None:
    codes = people(2_000)
    weights = (codes[:, 2] < 300).astype(np.int64)
    drawn = tree_records(synthetic(method="trees"), codes, weights, 2_000, RandomNumbers(0))
    assert drawn[:, 2].max() < 300


def test_where_everything_is_rare_there_is_only_otherwise(
    synthetic: Synthetic, people: Callable[..., Any]
) -> None:
    codes = people(200)
    policy = synthetic(method="trees", k=150)
    drawn = tree_records(policy, codes, np.ones(200, int), 200, RandomNumbers(0))
    names = policy.columns["city"].values or ()
    assert set(drawn[:, 1]) == {names.index(policy.columns["city"].otherwise)}


def test_many_categories_are_split_by_their_order(synthetic: Synthetic) -> None:
    values = [f"v{at:02}" for at in range(40)]
    columns = {
        "code": {"values": values, "otherwise": "v00"},
        "pay": {"bounds": [0, 1000], "otherwise": 0},
        "same": {"values": ["a", "b"], "otherwise": "a"},
    }
    random = np.random.default_rng(0)
    code = random.integers(0, 40, 8_000)
    codes = np.stack([code, 20 * code, np.zeros(8_000)], axis=1).astype(np.int64)
    drawn = tree_records(
        synthetic(columns=columns, method="trees"), codes, np.ones(8_000, int), 8_000, RandomNumbers(0)
    )
    assert np.corrcoef(drawn[:, :2].T)[0, 1] > 0.98 and set(drawn[:, 2]) == {0}
