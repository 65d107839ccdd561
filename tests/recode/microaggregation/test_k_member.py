"""k-member against a slow twin, which adds up ranges and levels from the definition."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.microaggregation.microaggregation import clusters_of
from anon_pipeline.recode.microaggregation.space import Space
from anon_pipeline.recode.task import Task
from tests.example_counts import examples_of
from tests.recode.microaggregation.twins import Clusters, far, same, setting, without


def lost(task: Task, space: Space, members: list[int]) -> float:
    """What one record of a cluster loses: ranges of numbers, levels of categories, all columns."""
    total = 0.0
    for row in space.numbers:
        own = [row[i] for i in members]
        known = [x for x in own if not math.isnan(x)]
        if known:
            total += max(known) - min(known) if len(known) == len(own) else 1.0
    for column in space.nominal:
        hierarchy = task.hierarchies[column]
        own = [int(space.codes[i, column]) for i in members]
        level = next(
            at for at, lookup in enumerate(hierarchy.lookups) if len({int(lookup[x]) for x in own}) == 1
        )
        total += level / max(1, hierarchy.height - 1)
    return total


def slow_k_member(task: Task, space: Space, slow: SimpleNamespace) -> Clusters:
    k, left, found = task.constraints.k, list(range(space.records)), []
    target = slow.center(left)
    while len(left) >= k:
        own = [far(slow, left, target)]
        left = without(left, own)
        while len(own) < k:
            own.append(min(left, key=lambda i: (lost(task, space, [*own, i]), i)))
            left = without(left, own)
        target = slow.point(own[-1])
        found.append(own)
    for i in left:
        more = [
            (len(own) + 1) * lost(task, space, [*own, i]) - len(own) * lost(task, space, own) for own in found
        ]
        found[int(np.argmin(more))].append(i)
    return found


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_k_member(data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace) -> None:
    task, space, slow = setting(data, drawn, micro, "k_member")
    assert same(clusters_of(task, space), slow_k_member(task, space, slow))
