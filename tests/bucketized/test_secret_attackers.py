"""Attackers look beside the secret, in whichever table it stands, and know sums of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.bucketized.secret_attackers import guesses_of
from anon_pipeline.policy.bucketized_release import BucketizedPolicy
from tests.bucketized.conftest import COLUMNS

Bucketized = Callable[..., BucketizedPolicy]
NUMBER = {"bounds": [0, 999], "otherwise": 0}


def test_a_row_is_found_by_bucket_and_columns_beside(
    bucketized: Bucketized, people: Callable[..., Any]
) -> None:
    """Ages differ within nearly all buckets of four, though not in the table."""
    codes, buckets = people(400), np.arange(400) // 4
    own = pd.DataFrame(codes, columns=["age", "city", "illness"]).assign(bucket=buckets)
    most = own.groupby(["bucket", "age"])["illness"].agg(lambda cells: cells.value_counts().max()).sum()
    found = guesses_of(bucketized(slices=[["city"], ["age", "illness"]]), codes, buckets, "illness")
    assert found >= most / 400 > 0.9
    assert guesses_of(bucketized(), codes, buckets, "illness") < 0.7


@pytest.mark.parametrize(
    "slices",
    [
        [["city", "pay"], ["age"], ["illness"]],
        [["city"], ["age", "pay"], ["illness"]],
        [["age"], ["city"], ["illness", "pay"]],
    ],
)
def test_secrets_of_any_table_are_guessed(bucketized: Bucketized, slices: list[list[str]]) -> None:
    random = np.random.default_rng(0)
    pay = random.permutation(400)
    codes = np.column_stack([*(random.integers(0, most, 400) for most in (99, 3, 5)), pay])
    columns = COLUMNS | {"pay": NUMBER}
    policy = bucketized(columns=columns, slices=slices, gate={"guessed_of": {"pay": 0.5}})
    in_a_crowd, alone = np.zeros(400, np.int64), np.arange(400)
    assert guesses_of(policy, codes, alone, "pay") == guesses_of(policy, codes, alone, "age") == 1.0
    assert guesses_of(policy, codes, in_a_crowd, "pay") < 0.3


def test_a_sum_of_known_numbers_is_guessed(bucketized: Bucketized) -> None:
    random = np.random.default_rng(0)
    base, bonus = random.integers(100, 400, (2, 400))
    columns = dict.fromkeys(("base", "bonus", "total"), NUMBER)
    policy = bucketized(columns=columns, slices=[["base", "bonus"], ["total"]], sensitive="total")
    codes = np.column_stack([base, bonus, base + bonus])
    assert guesses_of(policy, codes, np.arange(400) // 10, "total") == 1.0
    in_a_table_of_all = bucketized(
        columns=COLUMNS | {"total": NUMBER}, slices=[["city", "illness"], ["total", "age"]], sensitive="total"
    )
    mixed = np.column_stack([random.integers(0, 99, 400), *np.zeros((2, 400), np.int64), base])
    assert guesses_of(in_a_table_of_all, mixed, np.zeros(400, np.int64), "total") < 0.5
    codes[:, 2] = random.permutation(codes[:, 2])
    assert guesses_of(policy, codes, np.arange(400) // 10, "total") < 0.3
