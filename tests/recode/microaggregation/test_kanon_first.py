"""k-anonymity first against a slow twin, record by record from its definition."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.microaggregation.excess import judge
from anon_pipeline.recode.microaggregation.kanon_first import kanon_first
from anon_pipeline.recode.microaggregation.merge import make_limits
from anon_pipeline.recode.microaggregation.space import Space, make_space
from anon_pipeline.recode.task import Constraints, Diversity, Task
from tests.example_counts import examples_of
from tests.recode.asking import ask, limit_of
from tests.recode.microaggregation.twins import Clusters, far, near, same, setting, without


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


@settings(deadline=None, max_examples=examples_of(150))
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
    limit = limit_of(
        "s", np.array([0] * 6 + [1, 0, 1]), np.array([7, 2]), "equal", None, None, Diversity("distinct", 2)
    )
    task = ask(codes, hierarchies, Constraints(2, 0, (limit,)), "kanon_first")
    space = make_space(task, task.by_record)
    found = kanon_first(space, rules_of(task.constraints), k=2)
    assert same(found, [[0, 8], [6, 7], [1, 2], [3, 4, 5]])
    assert same(found, slow_kanon(micro.slow(space.codes, hierarchies), space, task))
