"""Cubes against dictionaries, and against tables of keys, on every node of random and of wide lattices."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import Constraints, Task
from anon_pipeline.recode.fulldomain.fast import tables as keeping
from anon_pipeline.recode.fulldomain.fast.cubes import Cube, stepping_stone
from anon_pipeline.recode.fulldomain.fast.tables import node_table
from anon_pipeline.recode.fulldomain.layout import NodeTables, node_tables
from anon_pipeline.recode.fulldomain.nodes import count_node
from anon_pipeline.recode.loss import cell_costs
from tests.example_counts import examples_of
from tests.recode.asking import ask, counts_of


def laid_out(task: Task) -> NodeTables:
    counts = [
        np.bincount(column, minlength=hierarchy.leaves)
        for column, hierarchy in zip(task.by_record.codes.T, task.hierarchies, strict=True)
    ]
    costs = [cell_costs(h, task.loss, own) for h, own in zip(task.hierarchies, counts, strict=True)]
    return node_tables(task, counts_of(task), costs)


def without_cubes(task: Task) -> NodeTables:
    tables = laid_out(task)
    return replace(tables, shortcuts=replace(tables.shortcuts, cubes=None))


def all_levels(task: Task) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(hierarchy.height) for hierarchy in task.hierarchies)))


def released(task: Task, levels: tuple[int, ...]) -> list[int]:
    """Twin of a cube: sizes of the classes of a node, record by record."""
    rows = zip(
        *(
            hierarchy.lookups[level][column].tolist()
            for column, hierarchy, level in zip(task.by_record.codes.T, task.hierarchies, levels, strict=True)
        ),
        strict=True,
    )
    return sorted(Counter(rows).values())


@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_a_cube_holds_the_classes_of_its_node(data: st.DataObject, drawn: SimpleNamespace) -> None:
    task = data.draw(drawn.tasks("optimal", "discernibility", 0))
    tables = laid_out(task)
    order = data.draw(st.permutations(all_levels(task)))
    for levels in order:
        found = node_table(tables, tables.shortcuts, levels)
        assert sorted(found.sizes[found.sizes > 0].tolist()) == released(task, levels)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "classification"])
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_cubes_count_and_price_what_tables_of_keys_do(
    data: st.DataObject, drawn: SimpleNamespace, loss: Any
) -> None:
    task = data.draw(drawn.tasks("optimal", loss, 0))
    cubes, keys = laid_out(task), without_cubes(task)
    for levels in data.draw(st.permutations(all_levels(task))):
        assert count_node(cubes, levels) == count_node(keys, levels)
    assert not any(isinstance(table, Cube) for table in keys.shortcuts.kept.tables.values())


def wide(columns: int, leaves: int, records: int, loss: Any = "granularity") -> Task:
    """Ask for columns of many leaves, of which few occur, not the first one."""
    lookups = (np.arange(leaves), np.arange(leaves) // 7, np.zeros(leaves, np.int64))
    values = tuple(np.arange(int(lookup[-1]) + 1).astype(object) for lookup in lookups)
    hierarchies = tuple(Hierarchy(f"c{column}", lookups, values) for column in range(columns))
    rng = np.random.default_rng(11)
    codes = 3 + 5 * rng.integers(0, (leaves - 3) // 5, (records, columns))
    codes[rng.random(codes.shape) < 0.5] = 8
    return ask(codes, hierarchies, Constraints(3, records), "optimal", loss=loss)


@pytest.mark.parametrize(
    ("columns", "leaves", "records"),
    [(3, 40, 500), (8, 40, 3000), (5, 300, 2000), (2, 100_000, 300), (5, 100_000, 300)],
    ids=["one word", "six runs of bits", "runs of one column", "two columns", "keys of two words"],
)
def test_keys_of_any_width_fill_the_same_cubes(columns: int, leaves: int, records: int) -> None:
    task = wide(columns, leaves, records)
    cubes, keys = laid_out(task), without_cubes(task)
    seen = 0
    for levels in all_levels(task)[:: 1 if columns < 6 else 17]:
        seen += isinstance(node_table(cubes, cubes.shortcuts, levels), Cube)
        assert count_node(cubes, levels) == count_node(keys, levels)
    assert seen > 10 or columns == 2


def test_a_cube_is_made_only_where_combinations_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    task = wide(8, 40, 300)
    tables = laid_out(task)
    for levels in all_levels(task)[::13]:
        found = node_table(tables, tables.shortcuts, levels)
        assert not isinstance(found, Cube) or len(found.sizes) <= tables.shortcuts.cubes.most_cells
    assert tables.shortcuts.cubes.most_cells <= 16 * 300
    made = [table for table in tables.shortcuts.kept.tables.values() if isinstance(table, Cube)]
    assert made
    assert max(len(table.sizes) for table in made) <= tables.shortcuts.cubes.most_cells
    monkeypatch.setattr(keeping, "CELLS_PER_CLASS", 0)
    assert not isinstance(node_table(tables, laid_out(task).shortcuts, (0,) * 8), Cube)


def test_sensitive_values_are_never_asked_of_a_cube(drawn: SimpleNamespace) -> None:
    task = wide(2, 40, 50, "classification")
    labeled = replace(task, by_record=replace(task.by_record, target=np.arange(50) % 3))
    assert laid_out(task).shortcuts.cubes is not None
    assert laid_out(labeled).shortcuts.cubes is None


def test_a_stepping_stone_lies_between_and_within_its_cells() -> None:
    task = wide(4, 40, 500)
    layout = laid_out(task).shortcuts.cubes
    for levels in all_levels(task):
        for cells in (1, 50, 5000):
            stone = stepping_stone(layout, (0, 1, 0, 0), tuple(map(max, levels, (0, 1, 0, 0))), cells=cells)
            wanted = tuple(map(max, levels, (0, 1, 0, 0)))
            assert all(
                low <= level <= high for low, level, high in zip((0, 1, 0, 0), stone, wanted, strict=True)
            )
            assert stone == wanted or layout.size(stone) <= cells
    assert stepping_stone(layout, (0,) * 4, (2,) * 4, cells=10**9) == (0,) * 4


def test_totals_beyond_a_word_of_32_bits_are_exact() -> None:
    """Squares of class sizes outgrow the cells of the cube."""
    lookups = (np.arange(2), np.zeros(2, np.int64))
    hierarchy = Hierarchy("c", lookups, tuple(np.arange(n).astype(object) for n in (2, 1)))
    codes = np.zeros((100_000, 1), np.int64)
    codes[0] = 1
    task = ask(codes, (hierarchy,), Constraints(2, 1), "optimal", loss="discernibility")
    tables = laid_out(task)
    assert count_node(tables, (0,)).whole.squares == 99_999**2 + 1
    assert count_node(tables, (1,)).final.squares == 10**10
