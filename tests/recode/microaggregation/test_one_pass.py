"""One-pass k-means against a slow twin, record by record from its definition."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.microaggregation.microaggregation import clusters_of
from tests.example_counts import examples_of
from tests.recode.microaggregation.twins import Clusters, same, setting


def slow_one_pass(slow: Any, n: int, k: int) -> Clusters:
    m = n // k
    seeds = [cluster * n // m for cluster in range(m)]
    found = [[seed] for seed in seeds]
    for i in range(n):
        if i not in seeds:
            centers = [slow.center(sorted(own)) for own in found]
            found[int(np.argmin([slow.square(center, slow.point(i)) for center in centers]))].append(i)
    centers = [slow.center(sorted(own)) for own in found]
    expelled = []
    for own, center in zip(found, centers, strict=True):
        own.sort(key=lambda i: (slow.square(center, slow.point(i)), i))
        expelled += own[k:]
        del own[k:]
    for i in sorted(expelled):
        small = [c for c in range(m) if len(found[c]) < k] or range(m)
        found[min(small, key=lambda c: (slow.square(centers[c], slow.point(i)), c))].append(i)
    return found


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_one_pass(data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace) -> None:
    task, space, slow = setting(data, drawn, micro, "one_pass")
    labels = clusters_of(task, space)
    assert same(labels, slow_one_pass(slow, space.records, task.constraints.k))
    assert np.bincount(labels).min() >= task.constraints.k
