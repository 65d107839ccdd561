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
from tests.bucketized.conftest import COLUMNS

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


def test_three_tables_hold_all_values_and_connect_rows_by_chance(bucketized: Bucketized) -> None:
    """Of numbers that are different for each person, and equal in two columns."""
    numbers = {"bounds": [0, 3_999], "otherwise": 0}
    columns = {"age": numbers, "pay": numbers, "illness": COLUMNS["illness"]}
    policy = bucketized(columns=columns, slices=[["pay"], ["age"], ["illness"]], l=2, k=4)
    own = np.arange(4_000)
    tables = bucket_tables(policy, np.stack([own, own, own % 5], axis=1), KEY)
    assert [list(table.columns) for table in tables] == [
        [BUCKET, "pay"],
        [BUCKET, "age"],
        [BUCKET, "illness"],
    ]
    assert all(table[BUCKET].tolist() == tables[0][BUCKET].tolist() for table in tables)
    pay, age, illness = (table.iloc[:, 1] for table in tables)
    assert sorted(pay) == sorted(age) == own.tolist() and set(illness.value_counts()) == {800}
    sizes = tables[0].groupby(BUCKET)["pay"].transform("size")
    assert abs((pay == age).mean() - (1 / sizes).mean()) < 0.03
    names = np.array(policy.columns["illness"].values)
    for known in (pay, age):
        assert (names[known % 5] == illness).mean() < 1 / 2 + 0.03  # l is 2
