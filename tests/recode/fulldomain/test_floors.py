"""Nodes that single columns and pairs rule out, against every node of the lattice, counted."""

from __future__ import annotations

import itertools
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.fulldomain.counter import TableCounter
from anon_pipeline.recode.fulldomain.floors import marginal_floors
from anon_pipeline.recode.fulldomain.lattice import lattice
from tests.example_counts import examples_of
from tests.recode.asking import counts_of


def small(task: Any, columns: tuple[int, ...], levels: tuple[int, ...]) -> int:
    """Records in classes below k of some columns alone, counted one by one."""
    rows = [
        tuple(int(task.hierarchies[j].lookups[levels[j]][row[j]]) for j in columns)
        for row in task.by_record.codes.tolist()
    ]
    sizes = Counter(rows)
    return sum(sizes[row] < task.constraints.k for row in rows)


@settings(deadline=None, max_examples=examples_of(200))
@given(data=st.data())
def test_what_is_out_breaks_k_by_one_column_or_two(data: st.DataObject, drawn: SimpleNamespace) -> None:
    task = data.draw(drawn.tasks("optimal", "precision", 0))
    counter = TableCounter(task, counts_of(task))
    nodes = lattice(tuple(hierarchy.height for hierarchy in task.hierarchies))
    limit = min(task.constraints.max_suppressed, counter.records - 1)
    out = marginal_floors(
        task.hierarchies, counter.leaves(), counter.pairs, nodes, rule=(task.constraints.k, limit)
    )
    assert out.shape == nodes.shape
    q = len(task.hierarchies)
    sets = [*itertools.combinations(range(q), 1), *itertools.combinations(range(q), 2)]
    for levels in np.ndindex(nodes.shape):
        assert out[levels] == any(small(task, columns, levels) > limit for columns in sets)
        if out[levels]:
            assert small(task, tuple(range(q)), levels) > limit  # so the node breaks k as well
    assert not out[tuple(height - 1 for height in nodes.shape)]


def test_pairs_are_asked_only_where_something_is_open(from_rows: Any) -> None:
    """The first column alone leaves nothing below its top, and has no other level to be paired with."""
    from anon_pipeline.recode import Constraints
    from tests.recode.asking import ask

    rows = [(str(value), "*") for value in range(4)]
    x, y, z = (from_rows(name, rows) for name in "xyz")
    codes = np.array([[value, value % 2, value // 2] for value in range(4)])
    task = ask(codes, (x, y, z), Constraints(2, 0), "optimal")
    counter, asked = TableCounter(task, counts_of(task)), []

    def pairs(one: int, other: int) -> Any:
        asked.append((one, other))
        return counter.pairs(one, other)

    out = marginal_floors(task.hierarchies, counter.leaves(), pairs, lattice((2, 2, 2)), rule=(2, 0))
    assert np.argwhere(~out).tolist() == [[1, 0, 1], [1, 1, 0], [1, 1, 1]]
    assert asked == [(0, 1), (0, 2), (1, 2)]
