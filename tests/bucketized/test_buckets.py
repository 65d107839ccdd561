"""Buckets: l different values each, none with more than 1/l of it, whenever that is possible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.bucketized.buckets import buckets_of, refuse_ineligible
from anon_pipeline.declared.random_numbers import RandomNumbers


@given(
    values=st.lists(st.integers(0, 7), min_size=2, max_size=60),
    l=st.integers(2, 5),
    k=st.integers(2, 12),
    seed=st.integers(0, 3),
)
def test_each_bucket_keeps_size_and_shares(values: list[int], l: int, k: int, seed: int) -> None:  # noqa: E741
    codes = np.array(values)
    assume(len(codes) >= max(l, k) and np.bincount(codes).max() * l <= len(codes))
    buckets = buckets_of(codes, l=l, k=k, random=RandomNumbers(seed))
    sizes = np.bincount(buckets)
    assert buckets.min() == 0 and sizes.min() >= min(k, len(codes)) and sizes.min() >= l
    for bucket in range(len(sizes)):
        assert np.bincount(codes[buckets == bucket]).max() * l <= sizes[bucket]


def test_too_frequent_values_are_refused_without_naming_them() -> None:
    codes = np.array([7] * 6 + [1, 2, 3, 4])
    refuse_ineligible(np.array([7] * 5 + [1, 2, 3, 4, 5]), 2)
    with pytest.raises(InputError, match="more than 1/2 of the records") as refused:
        buckets_of(codes, l=2, k=2, random=RandomNumbers(0))
    assert "7" not in str(refused.value)


def test_who_is_together_is_random() -> None:
    codes = np.array([0] * 50 + [1] * 50)
    one, other = (buckets_of(codes, l=2, k=2, random=RandomNumbers(seed)) for seed in (0, 1))
    assert not (one == other).all() and len(set(one)) == 50
    partners = [np.flatnonzero((one == one[at]) & (np.arange(100) != at))[0] for at in range(50)]
    assert sorted(partners) == list(range(50, 100))
    assert np.corrcoef(np.arange(50), partners)[0, 1] < 0.5
