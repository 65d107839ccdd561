"""The lattice: indices, neighbors, up-sets and down-sets against comparing levels one by one."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.recode import Constraints, recode
from anon_pipeline.recode.fulldomain.lattice import along, lattice
from anon_pipeline.recode.task import MOST_NODES
from tests.recode.asking import ask

SHAPES = [(2, 3, 2), (1,), (4, 1, 3), ()]


@pytest.mark.parametrize("shape", SHAPES)
def test_indices_sort_as_levels_do(shape: tuple[int, ...]) -> None:
    nodes = lattice(shape)
    everything = list(itertools.product(*map(range, shape)))
    assert nodes.size == len(everything)
    assert [nodes.levels(index) for index in range(nodes.size)] == everything
    assert [nodes.index(levels) for levels in everything] == list(range(nodes.size))
    assert nodes.totals().reshape(-1).tolist() == [sum(levels) for levels in everything]


@pytest.mark.parametrize("shape", SHAPES)
def test_down_and_up_hold_what_is_below_and_above(shape: tuple[int, ...]) -> None:
    nodes = lattice(shape)
    everything = list(itertools.product(*map(range, shape)))
    for levels in everything:
        below, above = np.zeros(shape, bool), np.zeros(shape, bool)
        below[nodes.down(levels)] = True
        above[nodes.up(levels)] = True
        assert below.reshape(-1).tolist() == [all(map(int.__le__, other, levels)) for other in everything]
        assert above.reshape(-1).tolist() == [all(map(int.__ge__, other, levels)) for other in everything]


@pytest.mark.parametrize("shape", SHAPES)
def test_neighbors_differ_by_one_level(shape: tuple[int, ...]) -> None:
    nodes = lattice(shape)
    for index in range(nodes.size):
        levels = nodes.levels(index)
        above = [
            (*levels[:axis], levels[axis] + 1, *levels[axis + 1 :])
            for axis in range(len(shape))
            if levels[axis] + 1 < shape[axis]
        ]
        assert [nodes.levels(node) for node in nodes.successors(index)] == above
        assert all(index in nodes.predecessors(node) for node in nodes.successors(index))
        assert all(index in nodes.successors(node) for node in nodes.predecessors(index))


def test_along_puts_values_on_their_own_axis() -> None:
    assert along(lattice((2, 3, 2)), 1, np.arange(3)).shape == (1, 3, 1)


def test_a_lattice_too_large_to_hold_is_refused_with_its_size() -> None:
    with pytest.raises(InputError, match=r"at most 10,000,000 nodes, got 1,073,741,824\."):
        lattice((4,) * 15)
    assert lattice((10,) * 7).size == MOST_NODES


def test_a_task_says_how_many_nodes_are_too_many(from_rows: Any) -> None:
    hierarchies = tuple(from_rows(name, [("a", "*"), ("b", "*")]) for name in "xyz")
    codes = np.zeros((4, 3), np.int64)
    task = ask(codes, hierarchies, Constraints(2, 0), "optimal", most_nodes=8)
    assert recode(task).levels == (0, 0, 0)
    with pytest.raises(InputError, match="must have at most 7 nodes, got 8"):
        recode(replace(task, most_nodes=7))
