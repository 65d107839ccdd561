"""The Mondrian kernel against a slow twin written from [methods 4], and its promises one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.mondrian.kernels import advance
from anon_pipeline.recode.mondrian.state import Axes, initial_state
from anon_pipeline.recode.ranges import Axis, make_axis
from anon_pipeline.recode.task import Constraints
from anon_pipeline.recode.tuples import DistinctTuples, distinct_tuples
from tests.example_counts import examples_of

Weighted = list[tuple[tuple[int, ...], int]]


def kernel_axes(axes: list[Axis]) -> Axes:
    lengths = [len(axis.leaves) for axis in axes]
    return Axes(
        np.concatenate([axis.coordinates for axis in axes]),
        np.cumsum([0, *lengths])[:-1].astype(np.int64),
        np.array([axis.span for axis in axes]),
    )


def positions_of(table: DistinctTuples, axes: list[Axis]) -> np.ndarray:
    return np.stack([axis.positions[table.tuples[:, column]] for column, axis in enumerate(axes)], axis=1)


def width(axis: Axis, low: int, high: int) -> Fraction:
    if np.isnan(axis.coordinates[high]):
        return Fraction(1)
    length = Fraction(axis.coordinates[high]) - Fraction(axis.coordinates[low])
    return length / Fraction(axis.span) if axis.span else Fraction(0)


def slow_cut(members: Weighted, axes: list[Axis], k: int, relaxed: bool) -> tuple[Weighted, Weighted] | None:
    """Twin of one cut: the widest axis first; its median cut, else the allowable one nearest to half."""
    records = sum(weight for _, weight in members)
    order = []
    for column, axis in enumerate(axes):
        seen = sorted({row[column] for row, _ in members})
        if len(seen) > 1:
            order.append((-width(axis, seen[0], seen[-1]), column, seen))
    for _, column, seen in sorted(order, key=lambda choice: choice[:2]):
        upto = {v: sum(weight for row, weight in members if row[column] <= v) for v in seen}
        median = next(v for v in seen if 2 * upto[v] >= records)
        allowable = [v for v in seen if upto[v] >= k and records - upto[v] >= k]
        if allowable:
            cut = median if median in allowable else min(allowable, key=lambda v: abs(2 * upto[v] - records))
            left = [member for member in members if member[0][column] <= cut]
            return left, [member for member in members if member[0][column] > cut]
        if relaxed and records >= 2 * k:
            left = [member for member in members if member[0][column] < median]
            middle = [member for member in members if member[0][column] == median]
            quota = (records + 1) // 2 - len(left)
            right = [member for member in members if member[0][column] > median]
            return left + middle[:quota], sorted(middle[quota:] + right)
    return None


def slow_partition(members: Weighted, axes: list[Axis], k: int, relaxed: bool) -> list[Weighted]:
    halves = slow_cut(members, axes, k, relaxed)
    if halves is None:
        return [sorted(members)]
    return [part for half in halves for part in slow_partition(sorted(half), axes, k, relaxed)]


def kernel_partition(
    positions: np.ndarray, weights: np.ndarray, axes: list[Axis], k: int, relaxed: bool, budget: int = 2**24
) -> list:
    cells = np.ascontiguousarray(positions.T, np.int32)
    state = initial_state(cells, weights.astype(np.int64), max(len(axis.leaves) for axis in axes))
    rules = rules_of(Constraints(k, 0))
    while advance(state, kernel_axes(axes), rules, relaxed, budget):
        pass
    assert not state.seen.any()
    members = list(zip(map(tuple, positions.tolist()), weights.tolist(), strict=True))
    begins = [*state.begins[: state.progress[2]].tolist(), len(weights)]
    assert [members[entry] for entry in state.entries] == list(
        zip(map(tuple, state.cells.T.tolist()), state.weights.tolist(), strict=True)
    )
    return [sorted(members[entry] for entry in state.entries[begin:end]) for begin, end in pairwise(begins)]


@pytest.mark.parametrize("relaxed", [False, True])
@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_classes_equal_the_slow_twin(data: st.DataObject, drawn: SimpleNamespace, relaxed: bool) -> None:
    codes, hierarchies = data.draw(drawn.tables(most=30))
    k = data.draw(st.integers(1, len(codes)))
    table, _ = distinct_tuples(codes, hierarchies)
    axes = [make_axis(hierarchy, codes[:, column]) for column, hierarchy in enumerate(hierarchies)]
    positions, weights = positions_of(table, axes), table.counts
    if relaxed:
        positions = np.repeat(positions, weights, axis=0)
        weights = np.ones(len(positions), np.int64)
    order = np.lexsort(positions.T[::-1])
    positions, weights = np.ascontiguousarray(positions[order]), np.ascontiguousarray(weights[order])
    members = list(zip(map(tuple, positions.tolist()), weights.tolist(), strict=True))
    assert kernel_partition(positions, weights, axes, k, relaxed) == slow_partition(members, axes, k, relaxed)


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_larger_tables_equal_the_slow_twin(seed: int, relaxed: bool) -> None:
    """Many cuts in a row: both halves must stay in order, or relaxed division sends others to the left."""
    rng = np.random.default_rng(seed)
    columns = [rng.choice(6, 150, p=rng.dirichlet(np.full(6, 0.6))) for _ in range(3)]
    rows = np.stack(columns, axis=1)
    positions = np.ascontiguousarray(rows[np.lexsort(rows.T[::-1])])
    weights = np.ones(150, np.int64)
    axes = line(list(range(6))) * 3
    members = list(zip(map(tuple, positions.tolist()), weights.tolist(), strict=True))
    for k in (2, 5, 11):
        want = slow_partition(members, axes, k, relaxed)
        assert kernel_partition(positions, weights, axes, k, relaxed) == want
        assert kernel_partition(positions, weights, axes, k, relaxed, budget=1) == want


@pytest.mark.parametrize("relaxed", [False, True])
@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_no_class_is_too_small_and_none_could_be_cut_further(
    data: st.DataObject, drawn: SimpleNamespace, relaxed: bool
) -> None:
    codes, hierarchies = data.draw(drawn.tables(most=40))
    k = data.draw(st.integers(1, len(codes)))
    table, _ = distinct_tuples(codes, hierarchies)
    axes = [make_axis(hierarchy, codes[:, column]) for column, hierarchy in enumerate(hierarchies)]
    positions, weights = positions_of(table, axes), table.counts
    if relaxed:
        positions = np.repeat(positions, weights, axis=0)
        weights = np.ones(len(positions), np.int64)
    for members in kernel_partition(positions, weights, axes, k, relaxed):
        records = sum(weight for _, weight in members)
        assert records >= k
        for column in range(len(axes)):
            values = {row[column] for row, _ in members}
            left = [sum(w for row, w in members if row[column] <= value) for value in values]
            assert not any(size >= k and records - size >= k for size in left)
        if relaxed:
            assert records < 2 * k or len({row for row, _ in members}) == 1


def line(values: list[int]) -> list[Axis]:
    from anon_pipeline.hierarchy.hierarchy import Hierarchy

    leaves = np.array(values, object)
    lookups = (np.arange(len(values)), np.zeros(len(values), np.int64))
    hierarchy = Hierarchy("x", lookups, (leaves, np.array(["*"], object)), np.array(values, float))
    return [make_axis(hierarchy, np.arange(len(values)))]


def sizes(weights: list[int], k: int, relaxed: bool = False) -> list[int]:
    positions = np.arange(len(weights))[:, None].copy()
    parts = kernel_partition(positions, np.array(weights), line(list(range(len(weights)))), k, relaxed)
    return [sum(weight for _, weight in part) for part in parts]


def test_a_heavy_median_does_not_block_the_cut_beside_it() -> None:
    """{0: 3, 1: 90, 2: 1}: the median cut leaves 1 record on the right, the one below it is allowable."""
    assert sizes([3, 90, 1], 3) == [3, 91]
    assert sizes([1, 90, 3], 3) == [91, 3]
    assert sizes([2, 90, 2], 3) == [94]


def test_all_records_alike_are_one_class() -> None:
    assert sizes([1_000_000], 2) == [1_000_000]


def test_fewer_than_two_classes_worth_stay_together() -> None:
    assert sizes([2, 3], 3) == [5]
    assert sizes([3, 3], 3) == [3, 3]


def test_counts_beyond_32_bits() -> None:
    assert sizes([2**40, 2**41, 2**40], 2**40) == [2**40, 2**41, 2**40]


def test_relaxed_divides_equal_records_where_strict_cannot() -> None:
    """8 records of one value, 2 of another, k = 5: strict keeps 10 together, relaxed divides the eight."""
    positions = np.array([[0]] * 8 + [[1]] * 2)
    parts = kernel_partition(positions, np.ones(10, np.int64), line([0, 1]), 5, True)
    assert [[row[0] for row, _ in part] for part in parts] == [[0] * 5, [0, 0, 0, 1, 1]]
    assert sizes([8, 2], 5) == [10]


def test_far_more_positions_than_entries_are_bisected() -> None:
    """Ten entries on an axis of a thousand positions: counting each position would cost more."""
    places = np.array([3, 5, 8, 200, 201, 450, 451, 700, 998, 999])
    parts = kernel_partition(places[:, None], np.ones(10, np.int64), line(list(range(1000))), 2, False)
    assert [[row[0] for row, _ in part] for part in parts] == [
        [3, 5, 8],
        [200, 201],
        [450, 451, 700],
        [998, 999],
    ]


def test_the_work_is_done_in_portions() -> None:
    """Each call looks at its budget of cells and no further than the cut that it is at."""
    positions = np.arange(64)[:, None]
    cells = np.ascontiguousarray(positions.T, np.int32)
    state, axes = initial_state(cells, np.ones(64, np.int64), 64), kernel_axes(line(list(range(64))))
    calls = 1
    while advance(state, axes, rules_of(Constraints(1, 0)), False, 1):
        calls += 1
    assert calls == 127  # 63 cuts and 64 classes
