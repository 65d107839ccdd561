"""The best node with cells, against blanking at every node; and what no node may fall below."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.recode import Constraints, Task, recode
from anon_pipeline.recode.by_record import count_records
from anon_pipeline.recode.choice import Choice
from anon_pipeline.recode.fulldomain.algorithms import optimal_node
from anon_pipeline.recode.fulldomain.best_node import node_choice
from anon_pipeline.recode.fulldomain.cell_search import least_with_cells
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, prepare_search, score
from tests.example_counts import examples_of
from tests.recode.asking import ask
from tests.recode.conftest import hierarchy_of_rows
from tests.recode.fulldomain.test_cells import with_stars

HIERARCHIES = tuple(hierarchy_of_rows(name, [["a", "*"], ["b", "*"], ["c", "*"]]) for name in "xy")
CODES = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [2, 2], [1, 2]])
CELLS = ("precision", "granularity", "entropy")


def search_of(task: Task) -> Search:
    assert task.by_record is not None
    return prepare_search(task, count_records(task.by_record, labeled=False))


def every_choice(search: Search) -> list[Choice]:
    """Blank cells at all nodes, and leave out those that suppress too many records."""
    made = [node_choice(search, score(search, index)) for index in range(search.nodes.size)]
    return [one for one in made if one.suppressed <= search.limit]


@pytest.mark.parametrize("loss", CELLS)
@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_no_node_loses_less_with_cells(loss: str, data: st.DataObject, drawn: SimpleNamespace) -> None:
    question = data.draw(drawn.questions(recoder="optimal", loss=loss))
    task = replace(with_stars(data, question), cells=True)
    every = every_choice(search_of(task))
    try:
        found = recode(task)
    except InfeasibleError:
        assert not every
        assume(False)
        raise
    least = min(one.loss for one in every)
    assert found.loss == pytest.approx(least, abs=1e-12)
    assert found.suppressed <= task.constraints.max_suppressed
    totals = {one.levels: (one.suppressed, sum(one.levels or ())) for one in every if one.loss == least}
    if found.levels in totals:
        assert totals[found.levels] == min(totals.values())


@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_however_little_is_tried_it_is_never_worse_than_for_whole_records(
    data: st.DataObject, drawn: SimpleNamespace
) -> None:
    task = data.draw(drawn.questions(recoder="optimal", loss=data.draw(st.sampled_from(CELLS))))
    try:
        whole = recode(task)
    except InfeasibleError:
        assume(False)
        raise
    search, losses = search_of(replace(task, cells=True)), list[float]()
    for work in (0, 20, 10**9):
        tried: list[int] = []

        def make(own: Search, found: NodeScore, tried: list[int] = tried) -> Choice:
            tried.append(found.node)
            return node_choice(own, found)

        best = least_with_cells(search, make, work=work)
        losses.append(node_choice(search, best).loss)
        assert len({*tried}) == len(tried)
        if not work:
            assert tried == [best.node] and search.nodes.levels(best.node) == whole.levels
    assert whole.loss + 1e-12 >= losses[0] >= losses[1] >= losses[2]


def test_losses_of_classes_are_searched_as_for_whole_records() -> None:
    """No floor is known for them: a blanked cell may make classes larger or smaller."""
    search = search_of(ask(CODES, HIERARCHIES, Constraints(2, 2), recoder="optimal", loss="discernibility"))
    found = optimal_node(search)[0]
    other = search_of(replace(search.task, cells=True))
    assert optimal_node(other)[0].node == found.node


def test_a_node_that_breaks_more_than_the_limit_may_be_the_best_with_cells() -> None:
    task = ask(CODES, HIERARCHIES, Constraints(2, 0), recoder="optimal", loss="granularity")
    whole, cells = recode(task), recode(replace(task, cells=True))
    assert whole.levels == (1, 0) and cells.levels == (0, 0)
    assert (cells.suppressed, cells.cells) == (0, 2)
    assert cells.loss == pytest.approx(2 / 12) and cells.loss < whole.loss


def test_a_class_with_a_blanked_value_of_its_own_may_be_joined_at_no_cost() -> None:
    """The level of the best node has the top's text: only one of two records has a blanked cell there."""
    rows = [["a", "*", "abe", "*"], ["b", "B", "abe", "*"], ["e", "E", "abe", "*"], ["c", "C", "c", "*"]]
    own = hierarchy_of_rows("x", rows)
    codes = np.array([[own.values[0].tolist().index(value)] for value in "abcc"])
    task = ask(codes, (own,), Constraints(2, 0), recoder="optimal", loss="granularity")
    whole, cells = recode(task), recode(replace(task, cells=True))
    assert (whole.levels, whole.loss) == ((2,), pytest.approx(2 * (2 / 3) / 4))
    assert (cells.levels, cells.loss, cells.cells) == ((1,), pytest.approx(1 / 4), 1)


def test_with_little_work_it_goes_down_from_the_best_node_for_whole_records() -> None:
    rng, widths = np.random.default_rng(0), (2, 3, 4, 5)
    rows = [[f"{value}", *[f"{value // w}-{w}" for w in (2, 4)], "*"] for value in range(8)]
    hierarchies = tuple(hierarchy_of_rows(f"c{width}", rows) for width in widths)
    codes = np.stack([rng.integers(0, 8, 300) for _ in widths], axis=1)
    search = search_of(
        ask(codes, hierarchies, Constraints(4, 30), recoder="optimal", loss="granularity", cells=True)
    )
    found = {work: least_with_cells(search, node_choice, work=work) for work in (0, 5_000, 10**9)}
    losses = [node_choice(search, one).loss for one in found.values()]
    assert losses[0] > losses[1] >= losses[2]
