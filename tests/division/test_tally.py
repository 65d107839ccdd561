"""A tally of slices counts what counting all at once does."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.division.tally import AT_ONCE, Tally


@pytest.mark.parametrize("records", [10**6, 0], ids=["in place", "sorted"])
@given(slices=st.lists(st.lists(st.integers(0, 30), max_size=20), max_size=8))
def test_slices_add_up(records: int, slices: list[list[int]]) -> None:
    tally = Tally(31, records)
    for part in slices:
        tally.add(np.array(part, np.int64))
    want = sorted(Counter(number for part in slices for number in part).items())
    numbers, counts = tally.counts()
    assert list(zip(numbers.tolist(), counts.tolist(), strict=True)) == want


@pytest.mark.parametrize("records", [10**6, 0], ids=["in place", "sorted"])
@given(slices=st.lists(st.lists(st.integers(0, 30), max_size=20), max_size=8), parted=st.integers(0, 8))
def test_two_tallies_count_together(records: int, slices: list[list[int]], parted: int) -> None:
    tally, other = Tally(31, records), Tally(31, records)
    for at, part in enumerate(slices):
        (tally if at < parted else other).add(np.array(part, np.int64))
    tally.join(other)
    want = sorted(Counter(number for part in slices for number in part).items())
    numbers, counts = tally.counts()
    assert list(zip(numbers.tolist(), counts.tolist(), strict=True)) == want


def test_it_tells_early_that_there_are_too_many() -> None:
    tally = Tally(AT_ONCE + 1, 10 * AT_ONCE)
    tally.add(np.array([5, 5, 9]))
    assert not tally.exceeds(2)
    tally.add(np.array([7, 5, 9]))
    assert tally.exceeds(2)


def test_runs_are_merged_so_that_few_are_kept() -> None:
    tally = Tally(10**9, 10)
    for part in range(64):
        tally.add(np.arange(part, part + 1))
    assert len(tally._runs) == 1
