"""Annealing: no worse than what it begins with, mostly as good as the best of all fronts."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.recode import recode
from tests.example_counts import examples_of
from tests.recode.subtree.questions import distances_from_the_best, random_task


def lost(task, recoder: str) -> float:
    try:
        return recode(replace(task, recoder=recoder)).loss
    except InfeasibleError:
        return 2.0


@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None, max_examples=examples_of(40))
@given(data=st.data())
def test_it_loses_no_more_than_optimal_and_top_down(
    data: st.DataObject, drawn: SimpleNamespace, loss: str
) -> None:
    task = data.draw(drawn.tasks("annealing", loss))
    assert lost(task, "annealing") <= min(lost(task, "optimal"), lost(task, "top_down")) + 1e-12


def test_it_finds_the_best_fronts_of_small_tables(fronts: SimpleNamespace) -> None:
    assert np.mean(distances_from_the_best(fronts, "annealing")) < 0.002


def test_where_the_lattice_is_too_large_it_begins_with_top_down() -> None:
    task = replace(random_task(3, "annealing"), most_nodes=1)
    assert recode(task).loss <= lost(task, "top_down") + 1e-12
