"""More clusters than Algorithm 6 makes, never with more error, and within all limits."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.recode import recode
from anon_pipeline.recode.constraints import broken_classes, rules_of
from anon_pipeline.recode.microaggregation.centroids import error_of
from anon_pipeline.recode.microaggregation.merge import merge
from anon_pipeline.recode.microaggregation.microaggregation import clusters_of
from anon_pipeline.recode.microaggregation.slices import (
    form_by_algorithm_6,
)
from anon_pipeline.recode.microaggregation.space import Space, make_space
from anon_pipeline.recode.task import Task
from tests.example_counts import examples_of
from tests.recode.asking import held


def spaced(asked: Task) -> Space:
    return make_space(asked, asked.by_record)


def book(asked: Task, space: Space) -> np.ndarray:
    """Algorithm 6 and, where ties leave more than t, Algorithm 4."""
    k, t = asked.constraints.k, asked.constraints.sensitive[0].t
    return merge(space, rules_of(asked.constraints), form_by_algorithm_6(space, limit=0, k=k, t=t or 0.0))


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_never_worse_than_algorithm_6_and_within_all_limits(
    data: st.DataObject, drawn: Any, micro: Any
) -> None:
    asked = data.draw(micro.tasks(drawn.tables, "tclose_first", most=40))
    space = spaced(asked)
    labels, plain = clusters_of(asked, space), book(asked, space)
    assert labels.max() >= plain.max()
    assert error_of(space, labels) <= error_of(space, plain)
    assert np.bincount(labels).min() >= asked.constraints.k
    rows = np.empty(len(labels), np.int64)
    rows[space.order] = labels
    assert labels.max() == 0 or not broken_classes(asked.constraints, held(asked, rows)).any()
    try:
        recoding = recode(asked)
    except InfeasibleError:
        return
    kept = recoding.codes[:, 0] >= 0
    released = np.unique(recoding.codes[kept], axis=0, return_inverse=True)[1].ravel()
    names = np.full(len(kept), -1)
    names[kept] = released
    assert not broken_classes(asked.constraints, held(asked, names)).any()
