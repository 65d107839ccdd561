"""What all classes of a person have in common: as sets say, of any table, quickly."""

from __future__ import annotations

import time
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from anon_pipeline.risk.common_values import one_in_common

Integers = NDArray[np.int64]


def by_sets(codes: Integers, labels: Integers, people: Integers) -> list[bool]:
    """The slow twin: the values of each class as a set, and those of a person's classes intersected."""
    values, classes, own = defaultdict(set), defaultdict(set), defaultdict(set)
    for code, label, person in zip(codes.tolist(), labels.tolist(), people.tolist(), strict=True):
        values[label].add(code)
        classes[person].add(label)
        own[person].add(code)
    return [
        len(classes[person]) > 1
        and len(own[person]) == 1
        and set.intersection(*(values[label] for label in classes[person])) == own[person]
        for person in sorted(classes)
    ]


def compact(labels: Integers) -> tuple[Integers, int]:
    different, found = np.unique(labels, return_inverse=True)
    return found.astype(np.int64), len(different)


TABLES = st.integers(1, 60).flatmap(
    lambda r: st.tuples(
        *(st.lists(st.integers(0, most), min_size=r, max_size=r) for most in (9, 7, 12)),
        st.booleans(),
    )
)


@given(TABLES)
def test_it_is_what_sets_say(table: tuple[list[int], list[int], list[int], bool]) -> None:
    codes, labels, people = (np.array(one, np.int64) for one in table[:3])
    if table[3]:
        codes = people % 7  # each person has one value
    labels, m = compact(labels)
    people = people * 1000 + 5  # numbers with gaps
    assert one_in_common(codes, labels, people, m=m).tolist() == by_sets(codes, labels, people)


@pytest.mark.parametrize("seed", range(6))
def test_many_values_and_the_order_of_records_change_nothing(seed: int) -> None:
    random, n = np.random.default_rng(seed), 3000
    people = random.integers(0, 500, n)
    codes = random.integers(0, 40 + 200 * (seed % 3), 500)[people]
    labels, m = compact(random.integers(0, (15, 120, 600)[seed // 2], n))
    expected = by_sets(codes, labels, people)
    assert 0 < sum(expected) < len(expected) or seed < 2
    assert one_in_common(codes, labels, people, m=m).tolist() == expected
    moved = random.permutation(n)
    assert one_in_common(codes[moved], labels[moved], people[moved], m=m).tolist() == expected
    assert one_in_common(10**9 - codes, labels, people, m=m).tolist() == expected


def test_by_hand() -> None:
    def told(*records: tuple[int, int, int]) -> list[bool]:
        """Tell it of records of (person, class, value)."""
        people, labels, codes = (np.array(one, np.int64) for one in zip(*records, strict=True))
        return one_in_common(codes, labels, people, m=int(labels.max()) + 1).tolist()

    both = [(0, 0, 5), (0, 1, 5)]
    assert told(*both, (1, 0, 6), (2, 1, 7)) == [True, False, False]  # {5, 6} and {5, 7}
    assert told(*both, (1, 0, 6), (2, 1, 6)) == [False, False, False]  # 5 or 6
    assert told(*both, (1, 0, 6), (1, 1, 6)) == [False, False]  # the same
    assert told(*both) == [True]  # also if a single class gives it away
    assert told((0, 0, 5), (0, 0, 5), (1, 0, 6)) == [False, False]  # one class
    assert told((0, 0, 5), (0, 1, 6), (1, 0, 6), (1, 1, 6)) == [False, True]  # of 0 it would be wrong
    assert told(*both, (0, 2, 5), (1, 0, 6), (1, 1, 6), (2, 2, 7)) == [True, False, False]


def test_a_million_records_take_seconds() -> None:
    random, n = np.random.default_rng(0), 1_000_000
    people = random.integers(0, n // 4, n)
    for values, classes in ((60, n // 12), (100_000, 1_000)):
        codes = random.integers(0, values, n // 4)[people]
        labels, m = compact(random.integers(0, classes, n))
        began = time.process_time()
        found = one_in_common(codes, labels, people, m=m)
        assert time.process_time() - began < 15
        assert found.mean() > 0.3


def test_classes_with_nothing_else_in_common_are_compared_once_for_all_who_are_in_both() -> None:
    """Two classes of 20,000 values each, with 20,000 people in both: value by value for each is too much."""
    n = 20_000
    both, one = np.arange(n), np.arange(n)
    codes = np.concatenate((np.full(2 * n, 3 * n), one, one + n))
    labels = np.concatenate((both * 0, both * 0 + 1, one * 0, one * 0 + 1))
    people = np.concatenate((both, both, np.arange(n, 3 * n)))
    began = time.process_time()
    found = one_in_common(codes, labels, people, m=2)
    assert time.process_time() - began < 5
    assert (found[:n].all(), found[n:].any()) == (True, False)
