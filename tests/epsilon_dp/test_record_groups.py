"""Groups of k records change by one record where one record is replaced: Propositions 9.3 and 9.4."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from anon_pipeline.epsilon_dp.record_groups import domain_corners, group_sizes, record_groups
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from tests.epsilon_dp.neighbours import dp_policy, neighbours

Integers = NDArray[np.int64]
THREE = {
    "a": {"bounds": [0, 4], "otherwise": 0},
    "b": {"bounds": [0, 100], "otherwise": 0},
    "c": {"values": ["x", "y", "z"], "otherwise": "x"},
}


def members(groups: Integers, codes: Integers) -> list[Counter[tuple[int, ...]]]:
    return [Counter(map(tuple, codes[groups == group])) for group in range(groups.max() + 1)]


@pytest.mark.parametrize("corners", [False, True])
def test_each_group_differs_in_one_record_at_most(corners: bool) -> None:
    policy = dp_policy(group_means={"k": 2})
    for one, other in neighbours(policy, 5):
        pair = [members(record_groups(policy, codes, k=2, corners=corners), codes) for codes in (one, other)]
        assert all(sum((group - changed).values()) <= 1 for group, changed in zip(*pair, strict=True))


def by_definition(policy: EpsilonDpPolicy, codes: Integers, k: int, corners: bool) -> list[Any]:
    """Return the groups by Algorithm 7 as it is printed, with exact fractions of the range."""
    left, found, turn = list(map(tuple, codes.tolist())), [], 0
    columns = list(policy.columns.values())
    places = domain_corners(policy)[: None if corners else 1]

    def distance(record: tuple[int, ...], corner: Integers) -> int:
        apart = [abs(code - int(end)) for code, end in zip(record, corner, strict=True)]
        return sum(
            ((one * 2**20 // column.steps) if column.values is None else (one > 0) * 2**20) ** 2
            for one, column in zip(apart, columns, strict=True)
        )

    while left:
        corner = places[turn % len(places)]
        left.sort(key=lambda record: (distance(record, corner), record))
        take = len(left) if len(left) < 2 * k else k
        found.append(Counter(left[:take]))
        left, turn = left[take:], turn + 1
    return found


@given(
    records=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 100), st.integers(0, 2)), min_size=1, max_size=30
    ),
    k=st.integers(2, 6),
    corners=st.booleans(),
)
def test_groups_are_those_of_algorithm_7(records: list[tuple[int, ...]], k: int, corners: bool) -> None:
    policy, codes = dp_policy(columns=THREE, group_means={"k": k}), np.array(records)
    assert members(record_groups(policy, codes, k=k, corners=corners), codes) == by_definition(
        policy, codes, k, corners
    )


def test_sizes_are_k_and_the_rest() -> None:
    assert group_sizes(7, 3).tolist() == [3, 4]
    assert group_sizes(6, 3).tolist() == [3, 3]
    assert group_sizes(2, 3).tolist() == [2]


def test_corners_come_in_opposite_pairs() -> None:
    policy = dp_policy(columns=THREE, group_means={"k": 2})
    found = [tuple(map(int, corner)) for corner in domain_corners(policy)]
    assert found[:2] == [(0, 0, 0), (4, 100, 2)] and len(found) == len({*found}) == 8
    assert all(tuple(np.array(a) + b) == (4, 100, 2) for a, b in zip(found[::2], found[1::2], strict=True))


def test_distances_are_exact_at_the_finest_resolution() -> None:
    """Two records whose distances differ in their last bits are ordered as whole numbers say."""
    policy = dp_policy(columns={"a": {"bounds": [0, 2**40], "otherwise": 0}}, group_means={"k": 2})
    codes = np.array([[2**40], [2**40 - 1], [2**39], [2**39 + 2**21]])
    assert record_groups(policy, codes, k=2, corners=False).tolist() == [1, 1, 0, 0]
