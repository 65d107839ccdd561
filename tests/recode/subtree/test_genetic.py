"""The genetic search: on small tables it finds the best of all fronts, which brute force knows."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.recode import recode
from tests.example_counts import examples_of
from tests.recode.asking import again
from tests.recode.subtree.questions import distances_from_the_best, random_task


def test_it_finds_the_best_fronts_of_small_tables(fronts: SimpleNamespace) -> None:
    assert np.mean(distances_from_the_best(fronts, "genetic")) < 0.002


@pytest.mark.parametrize("recoder", ["top_down", "annealing", "genetic"])
def test_the_order_of_the_records_does_not_matter(recoder: str, brute: SimpleNamespace) -> None:
    task = random_task(7, recoder)
    order = np.random.default_rng(1).permutation(task.by_record.records)
    one, two = recode(task), recode(again(task, order))
    assert [brute.released(one)[record] for record in order] == brute.released(two)
    assert one.loss == two.loss


@settings(deadline=None, max_examples=examples_of(25))
@given(data=st.data())
def test_limits_are_kept_or_there_is_no_result(
    data: st.DataObject, drawn: SimpleNamespace, fronts: SimpleNamespace
) -> None:
    task = data.draw(drawn.tasks("genetic", "entropy"))
    try:
        found = recode(task)
    except InfeasibleError:
        search = fronts.search(task)
        assert search.size > 6 or all(
            fronts.brute(task, search, state).excess for state in fronts.every(search)
        )
        return
    assert found.suppressed <= task.constraints.max_suppressed
    assert recode(replace(task)).loss == found.loss
