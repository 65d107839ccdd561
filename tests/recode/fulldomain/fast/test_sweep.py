"""A sweep against counting node by node, on random lattices; and searches with and without it."""

from __future__ import annotations

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
from anon_pipeline.recode.fulldomain.fast import sweep as sweeping
from anon_pipeline.recode.fulldomain.fast.sweep import Sweep, node_states, sweep, sweep_nodes
from anon_pipeline.recode.fulldomain.optimal import optimal
from anon_pipeline.recode.fulldomain.search import Search, count, prepare_search
from tests.example_counts import examples_of
from tests.recode.asking import ask, counts_of

UNLABELED = [name for name, loss in LOSSES.items() if loss.by == "classes" and not loss.labels]


def searched(task: Task) -> Search:
    return prepare_search(task, counts_of(task))


def laid_out(search: Search) -> Sweep:
    own = search.tables.shortcuts
    return sweep(search.nodes, own.kept, own.cubes)


def rows_of(search: Search, own: Sweep, stands: np.ndarray, most: int) -> list[list[int]]:
    found = sweep_nodes(own, search.tables, stands, lambda: most)
    return [row for rows in found for row in rows.tolist()]


def counted(search: Search, node: int) -> tuple[int, int, int]:
    own = count(search, node)
    return own.small, own.final.classes, own.final.squares


def is_below(search: Search, node: int, other: int) -> bool:
    return all(map(int.__le__, search.nodes.levels(node), search.nodes.levels(other)))


@pytest.mark.parametrize(
    ("cells", "work"),
    [(2**20, 2.0**28), (12, 2.0**28), (1, 2.0**28), (2**20, 0.0)],
    ids=["at once", "in parts", "least cubes", "node by node"],
)
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_every_node_is_counted_once_and_the_most_general_first(
    data: st.DataObject, drawn: SimpleNamespace, cells: int, work: float
) -> None:
    task = data.draw(drawn.tasks("optimal", "discernibility", 0))
    search = searched(task)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeping, "_CELLS", cells)
        patch.setattr(sweeping, "_ROOT", 10**6)
        patch.setattr(sweeping, "_WORK", work)
        own = laid_out(search)
        stands = node_states(own, np.ones(search.nodes.size, np.bool_))
        wanted = np.flatnonzero(stands == 2)
        rows = rows_of(search, own, stands, task.by_record.codes.shape[0])
    nodes = [row[0] for row in rows]
    assert sorted(nodes) == wanted.tolist()
    cubes = search.tables.shortcuts.cubes
    most = min(cells, cubes.most_cells)
    sizes = [cubes.size(search.nodes.levels(node)) for node in range(len(stands))]
    assert [size <= most for size in sizes] == [node in set(nodes) for node in range(len(stands))]
    for place, (node, *got) in enumerate(rows):
        assert tuple(got) == counted(replace(search, counts={}, seen={}), node)
        assert not any(is_below(search, before, node) for before in nodes[:place])
    assert (stands[wanted] == 0).all()


@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_what_lies_below_a_node_that_suppresses_too_much_is_closed(
    data: st.DataObject, drawn: SimpleNamespace
) -> None:
    """So of those nodes only the most general are counted, and only nodes that were open."""
    task = data.draw(drawn.tasks("optimal", "discernibility", 0))
    search = searched(task)
    own, size = laid_out(search), search.nodes.size
    most = data.draw(st.integers(-1, len(task.by_record.codes)))
    opened = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    stands = node_states(own, opened)
    wanted = set(np.flatnonzero(stands == 2).tolist())
    rows = rows_of(search, own, stands, most)
    wrong = {node for node in wanted if counted(search, node)[0] > most}
    highest = {a for a in wrong if not any(a != b and is_below(search, a, b) for b in wrong)}
    assert {row[0] for row in rows} == wanted - (wrong - highest)
    for node in range(size):
        if any(is_below(search, node, other) for other in highest):
            assert stands[node] == 0


def lattice_task(records: int, loss: Any, *, k: int = 4, columns: int = 5, seed: int = 5) -> Task:
    rng = np.random.default_rng(seed)
    lookups = (np.arange(8), np.arange(8) // 2, np.arange(8) // 4, np.zeros(8, np.int64))
    values = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in lookups)
    hierarchies = tuple(Hierarchy(f"c{column}", lookups, values) for column in range(columns))
    codes = rng.integers(0, 8, (records, columns)) // rng.integers(1, 4, (records, columns))
    return ask(codes, hierarchies, Constraints(k, records // 20), "optimal", loss=loss)


@pytest.mark.parametrize("loss", UNLABELED)
@pytest.mark.parametrize("seed", range(4))
def test_sweeping_early_late_or_never_finds_the_same(
    loss: Any, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, walked = [], []
    for worth, cells in ((0.0, 2**20), (300.0, 2**20), (np.inf, 2**20), (np.inf, 256)):
        monkeypatch.setattr(sweeping, "_WORTH", worth)
        monkeypatch.setattr(sweeping, "_CELLS", cells)
        search = searched(lattice_task(3000, loss, seed=seed))
        answers.append(optimal(search))
        walked.append(search.told.swept)
    assert answers == answers[:1] * 4
    assert walked[0] == 0
    assert walked[2] >= walked[3] > 0
    everything = searched(lattice_task(3000, loss, seed=seed))
    for node in range(everything.nodes.size):
        count(everything, node)
    feasible = [own for own in everything.seen.values() if own.suppressed <= everything.limit]
    assert answers[0] == min(feasible)


@pytest.mark.parametrize("size", [2**16 - 1, 2**16, 2**17 + 3])
@pytest.mark.parametrize("loss", UNLABELED)
def test_a_class_too_large_for_a_cell_is_counted_otherwise(loss: Any, size: int) -> None:
    """A cell of 2^16 records would hold none, and a class be taken for a small one, or none."""
    lookups = (np.arange(3), np.array([0, 0, 1]), np.zeros(3, np.int64))
    hierarchy = Hierarchy("c", lookups, tuple(np.arange(n).astype(object) for n in (3, 2, 1)))
    codes = np.repeat([0, 1, 2], [size - 1, 1, 9])[:, None]
    task = ask(codes, (hierarchy,), Constraints(5, 2), "optimal", loss=loss)
    search = searched(task)
    own = laid_out(search)
    stands = node_states(own, np.ones(3, np.bool_))
    rows = rows_of(search, own, stands, 2)
    fits = [node for node, largest in enumerate((size - 1, size, size + 9)) if largest < 2**16]
    assert sorted(row[0] for row in rows) == fits
    assert [int(own) for own in stands] == [0 if node in fits else 1 for node in range(3)]
    best = optimal(search)
    assert best == min(search.seen[node] for node in range(3) if count(search, node) and node in search.seen)


def test_a_walk_stays_within_its_arena() -> None:
    """Every fold of a walk over the whole lattice fits into its space; nothing behind is touched."""
    search = searched(lattice_task(3000, "discernibility", columns=4))
    own = laid_out(search)
    root = search.tables.shortcuts.cubes.size((0,) * 4)
    folds = 2 * sum(height - 1 for height in search.nodes.shape)
    guard = np.full(root * (1 + folds) + 10_000, 7, np.uint16)
    own = replace(own, arena=guard, most_cells=root)
    stands = node_states(own, np.ones(search.nodes.size, np.bool_))
    rows = rows_of(search, own, stands, 3000)
    assert len(rows) == search.nodes.size
    assert (guard[root * (1 + folds) :] == 7).all()
    own = laid_out(search)
    assert len(own.arena) >= own.most_cells * (1 + folds)


@pytest.mark.filterwarnings("error")
def test_more_combinations_than_a_float_can_hold_are_too_many_without_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten columns of twenty thousand values have 10^43 combinations."""
    monkeypatch.setattr(sweeping, "_WORTH", np.inf)
    leaves = 20_000
    lookups = (np.arange(leaves), np.zeros(leaves, np.int64))
    values = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in lookups)
    hierarchies = tuple(Hierarchy(f"c{column}", lookups, values) for column in range(10))
    codes = np.random.default_rng(3).permuted(np.tile(np.arange(leaves), (10, 1)), axis=1).T.copy()
    search = searched(ask(codes, hierarchies, Constraints(5, 0), "optimal", loss="discernibility"))
    own = laid_out(search)
    assert own.cells[0] == np.inf
    assert node_states(own, np.ones(search.nodes.size, np.bool_))[0] == 1
    assert optimal(search).node == search.nodes.size - 1


def level_lattice(columns: int, records: int = 50, height: int = 4) -> Task:
    """A lattice of which no node says more than another: each column has one value, on every level."""
    lookups = (np.arange(3), *(np.zeros(3, np.int64),) * (height - 1))
    values = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in lookups)
    hierarchies = tuple(Hierarchy(f"c{column}", lookups, values) for column in range(columns))
    codes = np.ones((records, columns), np.int64)
    return ask(codes, hierarchies, Constraints(5, 2), "optimal", loss="average_class_size")


def test_a_node_that_is_swept_and_loses_a_tie_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "_WORTH", np.inf)
    search = searched(level_lattice(5))
    assert optimal(search).node == 0
    assert search.told.swept > 900
    assert len(search.seen) < 50


def test_a_walk_ends_before_long_however_few_cells_its_nodes_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python hears of an interrupt between two walks; and rows of a walk are space."""
    monkeypatch.setattr(sweeping, "_WORK", float(40 * sweeping._NODE))
    search = searched(level_lattice(5))
    own = laid_out(search)
    stands = node_states(own, np.ones(search.nodes.size, np.bool_))
    walks = [len(rows) for rows in sweep_nodes(own, search.tables, stands, lambda: 50)]
    assert sum(walks) == search.nodes.size == 1024
    assert max(walks) <= len(own.rows) == 40
    assert max(walks) > 4


def test_a_border_of_large_nodes_is_swept_soon() -> None:
    """Choosing between nodes of ten thousands of cells takes longer than walking over those that are left."""
    rng = np.random.default_rng(1)
    lookups = (*(np.arange(64) >> step for step in range(6)), np.zeros(64, np.int64))
    values = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in lookups)
    hierarchies = tuple(Hierarchy(f"c{column}", lookups, values) for column in range(5))
    where = rng.random((2, 20_000))
    spread = [where[column % 2] + rng.normal(0, 0.05, 20_000) for column in range(5)]
    codes = np.stack([(np.clip(own, 0, 0.999) * 64).astype(np.int64) for own in spread], axis=1)
    search = searched(ask(codes, hierarchies, Constraints(5, 1000), "optimal", loss="average_class_size"))
    optimal(search)
    assert search.told.swept > 1000
    assert len(search.seen) < 80


def test_only_losses_of_classes_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "_WORTH", np.inf)
    for loss in ("precision", "granularity", "entropy"):
        search = searched(lattice_task(500, loss))
        optimal(search)
        assert search.told.swept == 0


def test_progress_counts_what_was_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    from anon_pipeline.recode.fulldomain import search as searching

    monkeypatch.setattr(searching, "_TELL", 0.0)
    monkeypatch.setattr(sweeping, "_WORTH", np.inf)
    heard: list[Any] = []
    task = replace(lattice_task(500, "discernibility"), told=heard.append)
    search = searched(task)
    optimal(search)
    assert search.told.swept > 0
    done, left = [own.counted for own in heard], [own.left for own in heard if own.left]
    assert done == sorted(done)
    assert left == sorted(left, reverse=True)
    assert len(left) > 5
    assert done[-1] == len(search.seen) + search.told.swept
