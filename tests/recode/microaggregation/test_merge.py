"""Merging clusters against a slow twin, record by record from its definition."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.microaggregation.excess import judge
from anon_pipeline.recode.microaggregation.merge import make_limits, merge
from anon_pipeline.recode.microaggregation.microaggregation import clusters_of
from anon_pipeline.recode.microaggregation.space import Space
from anon_pipeline.recode.task import Task
from tests.example_counts import examples_of
from tests.recode.microaggregation.twins import Clusters, same, setting


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


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_merging(data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace) -> None:
    task, space, slow = setting(data, drawn, micro, "merge")
    first = clusters_of(replace(task, recoder="mdav"), space)
    found = merge(space, rules_of(task.constraints), first)
    assert same(found, slow_merge(slow, space, task, first))
    assert same(clusters_of(task, space), slow_merge(slow, space, task, first))
