"""Minimal nodes under constraints that are not monotone, and the preference criteria between nodes."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.catalog.recoders import PREFERENCES
from anon_pipeline.recode import Constraints, Task, recode
from anon_pipeline.recode.fulldomain.candidates import choose_preferred, lowest_feasible
from anon_pipeline.recode.fulldomain.ola import minimal_nodes
from anon_pipeline.recode.fulldomain.search import (
    Search,
    is_feasible,
    is_k_anonymous,
    prepare_search,
)
from anon_pipeline.recode.task import Diversity
from tests.example_counts import examples_of
from tests.recode.asking import ask, counts_of, limit_of


def k_minimal_nodes(search: Search) -> list[tuple[int, ...]]:
    """Return the minimal nodes that keep k, whatever else they break."""
    constraints = replace(search.task.constraints, sensitive=())
    return minimal_nodes(replace(search, task=replace(search.task, constraints=constraints)))


def searched(task: Task) -> Search:
    return prepare_search(task, counts_of(task))


@settings(deadline=None, max_examples=examples_of(200))
@given(data=st.data())
def test_climbing_from_the_k_minimal_nodes_finds_every_minimal_one(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace
) -> None:
    task = data.draw(drawn.questions())
    search, nodes = searched(task), brute.search(task)
    assert [is_k_anonymous(search, index) for index in range(len(nodes))] == [x.anonymous for x in nodes]
    assert [is_feasible(search, index) for index in range(len(nodes))] == [x.feasible for x in nodes]
    roots = [search.nodes.index(levels) for levels in k_minimal_nodes(search)]
    want = brute.lowest([node for node in nodes if node.feasible])
    found = lowest_feasible(search, roots)
    assert sorted(search.nodes.levels(index) for index in found) == [node.levels for node in want]
    assert [sum(search.nodes.levels(index)) for index in found] == sorted(sum(x.levels) for x in want)


@pytest.mark.parametrize("prefer", PREFERENCES)
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_ola_prefers_among_the_minimal_nodes(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, prefer: Any
) -> None:
    task = data.draw(drawn.questions(recoder="ola", prefer=prefer))
    minimal = brute.lowest([node for node in brute.search(task) if node.feasible])
    if not minimal:
        with pytest.raises(InfeasibleError):
            recode(task)
        return
    assert recode(task).levels == brute.best(task, minimal).levels


def test_the_criteria_choose_between_two_minimal_nodes(from_rows: Any) -> None:
    """(0, 1) is one of one step and suppresses none; (2, 0) is two of three and leaves six classes."""
    x = from_rows("x", [(a, a, "ab" if a in "ab" else a, "*") for a in "abcde"])
    y = from_rows("y", [("u", "*"), ("v", "*")])
    codes = np.array([[a, b] for a in range(5) for b in (0, 1)] + [[a, b] for a in (2, 3) for b in (0, 1)])
    chosen = {}
    for prefer in PREFERENCES:
        task = ask(codes, (x, y), Constraints(2, 2), recoder="ola", prefer=prefer)
        chosen[prefer] = recode(task).levels
    assert chosen == {
        "loss": (2, 0),
        "least_absolute_distance": (0, 1),
        "least_relative_distance": (2, 0),
        "most_distinct_tuples": (2, 0),
        "least_suppression": (0, 1),
    }
    heavy = ask(codes, (x, y), Constraints(2, 2), recoder="ola", weights=(9, 1))
    assert recode(heavy).levels == (0, 1)
    assert recode(replace(heavy, prefer="least_relative_distance")).levels == (2, 0)


def test_a_minimal_node_may_lie_above_one_that_breaks_t(from_rows: Any) -> None:
    """The k-minimal node has two classes, each of one value: only the top keeps l = 2."""
    hierarchy = from_rows("x", [("a", "*"), ("b", "*")])
    secret = limit_of("s", np.array([0, 0, 1, 1]), np.array([2, 2]), diversity=Diversity("distinct", 2))
    task = ask(
        np.array([[0], [0], [1], [1]]), (hierarchy,), Constraints(2, 0, (secret,)), recoder="incognito"
    )
    search = searched(task)
    assert k_minimal_nodes(search) == [(0,)]
    assert lowest_feasible(search, [0]) == [1]


def test_nothing_found_is_infeasible_and_says_why(from_rows: Any) -> None:
    secret = limit_of("s", np.array([0, 0, 0, 1]), np.array([3, 1]), diversity=Diversity("entropy", 2))
    task = ask(
        np.array([[0], [0], [1], [1]]),
        (from_rows("x", [("a", "*"), ("b", "*")]),),
        Constraints(2, 1, (secret,)),
        recoder="incognito",
    )
    with pytest.raises(InfeasibleError, match=r"entropy l = 2 in s: l_diversity.s fails for"):
        choose_preferred(searched(task), [])
