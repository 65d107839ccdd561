"""Incognito against brute force: k-anonymous nodes, k-minimal nodes, and its choice under all constraints."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError, InputError
from anon_pipeline.catalog.recoders import PREFERENCES
from anon_pipeline.recode import Constraints, recode
from anon_pipeline.recode.fulldomain import incognito as module
from anon_pipeline.recode.fulldomain.incognito import k_anonymous_nodes
from anon_pipeline.recode.fulldomain.ola import lowest_nodes, minimal_nodes
from anon_pipeline.recode.fulldomain.search import prepare_search
from anon_pipeline.recode.tuples import distinct_tuples
from tests.example_counts import examples_of
from tests.recode.asking import ask, counts_of


@settings(deadline=None, max_examples=examples_of(200))
@given(data=st.data())
def test_incognito_ola_and_brute_force_agree_on_the_k_minimal_nodes(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace
) -> None:
    task = data.draw(drawn.questions(limited=False, recoder="incognito"))
    search = prepare_search(task, counts_of(task))
    nodes = brute.search(task)
    anonymous, _ = k_anonymous_nodes(
        search.source.table, task.hierarchies, k=task.constraints.k, limit=search.limit
    )
    assert anonymous.reshape(-1).tolist() == [node.anonymous for node in nodes]
    want = [node.levels for node in brute.lowest([node for node in nodes if node.anonymous])]
    assert [search.nodes.levels(index) for index in lowest_nodes(anonymous)] == want
    assert minimal_nodes(search) == want


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_without_a_column_no_more_records_are_suppressed(data: st.DataObject, drawn: SimpleNamespace) -> None:
    """The subset property with a suppression limit, as the docstring proves it."""
    task = data.draw(drawn.questions(limited=False))
    k, n = task.constraints.k, len(task.by_record.codes)
    limit = min(task.constraints.max_suppressed, n - 1)

    def suppressed(columns: list[int], levels: list[int]) -> int:
        rows = [
            tuple(
                int(task.hierarchies[j].lookups[level][row[j]])
                for j, level in zip(columns, levels, strict=True)
            )
            for row in task.by_record.codes
        ]
        return sum(rows.count(row) < k for row in rows)

    levels = [data.draw(st.integers(0, h.height - 1)) for h in task.hierarchies]
    columns = list(range(len(levels)))
    for out in columns:
        fewer = [j for j in columns if j != out]
        assert suppressed(fewer, [levels[j] for j in fewer]) <= suppressed(columns, levels)
    assert 0 <= limit < n


@pytest.mark.parametrize("prefer", PREFERENCES)
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_the_answer_is_the_preferred_minimal_node_that_keeps_all(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, prefer: Any
) -> None:
    task = data.draw(drawn.questions(recoder="incognito", prefer=prefer))
    minimal = brute.lowest([node for node in brute.search(task) if node.feasible])
    if not minimal:
        with pytest.raises(InfeasibleError):
            recode(task)
        return
    found, want = recode(task), brute.best(task, minimal)
    assert (found.levels, found.suppressed) == (want.levels, want.suppressed)
    assert found.loss == pytest.approx(float(want.loss), abs=1e-12)


def test_tables_beyond_the_bytes_are_made_from_the_records(
    monkeypatch: pytest.MonkeyPatch, from_rows: Any
) -> None:
    hierarchies = tuple(
        from_rows(name, [(a, a // 2, a // 4, "*") for a in range(8)]) for name in ("x", "y", "z")
    )
    codes = np.random.default_rng(0).integers(0, 8, (60, 3))
    table, _ = distinct_tuples(codes, hierarchies)
    whole, counted = k_anonymous_nodes(table, hierarchies, k=3, limit=6)
    monkeypatch.setattr(module, "_MOST_BYTES", 0)
    again, as_often = k_anonymous_nodes(table, hierarchies, k=3, limit=6)
    assert (whole == again).all()
    assert counted == as_often
    assert whole.any()
    assert not whole.all()


def test_a_set_that_is_not_anonymous_saves_the_sets_above_it(from_rows: Any) -> None:
    """Column x alone is anonymous on top only, so of the 4 × 4 nodes of both no more than 4 are counted."""
    x, y = (from_rows(name, [(a, a // 2, a // 4, "*") for a in range(8)]) for name in ("x", "y"))
    codes = np.stack([np.arange(8), np.zeros(8, np.int64)], axis=1)
    _, counted = k_anonymous_nodes(distinct_tuples(codes, (x, y))[0], (x, y), k=8, limit=0)
    assert counted == 4 + 1 + 1


def test_too_many_sets_of_columns_are_refused_with_their_size(from_rows: Any) -> None:
    hierarchies = tuple(from_rows(f"c{j}", [("a", "*"), ("b", "*")]) for j in range(4))
    task = ask(np.zeros((5, 4), np.int64), hierarchies, Constraints(2, 0), recoder="incognito", most_nodes=50)
    with pytest.raises(InputError, match=r"at most 50 nodes together for incognito, got 80. Use ola"):
        recode(task)


def test_it_says_how_far_it_is_before_each_set_of_columns(from_rows: Any) -> None:
    hierarchies = tuple(from_rows(f"c{j}", [("a", "*"), ("b", "*")]) for j in range(3))
    told: list[Any] = []
    codes = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1]])
    recode(ask(codes, hierarchies, Constraints(2, 0), recoder="incognito", told=told.append))
    searching = [(each.counted, each.counted + each.left) for each in told if each.doing == "searching"]
    assert searching[0] == (0, 26)
    assert {together for _, together in searching[:7]} == {26}
    assert [counted for counted, _ in searching[:7]] == sorted(counted for counted, _ in searching[:7])


def test_no_columns_is_one_node() -> None:
    assert recode(ask(np.zeros((4, 0), np.int64), (), Constraints(4, 0), recoder="incognito")).levels == ()
