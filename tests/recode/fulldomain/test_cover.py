"""The queue of nodes against counting every promise anew; what it guesses changes how long, never what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode import Constraints
from anon_pipeline.recode.fulldomain.cover import cover, likely, promises
from anon_pipeline.recode.fulldomain.fast.order import Queue, next_node, open_nodes, refill
from anon_pipeline.recode.fulldomain.lattice import Axes, Lattice, axes_of, lattice
from anon_pipeline.recode.fulldomain.optimal import optimal
from anon_pipeline.recode.fulldomain.search import prepare_search, score
from tests.recode.asking import ask, counts_of


def around(nodes: Lattice, index: int) -> tuple[list[int], list[int]]:
    """Return the nodes at and below, and at and above, one."""
    own = nodes.levels(index)
    below = [n for n in range(nodes.size) if all(map(int.__le__, nodes.levels(n), own))]
    return below, [n for n in range(nodes.size) if all(map(int.__ge__, nodes.levels(n), own))]


@pytest.fixture(scope="module")
def columns(from_rows: Any) -> tuple[Any, Any]:
    """Three hierarchies with 3, 2 and 4 levels, and the records of their leaves."""
    three = from_rows("x", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")])
    two = from_rows("y", [("a", "*"), ("b", "*")])
    four = from_rows("z", [("a", "ab", "abc", "*"), ("b", "ab", "abc", "*"), ("c", "c", "abc", "*"),
                           ("d", "d", "d", "*")])  # fmt: skip
    return (three, two, four), [np.array([5, 3, 8]), np.array([15, 1]), np.array([4, 4, 4, 4])]


@settings(deadline=None)
@given(shape=st.lists(st.integers(1, 4), min_size=1, max_size=4), ceiling=st.integers(0, 4), data=st.data())
def test_open_nodes_are_those_around_with_a_floor_up_to_the_ceiling(
    shape: list[int], ceiling: int, data: st.DataObject
) -> None:
    nodes = lattice(tuple(shape))
    floors = data.draw(st.lists(st.integers(0, 5), min_size=nodes.size, max_size=nodes.size))
    index = data.draw(st.integers(0, nodes.size - 1))
    for upward, side in enumerate(around(nodes, index)):
        got = open_nodes(
            np.array(floors), ceiling, index, Axes(np.array(nodes.shape), np.array(nodes.steps)), bool(upward)
        )
        assert got == sum(floors[node] <= ceiling for node in side)


def test_bits_fall_upward_and_the_likely_node_tells_most(columns: Any) -> None:
    nodes = lattice((3, 2, 4))
    known = cover(nodes, *columns, cells=False)
    counts = np.array([4, 4, 4, 4]) / 16
    assert known.guess.bits[1, nodes.index((2, 1, 0))] == pytest.approx(-(counts * np.log2(counts)).sum())
    assert known.guess.bits[0, nodes.index((2, 1, 0))] == pytest.approx(2 + 2)
    for index in range(nodes.size):
        for above in nodes.successors(index):
            assert (known.guess.bits[:, above] <= known.guess.bits[:, index] + 1e-6).all()
    floors = np.zeros(24, np.int64)
    some = [n for n in range(24) if known.guess.bits[0, n] < known.guess.thresholds[0]]
    assert likely(known, floors, 0) == max(some, key=lambda n: (known.guess.bits[1, n], -n))
    assert likely(known, floors + 1, 0) is None


@pytest.mark.parametrize("loss", ["precision", "discernibility"])
def test_fewer_nodes_than_half_are_counted(loss: Any, from_rows: Any) -> None:
    rows = [(str(v), str(v // 2), str(v // 4), "*") for v in range(8)]
    hierarchies = tuple(from_rows(name, rows) for name in "wxyz")
    codes = np.random.default_rng(3).integers(0, 8, (400, 4))
    task = ask(codes, hierarchies, Constraints(4, 20), "optimal", loss=loss)
    search = prepare_search(task, counts_of(task))
    best = optimal(search)
    assert len(search.seen) < 256 // 2
    assert best == min(node for index in range(256) if (node := score(search, index)).suppressed <= 20)


def test_a_lattice_without_columns_has_nothing_open() -> None:
    nodes = lattice(())
    known = cover(nodes, (), (), cells=True)
    queue = Queue()
    refill(queue, promises(known, np.array([99]), 5))
    assert next_node(queue, known, axes_of(nodes), np.array([99]), 5) is None
