"""The search finds the same node without what only makes it faster, and can be read without it."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import LOSSES, Constraints, Task, fulldomain
from anon_pipeline.recode.fulldomain.fast import sweep as sweeping
from anon_pipeline.recode.fulldomain.incognito import incognito
from anon_pipeline.recode.fulldomain.ola import ola
from anon_pipeline.recode.fulldomain.optimal import optimal
from anon_pipeline.recode.fulldomain.search import Search, count, prepare_search
from tests.example_counts import examples_of
from tests.recode.asking import ask, counts_of

FOLDER = Path(next(iter(fulldomain.__path__)))

DOORS = {
    "layout.py": {"Shortcuts", "shortcuts"},
    "nodes.py": {"Cube", "count_cube", "node_table"},
    "optimal.py": {"queue_nodes"},
}
"""What the search knows of the fast part: where it lays it out, and one name for each question."""


def test_the_search_knows_the_fast_part_by_few_names() -> None:
    found: dict[str, set[str]] = {}
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and "fulldomain.fast" in (node.module or ""):
                found.setdefault(path.name, set()).update(alias.name for alias in node.names)
    assert found == DOORS


def answer(task: Task, recoder: Any, *, fast: bool) -> tuple[Any, Search]:
    search = prepare_search(task, counts_of(task), fast=fast)
    assert (search.tables.shortcuts is not None) == fast
    try:
        found = recoder(search)
    except InfeasibleError as error:
        found = str(error)
    assert not search.told.swept or fast
    return found, search


@pytest.mark.parametrize("recoder", [optimal, ola, incognito])
@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None, max_examples=examples_of(40))
@given(data=st.data())
def test_the_same_node_is_found_with_the_fast_part_switched_off(
    data: st.DataObject, drawn: SimpleNamespace, loss: Any, recoder: Any
) -> None:
    """All kinds of limits; sweeps begin at once, so that they are asked at all in lattices this small."""
    task = data.draw(drawn.tasks(recoder.__name__, loss))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeping, "_WORTH", data.draw(st.sampled_from([0.0, np.inf])))
        (fast, with_it), (plain, without) = (answer(task, recoder, fast=own) for own in (True, False))
    assert fast == plain
    for node in range(with_it.nodes.size):
        assert count(with_it, node) == count(without, node)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(2))
def test_the_same_node_is_found_in_larger_tables(loss: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lookups = (np.arange(12), np.arange(12) // 3, np.arange(12) // 6, np.zeros(12, np.int64))
    values = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in lookups)
    hierarchies = tuple(Hierarchy(f"c{column}", lookups, values) for column in range(5))
    codes = rng.integers(0, 12, (4000, 5)) // rng.integers(1, 5, (4000, 5))
    target = rng.integers(0, 3, 4000) if loss == "classification" else None
    task = ask(codes, hierarchies, Constraints(4, 200), "optimal", loss=loss, target=target)
    (fast, searched), (plain, _) = (answer(task, optimal, fast=own) for own in (True, False))
    assert fast == plain
    assert len(searched.tables.shortcuts.kept.tables) > 1
    if loss in ("discernibility", "average_class_size"):
        assert searched.told.swept > 0
