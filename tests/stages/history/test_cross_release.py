"""The intersection attack, counted: a worked table, and brute force from the definition."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from anon_pipeline.stages.history.cross_release import count_newcomers, cross_release_k, history
from anon_pipeline.stages.history.memory import Memory, Past


def by_brute_force(codes: np.ndarray) -> int | None:
    """|⋂ members(class_r(p))| over the releases r that hold p, for every p of the last one and another."""
    counts = []
    for person in codes:
        releases = np.flatnonzero(person >= 0)
        if person[-1] < 0 or len(releases) < 2:
            continue
        fitting = set(range(len(codes)))
        for r in releases:
            fitting &= set(np.flatnonzero(codes[:, r] == person[r]))
        counts.append(len(fitting))
    return min(counts, default=None)


def test_two_releases_of_classes_of_four_leave_one_alone() -> None:
    codes = np.array([[0, 0], [0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, 1], [1, 0]])
    assert np.bincount(codes[:, 0]).min() == np.bincount(codes[:, 1]).min() == 4
    assert cross_release_k(codes) == 1


def test_who_is_in_other_releases_does_not_matter() -> None:
    codes = np.array([[0, -1, 0], [0, 5, 0], [0, 6, 0], [-1, 5, 0], [-1, 5, 0]])
    assert cross_release_k(codes) == 1  # persons 1 and 2 by their release in the middle
    assert cross_release_k(codes[:, [0, 2]]) == 3


def test_nobody_twice_is_none() -> None:
    assert cross_release_k(np.array([[0, -1], [-1, 0]])) is None
    assert cross_release_k(np.array([[0], [0]])) is None


def test_persons_of_earlier_releases_alone_are_not_counted_for() -> None:
    assert cross_release_k(np.array([[0, 0, -1], [0, 1, -1], [0, 2, 4], [0, 2, 4]])) == 2


@given(
    arrays(
        np.int64,
        st.tuples(st.integers(1, 12), st.integers(1, 5)),
        elements=st.integers(-1, 2),
    )
)
def test_it_is_what_the_definition_says(codes: np.ndarray) -> None:
    assert cross_release_k(codes) == by_brute_force(codes)


def compared_by_brute_force(codes: np.ndarray, k: int) -> int:
    """By sets of people, class by class, of each earlier release and the last one."""
    found = [0]
    for j in range(codes.shape[1] - 1):
        told = 0
        for label in set(codes[:, j]) & set(codes[:, -1]) - {-1}:
            before, now = (set(np.flatnonzero(codes[:, at] == label)) for at in (j, -1))
            told += sum(len(some) for some in (now - before, before - now) if len(some) < k)
        found.append(told)
    return max(found)


def test_one_who_joins_a_class_is_told_and_one_of_many_is_not() -> None:
    stay, join = [[0, 0]] * 5, [[-1, 0]]
    assert count_newcomers(np.array([*stay, *join]), k=5) == 1
    assert count_newcomers(np.array([*stay, *join * 4]), k=5) == 4
    assert count_newcomers(np.array([*stay, *join * 5]), k=5) == 0
    moved = [[0, 1]]  # leaves one class, joins another
    assert count_newcomers(np.array([*stay, *[[1, 1]] * 5, *moved]), k=5) == 2
    assert count_newcomers(np.array([*stay, *[[0, 2]] * 4]), k=5) == 4  # a new class has no difference
    assert count_newcomers(np.array([[0], [0]]), k=5) == 0


@given(
    arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 4)), elements=st.integers(-1, 2)),
    st.integers(1, 5),
)
def test_comparing_releases_is_what_the_definition_says(codes: np.ndarray, k: int) -> None:
    assert count_newcomers(codes, k=k) == compared_by_brute_force(codes, k)


def test_history_puts_releases_side_by_side() -> None:
    members = pd.DataFrame(
        {"release": [0, 0, 1], "person": ["a", "b", "b"], "class": ["x", "y", "x"]},
    )
    memory = Memory((Past("1", None), Past("2", None)), members, Memory.empty().values)
    codes = history(memory, pd.Series(["c", "b"]), pd.Series(["y", "x"]))
    assert codes.tolist() == [[0, -1, -1], [1, 0, 0], [-1, -1, 1]]
