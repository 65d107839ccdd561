"""Tables: every value is in them as often as in the data, and only buckets connect them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from anon_pipeline.bucketized.bucket_tables import bucket_tables, sensitive_codes
from anon_pipeline.declared.domain_codes import values_of
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.bucketized_release import BUCKET, BucketizedPolicy

Bucketized = Callable[..., BucketizedPolicy]
KEY = NoiseKey(bytes(32))


def test_values_are_those_of_the_data(bucketized: Bucketized, people: Callable[..., Any]) -> None:
    policy, codes = bucketized(), people(500)
    first, second = bucket_tables(policy, codes, KEY)
    assert list(first.columns) == [BUCKET, "age", "city"] and list(second.columns) == [BUCKET, "illness"]
    for table in (first, second):
        assert table[BUCKET].is_monotonic_increasing and len(table) == 500
    wanted = pd.DataFrame(
        {name: values_of(policy.columns[name], codes[:, at]) for at, name in ((0, "age"), (1, "city"))}
    )
    order = ["age", "city"]
    pd.testing.assert_frame_equal(
        first[order].sort_values(order, ignore_index=True), wanted.sort_values(order, ignore_index=True)
    )
    assert first[BUCKET].tolist() == second[BUCKET].tolist()


def test_a_key_decides_everything(bucketized: Bucketized, people: Callable[..., Any]) -> None:
    policy, codes = bucketized(), people(300)
    one, same = (bucket_tables(policy, codes, KEY) for _ in range(2))
    other = bucket_tables(policy, codes, NoiseKey(bytes(31) + b"x"))
    assert all(a.equals(b) for a, b in zip(one, same, strict=True)) and not one[0].equals(other[0])


def test_the_order_within_a_bucket_connects_nothing(
    bucketized: Bucketized, people: Callable[..., Any]
) -> None:
    """Joined row by row, the two tables match the data no more often than by chance."""
    policy, codes = bucketized(l=2, k=2), people(4_000, tied=1.0)
    first, second = bucket_tables(policy, codes, KEY)
    own = {illness: age for age, _, illness in codes.tolist()}
    names = policy.columns["illness"].values or ()
    matched = [
        own[names.index(said)] == age for age, said in zip(first["age"], second["illness"], strict=True)
    ]
    assert abs(np.mean(matched) - 0.5) < 0.05


def test_values_of_one_bin_are_one_value(bucketized: Bucketized) -> None:
    columns = {
        "age": {"bounds": [0, 99], "otherwise": 0},
        "pay": {"bounds": [0, 99], "bins": 4, "otherwise": 0},
    }
    policy = bucketized(columns=columns, slices=[["age"], ["pay"]], sensitive="pay")
    codes = np.array([[1, 0], [2, 24], [3, 25], [4, 99]])
    assert sensitive_codes(policy, codes).tolist() == [0, 0, 1, 3]
