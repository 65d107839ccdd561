"""Each algorithm against a slow twin, record by record from its definition."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.microaggregation.closefirst import cluster_size, slice_sizes, tclose_first
from anon_pipeline.recode.microaggregation.excess import judge
from anon_pipeline.recode.microaggregation.merging import make_limits, merge_worst
from anon_pipeline.recode.microaggregation.microaggregation import clusters_of
from anon_pipeline.recode.microaggregation.space import Space, make_space
from anon_pipeline.recode.microaggregation.swapping import kanon_first
from anon_pipeline.recode.microaggregation.univariate import univariate
from anon_pipeline.recode.task import Constraints, Diversity, SensitiveLimit, Task
from anon_pipeline.recode.tuples import distinct_tuples

Clusters = list[list[int]]


def far(slow: Any, records: list[int], target: dict[int, Any]) -> int:
    return max(records, key=lambda i: (slow.square(target, slow.point(i)), i))


def near(slow: Any, records: list[int], target: dict[int, Any], k: int) -> list[int]:
    return sorted(records, key=lambda i: (slow.square(target, slow.point(i)), i))[:k]


def without(records: list[int], gone: list[int]) -> list[int]:
    return [i for i in records if i not in gone]


def slow_mdav(slow: Any, n: int, k: int) -> Clusters:
    left, found = list(range(n)), []
    while len(left) >= 3 * k:
        r = far(slow, left, slow.center(left))
        s = far(slow, left, slow.point(r))
        for corner in (r, s):
            found.append(near(slow, left, slow.point(corner), k))
            left = without(left, found[-1])
    if len(left) >= 2 * k:
        found.append(near(slow, left, slow.point(far(slow, left, slow.center(left))), k))
        left = without(left, found[-1])
    return [*found, left]


def slow_vmdav(slow: Any, n: int, k: int, gamma: float) -> Clusters:
    left, found = list(range(n)), []
    middle = slow.center(left)
    while len(left) >= k:
        own = near(slow, left, slow.point(far(slow, left, middle)), k)
        left = without(left, own)
        while left and len(own) < 2 * k - 1:
            inside = {i: min(slow.square(slow.point(j), slow.point(i)) for j in own) for i in left}
            e = min(left, key=lambda i: (inside[i], i))
            others = [slow.square(slow.point(e), slow.point(i)) for i in left if i != e]
            if inside[e] >= gamma * gamma * min(others, default=math.inf):
                break
            own.append(e)
            left.remove(e)
        found.append(own)
    centers = [slow.center(sorted(own)) for own in found]
    joins = [
        (min(range(len(found)), key=lambda c: (slow.square(centers[c], slow.point(i)), c)), i) for i in left
    ]
    for cluster, i in joins:
        found[cluster].append(i)
    return found


def slow_merge(slow: Any, space: Space, task: Task, labels: np.ndarray) -> Clusters:
    limits = make_limits(space, rules_of(task.constraints))
    found = {c: np.flatnonzero(labels == c).tolist() for c in range(labels.max() + 1)}
    while len(found) > 1:
        missed = {c: judge(limits, np.array(own)) for c, own in found.items()}
        worse = [c for c in found if not missed[c][0]]
        if not worse:
            break
        worst = max(worse, key=lambda c: (missed[c][1], -c))
        center = slow.center(found[worst])
        other = min(
            (c for c in found if c != worst),
            key=lambda c: (slow.square(center, slow.center(found[c])), c),
        )
        gone = found.pop(max(worst, other))
        found[min(worst, other)] = sorted(found[min(worst, other)] + gone)
    return list(found.values())


def slow_cluster(slow: Any, limits: Any, left: list[int], x: int, k: int) -> list[int]:
    """GenerateCluster of Algorithm 5."""
    if len(left) < 2 * k:
        return left
    order = near(slow, left, slow.point(x), len(left))
    own, rest = sorted(order[:k]), order[k:]
    for y in rest:
        kept, now = judge(limits, np.array(own))
        if kept:
            break
        tries = [judge(limits, np.array([*own[:slot], y, *own[slot + 1 :]]))[1] for slot in range(k)]
        if min(tries) < now:
            own[tries.index(min(tries))] = y
    return own


def slow_kanon(slow: Any, space: Space, task: Task) -> Clusters:
    limits, k = make_limits(space, rules_of(task.constraints)), task.constraints.k
    left, found = list(range(space.records)), []
    while left:
        x = far(slow, left, slow.center(left))
        for second in (False, True):
            if second and left:
                x = far(slow, left, slow.point(x))
            if left:
                found.append(slow_cluster(slow, limits, left, x, k))
                left = without(left, found[-1])
    return found


def slow_tclose(slow: Any, codes: np.ndarray, k: int, t: float) -> Clusters:
    n, found = len(codes), []
    size = cluster_size(n, k=k, t=t)
    order, ends = np.argsort(codes, kind="stable"), np.cumsum(slice_sizes(n, size))
    slices = [order[a:b].tolist() for a, b in zip(np.append(0, ends), ends, strict=False)]
    extra, x = [len(one) - n // size for one in slices], -1
    while any(slices):
        left = sorted(i for one in slices for i in one)
        x = far(slow, left, slow.point(x) if len(found) % 2 else slow.center(left))
        own: list[int] = []
        for i, one in enumerate(slices):
            own += (taken := near(slow, one, slow.point(x), 1))
            one.remove(taken[0])
            if extra[i] and len(own) == i + 1:
                own += (taken := near(slow, one, slow.point(x), 1))
                one.remove(taken[0])
                extra[i] -= 1
        found.append(own)
    return found


def same(labels: np.ndarray, clusters: Clusters) -> bool:
    """The same clusters, whatever their names."""
    mine = {frozenset(np.flatnonzero(labels == c).tolist()) for c in range(labels.max() + 1)}
    return mine == {frozenset(own) for own in clusters if own}


def setting(data: st.DataObject, drawn: Any, micro: Any, recoder: str) -> tuple[Task, Space, Any]:
    task = data.draw(micro.tasks(drawn.tables, recoder, most=24))
    space = make_space(task, distinct_tuples(task.codes, task.hierarchies))
    return task, space, micro.slow(space.codes, task.hierarchies)


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_mdav(data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace) -> None:
    task, space, slow = setting(data, drawn, micro, "mdav")
    assert same(clusters_of(task, space), slow_mdav(slow, space.records, task.constraints.k))


@settings(deadline=None, max_examples=150)
@given(data=st.data(), gamma=st.sampled_from([0.0, 0.2, 1.0, 5.0]))
def test_vmdav(data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace, gamma: float) -> None:
    task, space, slow = setting(data, drawn, micro, "vmdav")
    task = Task(task.codes, task.hierarchies, task.constraints, "vmdav", gamma=gamma)
    assert same(clusters_of(task, space), slow_vmdav(slow, space.records, task.constraints.k, gamma))


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_merging(data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace) -> None:
    task, space, slow = setting(data, drawn, micro, "merge")
    first = clusters_of(Task(task.codes, task.hierarchies, task.constraints, "mdav"), space)
    found = merge_worst(space, rules_of(task.constraints), first)
    assert same(found, slow_merge(slow, space, task, first))
    assert same(clusters_of(task, space), slow_merge(slow, space, task, first))


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_kanon_first(data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace) -> None:
    task, space, slow = setting(data, drawn, micro, "kanon_first")
    found = kanon_first(space, rules_of(task.constraints), k=task.constraints.k)
    assert same(found, slow_kanon(slow, space, task))


def test_of_members_with_equal_values_the_first_record_is_exchanged(micro: SimpleNamespace) -> None:
    """Wherever it lies in memory, after others were taken out."""
    leaves = np.arange(3)
    flat = (leaves, np.zeros(3, np.int64))
    values = (np.array(["a", "b", "c"], object), np.array(["*"], object))
    hierarchies = (Hierarchy("x", flat, values),)
    codes = np.array([0] * 7 + [1, 2])[:, None]
    limit = SensitiveLimit(
        "s", np.array([0] * 6 + [1, 0, 1]), np.array([7, 2]), "equal", None, None, Diversity("distinct", 2)
    )
    task = Task(codes, hierarchies, Constraints(2, 0, (limit,)), "kanon_first")
    space = make_space(task, distinct_tuples(codes, hierarchies))
    found = kanon_first(space, rules_of(task.constraints), k=2)
    assert same(found, [[0, 8], [6, 7], [1, 2], [3, 4, 5]])
    assert same(found, slow_kanon(micro.slow(space.codes, hierarchies), space, task))


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_tclose_first(data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace) -> None:
    task, space, slow = setting(data, drawn, micro, "tclose_first")
    k, t = task.constraints.k, task.constraints.sensitive[0].t
    assert t is not None
    found = tclose_first(space, limit=0, k=k, t=t)
    assert same(found, slow_tclose(slow, space.sensitive[0], k, t))


def squares(values: list[int]) -> Fraction:
    mean = Fraction(sum(values), len(values))
    return sum(((value - mean) ** 2 for value in values), Fraction(0))


@settings(deadline=None, max_examples=200)
@given(values=st.lists(st.integers(0, 60), min_size=1, max_size=14), k=st.integers(1, 5))
def test_univariate_is_the_optimum_of_all_partitions(values: list[int], k: int) -> None:
    k = min(k, len(values))
    ranked, best = sorted(values), [Fraction(0)] + [Fraction(10**9)] * len(values)
    for end in range(k, len(ranked) + 1):
        for begin in range(end - k + 1):
            best[end] = min(best[end], best[begin] + squares(ranked[begin:end]))
    labels = univariate(np.array(values, float), k=k)
    classes = [
        [v for v, c in zip(values, labels, strict=True) if c == label] for label in set(labels.tolist())
    ]
    assert min(map(len, classes)) >= k
    assert float(sum(map(squares, classes))) == pytest.approx(float(best[-1]), abs=1e-9)


@pytest.mark.parametrize(
    ("numbers", "classes"),
    [
        ([3.0, math.nan, 1.0, 9.0, math.nan], [0, 1, 0, 0, 1]),
        ([3.0, math.nan, 1.0, 9.0, 8.0], [0, 1, 0, 1, 1]),
        ([3.0, math.nan, math.nan], [0, 0, 0]),
    ],
)
def test_missing_numbers_are_a_class_or_join_the_greatest(numbers: list[float], classes: list[int]) -> None:
    assert univariate(np.array(numbers), k=2).tolist() == classes
