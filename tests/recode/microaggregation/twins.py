"""What the slow twins of the algorithms share: far and near records, and what is compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from anon_pipeline.recode.microaggregation.space import Space, make_space
from anon_pipeline.recode.task import Task

Clusters = list[list[int]]


def far(slow: Any, records: list[int], target: dict[int, Any]) -> int:
    return max(records, key=lambda i: (slow.square(target, slow.point(i)), i))


def near(slow: Any, records: list[int], target: dict[int, Any], k: int) -> list[int]:
    return sorted(records, key=lambda i: (slow.square(target, slow.point(i)), i))[:k]


def without(records: list[int], gone: list[int]) -> list[int]:
    return [i for i in records if i not in gone]


def same(labels: np.ndarray, clusters: Clusters) -> bool:
    """The same clusters, whatever their names."""
    mine = {frozenset(np.flatnonzero(labels == c).tolist()) for c in range(labels.max() + 1)}
    return mine == {frozenset(own) for own in clusters if own}


def setting(data: st.DataObject, drawn: Any, micro: Any, recoder: str) -> tuple[Task, Space, Any]:
    task = data.draw(micro.tasks(drawn.tables, recoder, most=24))
    space = make_space(task, task.by_record)
    return task, space, micro.slow(space.codes, task.hierarchies)
