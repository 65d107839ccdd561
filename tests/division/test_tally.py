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


@pytest.mark.parametrize("space", [31, 10**12], ids=["small", "large"])
@pytest.mark.parametrize("records", [10**6, 0], ids=["in place", "sorted"])
@given(
    slices=st.lists(
        st.lists(st.tuples(st.integers(0, 30), st.integers(1, 2**40)), min_size=1, max_size=20), max_size=8
    )
)
def test_weights_of_equal_numbers_are_added(
    records: int, space: int, slices: list[list[tuple[int, int]]]
) -> None:
    tally, want = Tally(space, records), Counter[int]()
    for part in slices:
        numbers, times = np.array(part, np.int64).T
        tally.add(numbers, times)
        for number, many in part:
            want[number] += many
    numbers, counts = tally.counts()
    assert list(zip(numbers.tolist(), counts.tolist(), strict=True)) == sorted(want.items())


def test_threads_merge_to_the_counts_of_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(processors: int) -> list[list[int]]:
        monkeypatch.setattr("anon_pipeline.division.tally.processors", lambda: processors)
        random, tally = np.random.default_rng(1), Tally(10**12, 10)
        for _ in range(5):
            tally.add(random.integers(0, 10**5, 10**5))
        return [own.tolist() for own in tally.counts()]

    one = counted(1)
    assert sum(one[1]) == 5 * 10**5
    assert counted(2) == counted(3) == one


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
