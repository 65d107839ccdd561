"""k-Optimize: the best of all fronts, whatever the loss and the limits, or the best that was seen."""

from __future__ import annotations

import weakref
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.base.observer import Step
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import Constraints, recode
from anon_pipeline.recode.subtree import k_optimize
from tests.example_counts import examples_of
from tests.recode.asking import ask
from tests.recode.subtree.questions import distances_from_the_best, random_task
from tests.recode.subtree.test_annealing import lost


@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_it_is_the_best_of_all_fronts(
    data: st.DataObject, drawn: SimpleNamespace, fronts: SimpleNamespace, loss: str
) -> None:
    task = data.draw(drawn.tasks("k_optimize", loss))
    search = fronts.search(task)
    if search.size > 10:
        return
    every = [fronts.brute(task, search, state) for state in fronts.every(search)]
    kept = [own.loss for own in every if not own.excess]
    if not kept:
        with pytest.raises(InfeasibleError):
            recode(task)
        return
    state = k_optimize.k_optimize(search)
    assert fronts.brute(task, search, state).loss == min(kept)


def test_it_finds_the_best_fronts_of_twenty_tables(fronts: SimpleNamespace) -> None:
    assert max(distances_from_the_best(fronts, "k_optimize")) == 0


def test_it_looks_at_few_of_all_states(fronts: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = list[int]()
    real = k_optimize.classes_of

    def counting(*given: object) -> object:
        looks[-1] += 1
        return real(*given)

    monkeypatch.setattr(k_optimize, "classes_of", counting)
    for seed in range(5):
        looks.append(0)
        search = fronts.search(random_task(seed, "k_optimize", columns="abc", records=200))
        assert search.size == 12
        k_optimize.k_optimize(search)
    assert max(looks) < 2**12 / 4


@pytest.mark.parametrize("most", [0, 2, 40])
def test_stopped_early_it_loses_no_more_than_what_it_began_with(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(k_optimize, "_MOST_LOOKS", most)
    for seed in range(8):
        said = list[object]()
        task = replace(random_task(seed, "k_optimize", columns="abc", records=150), told=said.append)
        assert lost(task, "k_optimize") <= min(lost(task, "optimal"), lost(task, "top_down")) + 1e-12
        proven = Step("k_optimize: nothing loses less") in said
        stopped = Step(f"k_optimize: stopped after {most} states, at the best one seen") in said
        assert proven != stopped and (stopped or most == 40)


def test_scores_beyond_64_bits_are_exact(fronts: SimpleNamespace) -> None:
    weights = (1 / 3, 0.123456789012345678)
    for seed in range(3):
        task = replace(random_task(seed, "k_optimize"), weights=weights)
        search = fronts.search(task)
        assert search.units.suppressed * search.table.records >= 2**62
        every = [fronts.brute(task, search, state) for state in fronts.every(search)]
        best = min(own.loss for own in every if not own.excess)
        assert fronts.brute(task, search, k_optimize.k_optimize(search)).loss == best


def test_records_that_were_gone_before_count_for_the_bound(fronts: SimpleNamespace) -> None:
    values = tuple(np.array(own, object) for own in (list("0123"), ["x", "y"], ["*"]))
    lookups = (np.arange(4), np.arange(4) // 2, np.zeros(4, np.int64))
    hierarchies = [Hierarchy(column, lookups, values) for column in "ab"]
    codes = np.array([[2, 2], [1, 3], [1, 2], [1, 1], [3, 0], [2, 1], [2, 3], [1, 2], [2, 1]])
    limits = Constraints(2, 0)
    task = ask(codes, hierarchies, limits, recoder="k_optimize", loss="average_class_size", gone=1)
    search = fronts.search(task)
    every = [fronts.brute(task, search, state) for state in fronts.every(search)]
    assert recode(task).loss == float(min(own.loss for own in every if not own.excess)) == 0.25


def test_what_waits_holds_no_classes(fronts: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    alive = list[weakref.ref[object]]()
    real, most = k_optimize.classes_of, [0]

    def watched(*given: object) -> object:
        found = real(*given)
        alive.append(weakref.ref(found.labels))
        most.append(sum(one() is not None for one in alive))
        return found

    monkeypatch.setattr(k_optimize, "classes_of", watched)
    k_optimize.k_optimize(fronts.search(random_task(1, "k_optimize", columns="abc", records=300)))
    assert len(alive) > 20 and max(most) < 12
