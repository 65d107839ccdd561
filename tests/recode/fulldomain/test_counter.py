"""Counting a node part by part, wherever the table is, adds up to counting it at once."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.fulldomain.counter import TableCounter
from anon_pipeline.recode.fulldomain.nodes import NodeCount
from anon_pipeline.recode.fulldomain.search import count, prepare_search
from tests.example_counts import examples_of
from tests.recode.asking import counts_of

LOSSES = ["precision", "entropy", "discernibility", "average_class_size", "classification"]


def told(found: NodeCount, limit: int) -> Any:
    """What a search may rely on: what is lasting and final only as far as it is within the limit."""
    if found.small > limit:
        return found.small, found.whole
    if found.lasting.suppressed > limit:
        return found.small, found.whole, found.lasting.suppressed
    return found.small, found.whole, found.lasting, found.final


@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None, max_examples=examples_of(80))
@given(data=st.data())
def test_parts_add_up_at_every_node(data: st.DataObject, drawn: SimpleNamespace, loss: str) -> None:
    task = data.draw(drawn.tasks("optimal", loss))
    table = counts_of(task)
    search = prepare_search(task, table)
    counter = TableCounter(task, table, parts=data.draw(st.integers(1, 5)))
    for index in range(search.nodes.size):
        levels = search.nodes.levels(index)
        assert told(counter.count(levels), search.limit) == told(count(search, index), search.limit)


@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_a_table_counter_answers_from_the_records(data: st.DataObject, drawn: SimpleNamespace) -> None:
    task = data.draw(drawn.tasks("optimal", "precision"))
    own, counter = task.by_record, TableCounter(task, counts_of(task))
    assert counter.records == own.records
    for column, leaves in enumerate(counter.leaves()):
        want = np.bincount(own.codes[:, column], minlength=task.hierarchies[column].leaves)
        assert leaves.tolist() == want.tolist()
    for values, codes in zip(counter.values(), own.sensitive, strict=True):
        assert values.tolist() == np.bincount(codes).tolist()
    q = len(task.hierarchies)
    for one, other in ((0, q - 1), (q - 1, 0)):
        pairs, counts = counter.pairs(one, other)
        distinct, want = np.unique(own.codes[:, [one, other]], axis=0, return_counts=True)
        assert (pairs.tolist(), counts.tolist()) == (distinct.tolist(), want.tolist())


def test_a_table_that_does_not_fit_is_none(drawn: SimpleNamespace, from_rows: Any) -> None:
    from anon_pipeline.recode import Constraints
    from tests.recode.asking import ask, limit_of

    hierarchy = from_rows("x", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")])
    secret = np.array([0, 1, 2, 0, 1])
    limit = limit_of("s", secret, np.bincount(secret), t=1.0)
    task = ask(np.array([[0], [0], [0], [1], [2]]), (hierarchy,), Constraints(1, 0, (limit,)), "ola")
    counter = TableCounter(task, counts_of(task))
    assert counter.table([0], 4) is None  # three tuples, and five values of them
    assert counter.table([0], 5).counts.tolist() == [3, 1, 1]
    assert counter.table([1], 4).counts.tolist() == [4, 1]
    bare = TableCounter(task, replace(counts_of(task), counted=None))
    assert (bare.table([0], 2), bare.table([0], 3).counts.tolist()) == (None, [3, 1, 1])
    assert bare.values() == ()
