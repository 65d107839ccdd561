"""The forest against a slow twin, and its bound against the least loss of all partitions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.microaggregation.algorithms import forest_clusters
from anon_pipeline.recode.microaggregation.forest import divide_forest
from anon_pipeline.recode.microaggregation.space import Space, make_space
from anon_pipeline.recode.task import Task
from tests.example_counts import examples_of
from tests.recode.microaggregation.test_k_member import lost
from tests.recode.microaggregation.twins import setting


def partitions(records: list[int], k: int) -> Iterator[list[list[int]]]:
    """Yield all partitions into parts of at least k."""
    if not records:
        yield []
        return
    first, *others = records
    for size in range(k - 1, len(others) + 1):
        if 0 < len(others) - size < k:
            continue
        for chosen in itertools.combinations(others, size):
            left = [one for one in others if one not in chosen]
            for rest in partitions(left, k):
                yield [[first, *chosen], *rest]


def without_limits(task: Task) -> Task:
    """Ask for k alone: limits on classes merge clusters."""
    return replace(task, constraints=replace(task.constraints, sensitive=()))


def all_lost(task: Task, space: Space, clusters: list[list[int]]) -> float:
    return sum(len(own) * lost(task, space, own) for own in clusters)


def of_labels(labels: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)]


@settings(deadline=None, max_examples=examples_of(80))
@given(data=st.data())
def test_no_more_is_lost_than_the_bound_says(
    data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace
) -> None:
    task = without_limits(data.draw(micro.tasks(drawn.tables, "forest", most=8)))
    space, k = make_space(task, task.by_record), task.constraints.k
    clusters = of_labels(forest_clusters(task, space))
    least = min(all_lost(task, space, each) for each in partitions(list(range(space.records)), k))
    assert all_lost(task, space, clusters) <= max(3 * (k - 1), 1) * least + 1e-9


@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_clusters_have_k_to_three_times_k_minus_one_records(
    data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace
) -> None:
    task, space, _ = setting(data, drawn, micro, "forest")
    task = without_limits(task)
    k = task.constraints.k
    sizes = np.bincount(forest_clusters(task, space))
    assert sizes.sum() == space.records and sizes.min() >= k
    if k > 1:
        assert sizes.max() <= 3 * (k - 1)


def slow_forest(task: Task, space: Space) -> list[tuple[int, int]]:
    """Grow the forest record by record from its definition: edges from a record to another."""
    trees = {record: {record} for record in range(space.records)}
    roots, edges = {record: record for record in trees}, list[tuple[int, int]]()
    while small := [name for name, tree in trees.items() if len(tree) < task.constraints.k]:
        own = trees[small[0]]
        root = roots[small[0]]
        other = min(
            (record for record in range(space.records) if record not in own),
            key=lambda record: (lost(task, space, [root, record]), record),
        )
        edges.append((root, other))
        joined = next(name for name, tree in trees.items() if other in tree)
        trees[joined] |= trees.pop(small[0])
    return edges


@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_the_edges_cost_no_more_than_any_recoding(
    data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace
) -> None:
    """The claim that the bound rests on, by the slow twin: the forest costs at most the least loss."""
    task = without_limits(data.draw(micro.tasks(drawn.tables, "forest", most=8)))
    space = make_space(task, task.by_record)
    cost = sum(lost(task, space, list(edge)) for edge in slow_forest(task, space))
    least = min(
        all_lost(task, space, each) for each in partitions(list(range(space.records)), task.constraints.k)
    )
    assert cost <= least + 1e-9


@given(st.lists(st.integers(1, 5), min_size=1, max_size=14), st.integers(1, 5), st.data())
def test_any_tree_is_divided(weights: list[int], k: int, data: st.DataObject) -> None:
    """Trees of any shape: each cluster is of k records, and of at most 3(k − 1) if blocks are below 2k."""
    weights = [min(weight, max(2 * k - 1, 1)) for weight in weights]
    above = np.array([-1, *(data.draw(st.integers(0, at)) for at in range(len(weights) - 1))], np.int64)
    starts = np.cumsum([0, *weights])
    if starts[-1] < k:
        return
    sizes = np.bincount(divide_forest(above, starts, k=k))
    assert sizes.min() >= k and sizes.sum() == starts[-1]
    assert sizes.max() <= max(3 * (k - 1), 1)


def test_a_chain_and_a_star_by_hand() -> None:
    chain = divide_forest(np.array([-1, 0, 1, 2, 3]), np.arange(6), k=2)
    assert chain.tolist() == [0, 0, 0, 1, 1]  # from the far end: {3, 4}, {1, 2}, and 0 joins the nearest
    star = divide_forest(np.array([-1, 0, 0, 0, 0]), np.arange(6), k=2)
    assert star.tolist() == [0, 0, 0, 1, 1]
