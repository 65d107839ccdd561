"""MDAV and V-MDAV against slow twins, record by record from their definitions."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.microaggregation.microaggregation import clusters_of
from tests.example_counts import examples_of
from tests.recode.microaggregation.twins import Clusters, far, near, same, setting, without


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


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_mdav(data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace) -> None:
    task, space, slow = setting(data, drawn, micro, "mdav")
    assert same(clusters_of(task, space), slow_mdav(slow, space.records, task.constraints.k))


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data(), gamma=st.sampled_from([0.0, 0.2, 1.0, 5.0]))
def test_vmdav(data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace, gamma: float) -> None:
    task, space, slow = setting(data, drawn, micro, "vmdav")
    task = replace(task, recoder="vmdav", gamma=gamma)
    assert same(clusters_of(task, space), slow_vmdav(slow, space.records, task.constraints.k, gamma))
