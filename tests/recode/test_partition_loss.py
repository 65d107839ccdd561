"""A finished partition loses what the search said of its node, by every loss."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.catalog.losses import LOSSES, WEIGHED
from anon_pipeline.recode.loss import ColumnCosts, cell_costs, cell_loss, information
from anon_pipeline.recode.partition_loss import measured_loss
from tests.example_counts import examples_of
from tests.recode.asking import held


@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_a_finished_partition_measures_as_the_search_scores_it(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, loss: Any
) -> None:
    task = data.draw(drawn.tasks("optimal", loss, columns=0))
    n = len(task.by_record.codes)
    for node in brute.search(task):
        labels = brute.labels(task, node.levels)
        kept = np.bincount(labels)[labels] >= task.constraints.k
        columns, kind = [], cell_loss(loss)
        for hierarchy, level, leaves in zip(
            task.hierarchies, node.levels, task.by_record.codes.T, strict=True
        ):
            counts = np.bincount(leaves, minlength=hierarchy.leaves).astype(np.int64)
            costs = cell_costs(hierarchy, loss, counts)[level][hierarchy.lookups[level][leaves]]
            own = [int(costs[labels == group][0]) for group in np.unique(labels[kept])]
            offset = float(counts @ information(counts)) if loss == "entropy" else 0.0
            columns.append(ColumnCosts(np.array(own), kind.suppressed(hierarchy, n) if kind else 0, offset))
        compact = np.full(n, -1)
        compact[kept] = np.unique(labels[kept], return_inverse=True)[1]
        got = measured_loss(task, held(task, compact), columns if loss in WEIGHED else ())
        assert got == pytest.approx(float(node.loss), abs=1e-9)
