"""The queue gives what promises most, and what a count did not rule out is not hoped for again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.fulldomain.cover import Cover, cover, learn, promise, promises
from anon_pipeline.recode.fulldomain.fast.order import Queue, next_node, refill
from anon_pipeline.recode.fulldomain.lattice import Lattice, axes_of, lattice
from tests.example_counts import examples_of


def around(nodes: Lattice, index: int) -> tuple[list[int], list[int]]:
    """Return the nodes at and below, and at and above, one."""
    own = nodes.levels(index)
    below = [n for n in range(nodes.size) if all(map(int.__le__, nodes.levels(n), own))]
    return below, [n for n in range(nodes.size) if all(map(int.__ge__, nodes.levels(n), own))]


def slow_promise(known: Cover, floors: list[int], ceiling: int, index: int) -> float:
    below, above = (sum(floors[n] <= ceiling for n in side) for side in around(known.nodes, index))
    low = 0.5 + (float(known.guess.bits[0, index]) - float(known.guess.thresholds[0])) / 3
    high = 0.5 + (float(known.guess.thresholds[1]) - float(known.guess.bits[1, index])) / 3
    low = 0.0 if known.guess.marks[index] & 1 else min(1.0, max(0.0, low))
    high = 0.0 if known.guess.cells or known.guess.marks[index] & 2 else min(1.0, max(0.0, high))
    own = floors[index] <= ceiling
    return low * below + high * above + own + 1e9 * (own and known.guess.cells and low < 0.5)


@pytest.fixture(scope="module")
def columns(from_rows: Any) -> tuple[Any, Any]:
    """Three hierarchies with 3, 2 and 4 levels, and the records of their leaves."""
    three = from_rows("x", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")])
    two = from_rows("y", [("a", "*"), ("b", "*")])
    four = from_rows("z", [("a", "ab", "abc", "*"), ("b", "ab", "abc", "*"), ("c", "c", "abc", "*"),
                           ("d", "d", "d", "*")])  # fmt: skip
    return (three, two, four), [np.array([5, 3, 8]), np.array([15, 1]), np.array([4, 4, 4, 4])]


@pytest.mark.parametrize("cells", [True, False])
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_the_queue_gives_what_promises_most_until_nothing_is_open(
    data: st.DataObject, columns: Any, cells: bool
) -> None:
    """Within the tolerance; and every open node is given sooner or later, whatever was learned."""
    hierarchies, leaves = columns
    nodes = lattice((3, 2, 4))
    known = cover(nodes, hierarchies, leaves, cells=cells)
    floors = np.array(data.draw(st.lists(st.integers(0, 9), min_size=24, max_size=24)), np.int64)
    ceiling, given_ = 6, set()
    queue = Queue()
    refill(queue, promises(known, floors, ceiling))
    must = set(np.flatnonzero(floors <= ceiling).tolist())
    while True:
        index = next_node(queue, known, axes_of(nodes), floors, ceiling)
        if index is None:
            break
        assert promise(
            index, *(sum(floors[n] <= ceiling for n in side) for side in around(nodes, index)),
            bool(floors[index] <= ceiling), known.guess
        ) == pytest.approx(slow_promise(known, floors.tolist(), ceiling, index))  # fmt: skip
        if not given_:
            most = max(slow_promise(known, floors.tolist(), ceiling, n) for n in range(24))
            assert slow_promise(known, floors.tolist(), ceiling, index) >= 0.89 * most
        given_.add(index)
        below, above = data.draw(st.booleans()), data.draw(st.booleans()) and not cells
        floors[index] = 99
        for closes, side in zip((below, above), around(nodes, index), strict=True):
            floors[side if closes else []] = 99
        learn(known, index, below=below, above=above)
    assert (floors > ceiling).all()
    assert must or not given_


def test_what_a_count_did_not_rule_out_is_not_hoped_for_again(columns: Any) -> None:
    nodes = lattice((3, 2, 4))
    known = cover(nodes, *columns, cells=False)
    before = known.guess.thresholds.copy()
    learn(known, nodes.index((1, 0, 1)), below=False, above=False)
    for index in range(nodes.size):
        below, above = around(nodes, nodes.index((1, 0, 1)))
        assert bool(known.guess.marks[index] & 1) == (index in above)
        assert bool(known.guess.marks[index] & 2) == (index in below)
    assert known.guess.thresholds[0] >= before[0]
    assert known.guess.thresholds[1] <= before[1]
