"""A bucketized release says what it promises, and of whom it does not."""

from __future__ import annotations

from collections.abc import Callable

from anon_pipeline.bucketized.bucketized_guarantee import bucketized_guarantee
from anon_pipeline.policy.bucketized_release import BucketizedPolicy


def test_it_names_columns_and_numbers(bucketized: Callable[..., BucketizedPolicy]) -> None:
    said = bucketized_guarantee(bucketized())
    assert "value of illness is guessed with probability 1/3" in said[0] and "age, city exactly" in said[0]
    assert "age, city; illness" in said[1] and "is in the data" in said[1]
    assert all(line.endswith(".") for line in said)
