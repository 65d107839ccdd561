"""Which column to coarsen first, against a search among all sets of columns."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.evidence.culprits import culprits

NAMES = "abcdef"
ALL = [columns for size in (2, 3) for columns in combinations(NAMES, size)]


@given(st.lists(st.sampled_from(ALL), unique=True))
def test_each_combination_stands_once_under_a_column_of_it(sets: list[tuple[str, ...]]) -> None:
    found = culprits(sets, dict.fromkeys(NAMES, 2))
    assert sorted(columns for one in found for columns in one.sets) == sorted(sets)
    assert all(one.name in columns for one in found for columns in one.sets)
    assert all(
        {one.name, *rest} == {*columns}
        for one in found
        for rest, columns in zip(one.others, one.sets, strict=True)
    )


@given(st.lists(st.sampled_from(ALL), unique=True))
def test_one_column_is_enough_where_it_can_be(sets: list[tuple[str, ...]]) -> None:
    single = [name for name in NAMES if sets and all(name in columns for columns in sets)]
    found = culprits(sets, dict.fromkeys(NAMES, 2))
    assert (len(found) == 1) == bool(single)
    if single:
        assert found[0].name in single


def test_the_column_with_most_values_comes_first_and_one_that_is_changed_anyway_before_it() -> None:
    different = {"a": 4, "b": 9, "c": 5}
    assert [one.name for one in culprits([("a", "b")], different)] == ["b"]
    assert [one.name for one in culprits([("a", "b")], different, named=["a"])] == ["a"]
    assert [one.name for one in culprits([("a", "b"), ("b", "c")], different, named=["c"])] == ["c", "b"]
    assert culprits([], different) == []
