"""Attackers: nothing is learned from what ignores the records; copies of records are found out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic import attackers
from anon_pipeline.synthetic.attackers import learned_by_attackers

Synthetic = Callable[..., SyntheticPolicy]
Integers = NDArray[np.int64]


def test_records_drawn_from_a_model_tell_little_of_those_it_has_seen(
    synthetic: Synthetic, people: Callable[..., Any]
) -> None:
    learned = learned_by_attackers(synthetic(sensitive=["city", "pay"]), people(4_000))
    assert abs(learned.copied) < 0.03 and abs(learned.membership - 0.5) < 0.03
    assert set(learned.gains) == {"city", "pay"} and max(map(abs, learned.gains.values())) < 0.05


def test_a_method_that_copies_is_found_out(synthetic: Synthetic, monkeypatch: pytest.MonkeyPatch) -> None:
    def copied(policy: SyntheticPolicy, codes: Integers, records: int, random: object) -> list[Integers]:
        return [codes]

    monkeypatch.setattr(attackers, "synthetic_codes", copied)
    columns = {name: {"bounds": [0, 1000], "otherwise": 0} for name in "abc"}
    codes = np.random.default_rng(0).integers(0, 1001, (4_000, 3))
    learned = learned_by_attackers(synthetic(columns=columns, sensitive=["c"]), codes)
    assert learned.copied > 0.99 and learned.membership > 0.95 and learned.gains["c"] > 0.8


def test_records_that_are_shuffled_within_columns_tell_no_more_than_anybody(
    synthetic: Synthetic, people: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def shuffled(
        policy: SyntheticPolicy, codes: Integers, records: int, random: RandomNumbers
    ) -> list[Integers]:
        return [np.stack([column[random.permutation(len(column))] for column in codes.T], axis=1)]

    monkeypatch.setattr(attackers, "synthetic_codes", shuffled)
    learned = learned_by_attackers(synthetic(sensitive=["pay"]), people(4_000))
    assert learned.copied < 0.02 and abs(learned.membership - 0.5) < 0.04 and learned.gains["pay"] < 0.04


def test_people_with_several_records_are_found_out_by_people(synthetic: Synthetic) -> None:
    """100 people of whom each has 40 records, and nobody else their numbers."""
    random = np.random.default_rng(0)
    columns = {name: {"bounds": [0, 1000], "otherwise": 0} for name in "abc"}
    people = np.repeat(np.arange(100), 40)
    codes = random.permutation(1000)[:300].reshape(100, 3)[people]
    policy = synthetic(columns=columns, sensitive=["c"], k=2, leaf=10, method="trees")
    alone, together = learned_by_attackers(policy, codes), learned_by_attackers(policy, codes, people)
    assert alone.membership < 0.55 and alone.gains["c"] < 0.05
    assert together.membership > 0.7 and together.gains["c"] > 0.2


def test_categories_of_k_to_two_k_records_are_in_the_model_of_a_half(
    synthetic: Synthetic, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def noted(policy: SyntheticPolicy, codes: Integers, records: int, random: object) -> list[Integers]:
        seen.append((policy.k, policy.rare_below, policy.leaf_records))
        return [codes]

    monkeypatch.setattr(attackers, "synthetic_codes", noted)
    codes = np.zeros((100, 3), np.int64)
    for changes in ({"k": 10}, {"k": 7}, {"k": 7, "method": "trees"}, {"k": 3, "method": "trees", "leaf": 9}):
        learned_by_attackers(synthetic(**changes), codes)
    assert seen == [(10, 5, 50), (7, 4, 35), (7, 4, 35), (3, 2, 9)]


def test_it_is_the_same_each_time(synthetic: Synthetic, people: Callable[..., Any]) -> None:
    policy, codes = synthetic(sensitive=["pay"]), people(600)
    assert learned_by_attackers(policy, codes) == learned_by_attackers(policy, codes)
