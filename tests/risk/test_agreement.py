"""Agreement beyond chance, against a count of all pairs, and columns that follow from one another."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from anon_pipeline.risk import agreement
from anon_pipeline.risk.agreement import (
    beyond_chance,
    found_agreements,
    independent_columns,
    repeated_groups,
    tells_one_person,
)


def counted(values: NDArray[np.int64], codes: NDArray[np.int64]) -> float:
    """The definition, pair by pair."""
    everybody = [codes[i] == codes[j] for i, j in combinations(range(len(codes)), 2)]
    chance = sum(everybody) / len(everybody)
    shares = []
    for value in {*values.tolist()} - {-1}:
        rows = np.flatnonzero(values == value)
        if len(rows) > 1:
            agree = [codes[i] == codes[j] for i, j in combinations(rows, 2)]
            shares.append(sum(agree) / len(agree))
    return float((np.mean(shares) - chance) / (1 - chance))


@pytest.mark.parametrize("seed", range(20))
def test_as_pairs_are_counted(seed: int) -> None:
    random = np.random.default_rng(seed)
    values, codes = random.integers(-1, 9, 40), random.integers(0, 4, 40)
    among = repeated_groups(values)
    found = beyond_chance(np.bincount(codes), among.select(codes), among)
    assert found == pytest.approx(counted(values, codes))


@pytest.mark.parametrize(("groups", "width"), [(2, 3), (40, 300), (90, 2), (400, 400)])
def test_of_many_records_pairs_are_counted_in_a_loop(
    monkeypatch: pytest.MonkeyPatch, groups: int, width: int
) -> None:
    random = np.random.default_rng(groups)
    values, codes = random.integers(-1, groups, 600), random.integers(0, width, 600)

    def measured() -> float | None:
        among = repeated_groups(values)
        assert among.counted is (len(among.inside) >= agreement.COUNTED_FROM)
        return beyond_chance(np.bincount(codes), among.select(codes), among)

    sorted_ones = measured()
    monkeypatch.setattr(agreement, "COUNTED_FROM", 1)
    for dense in (0, 10**6):  # by groups in order, and with a counter for each group and value
        monkeypatch.setattr(agreement, "_DENSE", dense)
        assert measured() == sorted_ones  # to the last bit: all add whole numbers


def test_where_all_values_are_repeated_all_records_are_in_a_group() -> None:
    values = np.array([2, 0, 1, 1, 0, 2], np.int8)
    among = repeated_groups(values)
    assert among.inside.tolist() == [0, 1, 2, 3, 4, 5]
    assert among.groups.tolist() == values.tolist()
    assert among.select(values) is values
    few = repeated_groups(np.array([3, 0, 1, 1, -1, 3]))  # 2 is nobody's, one has 0, one says nothing
    assert (few.inside.tolist(), few.groups.tolist(), few.sizes.tolist()) == (
        [0, 2, 3, 5],
        [1, 0, 0, 1],
        [2, 2],
    )
    assert few.select(np.arange(6)).tolist() == [0, 2, 3, 5]
    assert few.order.tolist() == [1, 2, 0, 3]
    assert repeated_groups(np.empty(0, np.int64)).sizes.tolist() == []


def test_by_hand() -> None:
    values = np.array([0, 0, 1, 1, -1, 2])
    sex = np.array([0, 0, 1, 1, 0, 1])  # 6 of 15 pairs agree; all of the two that have one value
    same = np.zeros(6, np.int64)
    assert found_agreements(values, [sex]) == pytest.approx([1])
    assert found_agreements(values, [sex, same]) == pytest.approx([1])  # what all have tells nothing
    assert found_agreements(values, [same]) == []
    half = np.array([0, 0, 1, 0, 1, 1])  # one of the two: (0.5 - 0.4) / 0.6
    assert found_agreements(values, [half]) == pytest.approx([1 / 6])


def test_what_follows_from_another_column_is_left_out() -> None:
    random = np.random.default_rng(1)
    code, age = random.integers(0, 90, 2_000), random.integers(0, 60, 2_000)
    region, country = code // 10, code * 0
    assert independent_columns([region, age, country, code]) == [3, 1]
    assert independent_columns([age, age.copy()]) == [0]
    assert independent_columns([]) == []


def test_two_columns_must_agree_where_there_are_two() -> None:
    """A mean that one column alone carries is that of a first name and the sex."""
    assert tells_one_person([0.51])
    assert not tells_one_person([0.5])
    assert not tells_one_person([1.0, 0.5])
    assert tells_one_person([0.51, 0.51])
    assert tells_one_person([1.0, 0.9, 0.1])
    assert not tells_one_person([1.0, 0.2, 0.1])
    assert not tells_one_person([])
