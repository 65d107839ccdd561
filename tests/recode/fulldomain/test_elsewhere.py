"""A search whose tuples do not fit ends at the same node, with the same loss and suppression."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.catalog.losses import WEIGHED
from anon_pipeline.catalog.recoders import RECODERS, recoder_of
from anon_pipeline.recode import Constraints, Diversity, Task, choose, choose_elsewhere
from anon_pipeline.recode.choice import Choice, apply
from anon_pipeline.recode.fulldomain.counter import TableCounter
from anon_pipeline.recode.fulldomain.elsewhere import KeepingCounter, search_elsewhere
from anon_pipeline.recode.fulldomain.search import count, prepare_search
from tests.example_counts import examples_of
from tests.recode.asking import ask, counts_of, limit_of

FULL = tuple(name for name, recoder in RECODERS.items() if recoder.family.name == "full_domain")
SEARCHING = tuple(name for name in FULL if "levels" not in recoder_of(name).options)
LOSSES = ["precision", "granularity", "entropy", "discernibility", "average_class_size", "classification"]


def answer(task: Task, choice: Choice) -> Any:
    codes = task.by_record.codes
    return choice.levels, choice.loss, choice.suppressed, choice.cells, apply(choice, codes).tolist()


@pytest.mark.parametrize("recoder", FULL)
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_any_budget_ends_at_the_same_node(data: st.DataObject, drawn: SimpleNamespace, recoder: str) -> None:
    how: dict[str, Any] = {"cells": data.draw(st.booleans())}
    if recoder_of(recoder).prefers:
        how["prefer"] = data.draw(st.sampled_from(["loss", "most_distinct_tuples", "least_suppression"]))
    loss = data.draw(st.sampled_from(LOSSES))
    task = replace(data.draw(drawn.tasks(recoder, loss)), **how)
    table, asked = counts_of(task), replace(task, by_record=None)
    counter = TableCounter(asked, table, parts=data.draw(st.integers(1, 3)))
    most = data.draw(st.sampled_from([0, 1, 3, 6, 1000]))
    by_cells = how["cells"] and recoder == "optimal" and loss in WEIGHED
    if by_cells and counter.table((0,) * len(task.hierarchies), most) is None:
        return  # below
    try:
        want = choose(asked, table)
    except InfeasibleError as error:
        with pytest.raises(InfeasibleError) as raised:
            choose_elsewhere(asked, counter, most=most)
        assert str(raised.value) == str(error)
        return
    found = choose_elsewhere(asked, counter, most=most)
    assert found.labels is None
    assert answer(task, found) == answer(task, want)


@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_tuples_that_do_not_fit_have_the_levels_for_whole_records_where_cells_are_blanked(
    data: st.DataObject, drawn: SimpleNamespace
) -> None:
    """The tuples on the least levels that keep k say nothing of cells on the levels below."""
    whole = data.draw(drawn.tasks("optimal", data.draw(st.sampled_from(sorted(WEIGHED)))))
    task, table = replace(whole, cells=True, by_record=None), counts_of(whole)
    most = data.draw(st.integers(0, max(table.entries - 1, 0)))
    counter = TableCounter(task, table)
    try:
        levels = choose(replace(whole, by_record=None), table).levels
    except InfeasibleError:
        return
    assert choose_elsewhere(task, counter, most=most).levels == levels


class Watched:
    """A counter that notes what it is asked."""

    def __init__(self, counter: TableCounter) -> None:
        self.counter, self.nodes, self.tables = counter, 0, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.counter, name)

    def count(self, levels: Any) -> Any:
        self.nodes += 1
        return self.counter.count(levels)

    def table(self, levels: Any, most: int | None = None) -> Any:
        self.tables.append((tuple(levels), most))
        return self.counter.table(levels, most)


def grid_task(recoder: str = "optimal", bits: int = 6) -> Task:
    """Three columns of 2^bits values with halves above."""
    from anon_pipeline.hierarchy.hierarchy import Hierarchy

    lookups = tuple(np.arange(2**bits) >> level for level in range(bits + 1))
    values = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in lookups)
    hierarchies = tuple(Hierarchy(name, lookups, values) for name in "xyz")
    codes = np.random.default_rng(7).integers(0, 2**bits, (2_000, 3))
    return ask(codes, hierarchies, Constraints(10, 100), recoder, "granularity")


def test_what_fits_on_the_least_levels_is_asked_once() -> None:
    """A column of 1,024 values breaks k = 10 on its lower levels by itself."""
    task = grid_task(bits=10)
    table = counts_of(task)
    counter = Watched(TableCounter(task, table))
    search = search_elsewhere(task, counter, most=len(table.counts) - 1)
    (levels, _), *others = counter.tables
    assert not others
    assert min(levels) > 0  # the table of leaves was never asked for
    assert len(search.source.table.counts) < len(table.counts)
    found = choose_elsewhere(task, counter, most=len(table.counts) - 1)
    assert answer(task, found) == answer(task, choose(task, table))
    assert counter.nodes == 0


@pytest.mark.parametrize("recoder", SEARCHING)
def test_what_does_not_fit_is_counted_node_by_node(recoder: str) -> None:
    task = grid_task(recoder)
    counter = Watched(TableCounter(task, counts_of(task), parts=4))
    found = choose_elsewhere(task, counter, most=100)
    assert answer(task, found) == answer(task, choose(task, counts_of(task)))
    assert counter.nodes > 0
    first, *others = [most for _, most in counter.tables]
    assert first == 100
    assert set(others[:-1]) == {25}  # classes that are kept; then those of the node alone
    assert counter.tables[-1] == (found.levels, None)


def test_nodes_above_classes_that_fit_are_counted_in_memory() -> None:
    task = grid_task()
    whole, counted = prepare_search(task, counts_of(task)), {}
    for most in (8, 400, 4_000):
        counter = Watched(TableCounter(task, counts_of(task)))
        keeping = KeepingCounter(counter, task, whole.source.leaves, most)
        for index in reversed(range(whole.nodes.size)):
            levels = whole.nodes.levels(index)
            found, want = keeping.count(levels), count(whole, index)
            assert (found.small, found.whole) == (want.small, want.whole)
            if want.final.suppressed <= whole.limit:
                assert (found.lasting, found.final) == (want.lasting, want.final)
            assert sum(kept.entries for kept in keeping.kept) <= most
        counted[most] = counter.nodes
        assert len(counter.tables) < whole.nodes.size  # a node below one that was too large is not tried
    assert counted[8] > counted[400] > counted[4_000] > 0


COLUMNS = ("sex", "age", "race", "marital-status", "education")


@pytest.fixture(scope="module")
def adult(shared_data: Path, from_rows: Any, encode_column: Any) -> tuple[np.ndarray, list[Any], np.ndarray]:
    frame = pd.read_csv(shared_data / "adult" / "adult.csv", sep=";", dtype=str)
    codes, hierarchies = [], []
    for column in COLUMNS:
        lines = (shared_data / "adult" / f"adult_hierarchy_{column}.csv").read_text().splitlines()
        hierarchies.append(from_rows(column, [line.split(";") for line in lines]))
        codes.append(encode_column(frame[column], hierarchies[-1]))
    salary = pd.factorize(frame["salary-class"], sort=True)[0].astype(np.int64)
    return np.stack(codes, axis=1), hierarchies, salary


@pytest.mark.parametrize("recoder", SEARCHING)
@pytest.mark.parametrize("limited", [False, True])
def test_adult_with_a_budget_of_100_tuples(adult: Any, recoder: str, limited: bool) -> None:
    codes, hierarchies, salary = adult
    limits = ()
    if limited:
        diversity = Diversity("entropy", 1.3)
        limits = (limit_of("salary", salary, np.bincount(salary), t=0.3, diversity=diversity),)
    task = ask(codes, tuple(hierarchies), Constraints(5, len(codes) // 20, limits), recoder)
    table = counts_of(task)
    assert len(table.counts) > 5_000
    counter = Watched(TableCounter(task, table, parts=3))
    found = choose_elsewhere(task, counter, most=100)
    assert answer(task, found) == answer(task, choose(task, table))
    assert counter.nodes > 0
