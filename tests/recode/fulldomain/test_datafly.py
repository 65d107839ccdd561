"""Datafly: the walk of its definition, to the first node that keeps everything."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.recode import Constraints, Task, recode
from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.task import Diversity
from tests.example_counts import examples_of
from tests.recode.asking import ask, held, limit_of


def walk(task: Task, judged: dict[tuple[int, ...], Any]) -> tuple[int, ...] | None:
    """[UT Algorithm 2], record by record; None where the walk ends on top without an answer."""
    levels = [0] * len(task.hierarchies)
    while not judged[tuple(levels)].feasible:
        best, column = 0, -1
        for j, hierarchy in enumerate(task.hierarchies):
            domain = len({int(hierarchy.lookups[levels[j]][leaf]) for leaf in task.by_record.codes[:, j]})
            if levels[j] < hierarchy.height - 1 and domain > best:
                best, column = domain, j
        if column < 0:
            return None
        levels[column] += 1
    return tuple(levels)


@settings(deadline=None, max_examples=examples_of(200))
@given(data=st.data())
def test_the_answer_is_where_the_walk_ends_and_keeps_all(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace
) -> None:
    task = data.draw(drawn.questions(recoder="datafly"))
    want = walk(task, {node.levels: node for node in brute.search(task)})
    if want is None:
        with pytest.raises(InfeasibleError):
            recode(task)
        return
    found = recode(task)
    assert found.levels == want
    labels = equivalence_classes(found.codes).labels
    assert not broken_classes(task.constraints, held(task, labels)).any()
    assert found.suppressed == int((labels < 0).sum()) <= task.constraints.max_suppressed


def test_the_largest_domain_is_generalized_first_though_it_costs_more(from_rows: Any) -> None:
    """The report's example: the ZIP code is gone before the sex, which was enough, is looked at."""
    zips = from_rows("zip", [(z, z // 10, "*") for z in range(100, 140)])
    sex = from_rows("sex", [("f", "*"), ("m", "*")])
    codes = np.array([[z, s] for z in range(0, 40, 10) for s in (0, 1)])
    tasks = {
        name: ask(codes, (zips, sex), Constraints(2, 0), recoder=name) for name in ("datafly", "optimal")
    }
    assert recode(tasks["optimal"]).levels == (0, 1)
    assert recode(tasks["datafly"]).levels == (2, 0)


def test_it_goes_on_until_l_holds(from_rows: Any) -> None:
    hierarchy = from_rows("x", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")])
    codes = np.array([[0], [0], [1], [1], [2], [2]])
    secret = limit_of("s", np.array([0, 0, 0, 0, 1, 1]), np.array([4, 2]), diversity=Diversity("distinct", 2))
    for limits, level in (((), 0), ((secret,), 2)):
        task = ask(codes, (hierarchy,), Constraints(2, 0, limits), recoder="datafly")
        assert recode(task).levels == (level,)
