"""Strict Mondrian by counts of single columns makes the cuts that it makes in memory."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.recode import Constraints, Diversity, Task, choose, choose_elsewhere
from anon_pipeline.recode.choice import Choice, apply
from anon_pipeline.recode.mondrian.counter import JointCounter
from tests.example_counts import examples_of
from tests.recode.asking import ask, joint_of, limit_of
from tests.recode.mondrian.test_tries import line

LOSSES = ["precision", "granularity", "entropy", "discernibility", "average_class_size", "classification"]


def answer(task: Task, choice: Choice) -> Any:
    codes = apply(choice, task.by_record.codes)
    values = [own.tolist() for own in choice.values]
    return choice.loss, choice.sizes.tolist(), choice.codes.tolist(), values, codes.tolist()


@settings(deadline=None, max_examples=examples_of(300))
@given(data=st.data())
def test_any_budget_makes_the_same_cuts(data: st.DataObject, drawn: SimpleNamespace) -> None:
    task = data.draw(drawn.tasks("mondrian", data.draw(st.sampled_from(LOSSES))))
    joint, asked = joint_of(task), replace(task, by_record=None)
    counter = JointCounter(joint, task.hierarchies)
    most = data.draw(st.sampled_from([0, 1, 2, 4, 8]))
    try:
        want = choose(asked, joint)
    except InfeasibleError as error:
        with pytest.raises(InfeasibleError) as raised:
            choose_elsewhere(asked, counter, most=most)
        assert (str(raised.value), raised.value.exact) == (str(error), error.exact)
        return
    assert answer(task, choose_elsewhere(asked, counter, most=most)) == answer(task, want)


class Watched:
    def __init__(self, counter: JointCounter) -> None:
        self.counter, self.columns, self.inside = counter, 0, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.counter, name)

    def entries(self, part: Any, column: int) -> Any:
        self.columns += 1
        return self.counter.entries(part, column)

    def joint(self, part: Any, most: int) -> Any:
        found = self.counter.joint(part, most)
        self.inside.append(None if found is None else len(found.weights))
        return found


@pytest.mark.parametrize("limited", [False, True])
def test_50_entries_fit(limited: bool) -> None:
    """4,000 records of four numbers, with t and l: cut by counts of one column until 50 entries are left."""
    rng = np.random.default_rng(8)
    codes = np.minimum(rng.geometric(0.1, (4_000, 4)), 40) - 1
    limits: tuple[Any, ...] = ()
    if limited:
        pay = np.clip(codes[:, 0] // 8 + rng.integers(0, 3, 4_000), 0, 5)
        illness = rng.integers(0, 4, 4_000)
        limits = (
            limit_of("pay", pay, np.bincount(pay), "ordered", None, 0.3),
            limit_of("illness", illness, np.bincount(illness), diversity=Diversity("recursive", 2, 3.0)),
        )
    task = ask(codes, [line(40)] * 4, Constraints(5, 0, limits), "mondrian", "granularity")
    counter = Watched(JointCounter(joint_of(task), task.hierarchies))
    found = choose_elsewhere(replace(task, by_record=None), counter, most=50)
    want = choose(replace(task, by_record=None), joint_of(task))
    assert answer(task, found) == answer(task, want)
    assert len(want.sizes) > 100
    assert counter.columns > 50
    fitting = [entries for entries in counter.inside if entries is not None]
    assert len(fitting) > 50
    assert max(fitting) <= 50


def test_a_part_without_a_cut_is_a_class_however_large(from_rows: Any) -> None:
    """100 records of one tuple with 100 values: nothing to cut, and nothing that would fit."""
    secret = np.arange(100)
    limit = limit_of("s", secret, np.bincount(secret), t=1.0)
    task = ask(np.zeros((100, 1), np.int64), [line(3)], Constraints(2, 0, (limit,)), "mondrian")
    counter = JointCounter(joint_of(task), task.hierarchies)
    found = choose_elsewhere(replace(task, by_record=None), counter, most=10)
    assert (found.sizes.tolist(), found.loss) == ([100], 0.0)
    assert apply(found, np.array([[0], [0]])).tolist() == [[0], [0]]
