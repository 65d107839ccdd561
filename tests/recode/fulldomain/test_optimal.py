"""The optimum and the minimal nodes against every node of the lattice, for every loss and constraint."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.recode.choice import recoding_of
from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.fulldomain.best_node import node_choice
from anon_pipeline.recode.fulldomain.fast import shortcuts
from anon_pipeline.recode.fulldomain.ola import minimal_nodes, ola
from anon_pipeline.recode.fulldomain.optimal import optimal
from anon_pipeline.recode.fulldomain.search import (
    Search,
    is_feasible,
    prepare_search,
)
from tests.example_counts import examples_of
from tests.recode.asking import ask, counts_of, held, limit_of


def k_minimal_nodes(search: Search) -> list[tuple[int, ...]]:
    """Return the minimal nodes that keep k, whatever else they break."""
    constraints = replace(search.task.constraints, sensitive=())
    return minimal_nodes(replace(search, task=replace(search.task, constraints=constraints)))


def least(nodes: list[SimpleNamespace]) -> SimpleNamespace:
    """[methods 4]: lower loss, then fewer suppressed, then lower total level, then lexicographic levels."""
    return min(nodes, key=lambda node: (node.loss, node.suppressed, sum(node.levels), node.levels))


def lowest(nodes: list[SimpleNamespace]) -> list[SimpleNamespace]:
    return [
        a for a in nodes if not any(b is not a and all(map(int.__le__, b.levels, a.levels)) for b in nodes)
    ]


@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_optimal_is_the_least_of_all_nodes_that_keep_everything(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, loss: Any
) -> None:
    task = data.draw(drawn.tasks("optimal", loss))
    search = prepare_search(task, counts_of(task))
    feasible = [node for node in brute.search(task) if node.feasible]
    if not feasible:
        with pytest.raises(InfeasibleError):
            optimal(search)
        return
    want, got = least(feasible), optimal(search)
    assert (search.nodes.levels(got.node), got.suppressed) == (want.levels, want.suppressed)
    assert search.units.loss(got.score) == want.loss
    recoding = recoding_of(node_choice(search, got), task.by_record.labels)
    labels = np.where(recoding.codes[:, 0] < 0, -1, brute.labels(task, want.levels))
    labels[labels >= 0] = np.unique(labels[labels >= 0], return_inverse=True)[1]
    assert not broken_classes(task.constraints, held(task, labels)).any()
    assert int((labels < 0).sum()) == recoding.suppressed == want.suppressed
    assert recoding.loss == pytest.approx(float(want.loss))


@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None, max_examples=examples_of(80))
@given(data=st.data())
def test_ola_is_the_best_of_the_minimal_nodes_that_keep_everything(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, loss: Any
) -> None:
    task = data.draw(drawn.tasks("ola", loss))
    search = prepare_search(task, counts_of(task))
    nodes = brute.search(task)
    assert k_minimal_nodes(search) == [n.levels for n in lowest([n for n in nodes if n.anonymous])]
    minimal = lowest([node for node in nodes if node.feasible])
    assert minimal_nodes(search) == [node.levels for node in minimal]
    if not minimal:
        with pytest.raises(InfeasibleError, match="fails for"):
            ola(search)
        return
    want, got = least(minimal), ola(search)
    assert (search.nodes.levels(got.node), search.units.loss(got.score)) == (want.levels, want.loss)


def test_t_is_not_monotone_and_not_pruned_on(from_rows: Any) -> None:
    """One suppressed class makes the bottom close; merged with another it is too far and too large to go."""
    from anon_pipeline.recode import Constraints

    hierarchy = from_rows("x", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")])
    codes = np.array([[0]] * 2 + [[1]] * 4 + [[2]] * 4)
    values = np.array([1, 1, 0, 1, 0, 1, 0, 1, 0, 1])
    whole = np.array([5, 5])
    for limit, loss in ((2, "precision"), (2, "discernibility")):
        sensitive = limit_of("s", values, whole, "equal", None, 0.05)
        task = ask(codes, (hierarchy,), Constraints(2, limit, (sensitive,)), "optimal", loss=loss)
        search = prepare_search(task, counts_of(task))
        assert [is_feasible(search, index) for index in range(3)] == [True, False, False]
        assert optimal(search).node == ola(search).node == 0


def test_nothing_feasible_is_said_by_the_constraint_in_the_way(from_rows: Any) -> None:
    from anon_pipeline.recode import Constraints

    hierarchy = from_rows("x", [("a", "*"), ("b", "*")])
    codes, values = np.array([[0]] * 4 + [[1]] * 4), np.array([0, 0, 0, 1] * 2)
    sensitive = limit_of("illness", values, np.array([2, 14]), "equal", None, 0.1)
    for recoder in (optimal, ola):
        task = ask(codes, (hierarchy,), Constraints(2, 3, (sensitive,)), "optimal")
        search = prepare_search(task, counts_of(task))
        with pytest.raises(InfeasibleError) as caught:
            recoder(search)
        text = str(caught.value)
        assert "for 8 of 8 records (its worst class is at 0.625)" in caught.value.exact
        assert "t_closeness.illness fails for more records than the 3" in text
        assert "0.625" not in text
        assert "Relax that limit, raise suppression_limit" in text


@pytest.mark.parametrize("loss", LOSSES)
def test_little_memory_changes_nothing(loss: Any) -> None:
    """Tables are thrown away and made again; the answer and what was counted stay."""
    rng = np.random.default_rng(5)
    from anon_pipeline.hierarchy.hierarchy import Hierarchy
    from anon_pipeline.recode import Constraints

    lookups = (np.arange(8), np.arange(8) // 2, np.arange(8) // 4, np.zeros(8, np.int64))
    values = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in lookups)
    hierarchies = tuple(Hierarchy(f"c{column}", lookups, values) for column in range(5))
    codes = rng.integers(0, 8, (3000, 5)) // rng.integers(1, 4, (3000, 5))
    target = rng.integers(0, 3, 3000)
    task = ask(codes, hierarchies, Constraints(4, 150), "optimal", loss=loss, target=target)
    answers = []
    for places, size in ((512, 2**28), (3, 2**28), (512, 60_000), (512, 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shortcuts, "_PLACES", places)
            patch.setattr(shortcuts, "_BYTES", size)
            search = prepare_search(task, counts_of(task))
            answers.append((optimal(search), sorted(search.seen)))
            assert len(search.tables.shortcuts.kept.tables) <= places
            assert search.tables.shortcuts.kept.bytes <= size
    assert answers == answers[:1] * 4
