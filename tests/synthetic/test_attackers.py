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


def test_it_is_the_same_each_time(synthetic: Synthetic, people: Callable[..., Any]) -> None:
    policy, codes = synthetic(sensitive=["pay"]), people(600)
    assert learned_by_attackers(policy, codes) == learned_by_attackers(policy, codes)
