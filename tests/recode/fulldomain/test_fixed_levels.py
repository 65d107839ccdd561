"""The node that is given: what brute force says of it, and what the search that chose it found."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError, InputError
from anon_pipeline.recode import Constraints, choose, choose_elsewhere, recode
from anon_pipeline.recode.choice import recoding_of
from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.fulldomain.counter import TableCounter
from tests.example_counts import examples_of
from tests.recode.asking import ask, counts_of, held


@settings(deadline=None, max_examples=examples_of(200))
@given(data=st.data())
def test_the_answer_is_the_node_or_that_it_breaks_a_limit(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace
) -> None:
    task = data.draw(drawn.questions(recoder="fixed"))
    want = data.draw(st.sampled_from(brute.search(task)))
    task = replace(task, levels=want.levels, cells=False)
    if not want.feasible:
        with pytest.raises(InfeasibleError):
            recode(task)
        return
    found = recode(task)
    assert (found.levels, found.suppressed) == (want.levels, want.suppressed)
    assert found.loss == pytest.approx(float(want.loss), abs=1e-12)


@settings(deadline=None, max_examples=examples_of(200))
@given(data=st.data())
def test_local_suppression_at_any_levels_keeps_all_limits(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace
) -> None:
    """Cells are blanked first; what still goes whole is held to the suppression limit."""
    task = data.draw(drawn.questions(recoder="fixed"))
    node = data.draw(st.sampled_from(brute.search(task)))
    task = replace(task, levels=node.levels, cells=True)
    n, limit = len(task.by_record.codes), task.constraints.max_suppressed
    try:
        found = recode(task)
    except InfeasibleError:
        loose = replace(task, constraints=replace(task.constraints, max_suppressed=n - 1))
        with suppress(InfeasibleError):  # nobody can stay, whatever is blanked
            assert recode(loose).suppressed > limit
        return
    rows = [None if row is None else tuple(map(str, row)) for row in brute.released(found)]
    names = sorted({row for row in rows if row is not None})
    labels = np.array([-1 if row is None else names.index(row) for row in rows], np.int64)
    assert not broken_classes(task.constraints, held(task, labels)).any()
    assert found.levels == node.levels
    assert found.suppressed == (labels < 0).sum() <= limit
    for row, codes in zip(rows, task.by_record.codes, strict=True):
        for shown, leaf, hierarchy, level in zip(
            row or (), codes, task.hierarchies, node.levels, strict=False
        ):
            own = hierarchy.values[level][hierarchy.lookups[level][leaf]]
            assert shown in (str(own), str(hierarchy.values[-1][0]))
    if node.feasible:
        assert found.suppressed <= node.suppressed


def test_cells_are_hidden_where_all_records_would_go(small: SimpleNamespace) -> None:
    """Two pairs that differ in one column: their cells in it are hidden, the two others stay."""
    codes = np.array([(0, 0), (0, 1), (1, 1), (1, 1)])
    task = ask(codes, small.hierarchies, small.constraints, recoder="fixed", levels=(0, 0))
    with pytest.raises(InfeasibleError):
        recode(task)
    found = recode(replace(task, cells=True))
    shown = [
        tuple(str(values[code]) for values, code in zip(found.values, row, strict=True))
        for row in found.codes
    ]
    assert shown == [("x", "*"), ("x", "*"), ("y", "y"), ("y", "y")]
    assert (found.suppressed, found.cells) == (0, 2)


@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_the_levels_that_a_search_found_give_its_recoding(
    data: st.DataObject, drawn: SimpleNamespace
) -> None:
    task = data.draw(drawn.questions(recoder="optimal"))
    try:
        want = recode(task)
    except InfeasibleError:
        return
    again = replace(task, recoder="fixed", levels=want.levels)
    table = counts_of(again)
    recodings = (
        recode(again),
        recoding_of(choose(again, table), task.by_record.labels),
    )
    for found in recodings:
        assert found.codes.tolist() == want.codes.tolist()
        assert (found.loss, found.suppressed, found.cells) == (want.loss, want.suppressed, want.cells)
    elsewhere = choose_elsewhere(again, TableCounter(again, table), most=2)
    assert (elsewhere.levels, elsewhere.suppressed) == (want.levels, want.suppressed)


def test_a_level_that_a_hierarchy_does_not_have(small: SimpleNamespace) -> None:
    task = ask(small.codes, small.hierarchies, small.constraints, recoder="fixed", levels=(0, 9))
    with pytest.raises(InputError, match=r"anonymize\.levels\.b: must be at most 1, .*, got 9") as raised:
        recode(task)
    assert len(raised.value.problems) == 1
    with pytest.raises(ValueError, match="one for each column"):
        recode(replace(task, levels=(0,)))


def test_what_breaks_a_limit_beyond_the_suppression_limit_says_what_to_raise(small: SimpleNamespace) -> None:
    codes = small.codes.copy()
    codes[0, 0] = 1
    task = ask(codes, small.hierarchies, small.constraints, recoder="fixed", levels=(0, 0))
    with pytest.raises(
        InfeasibleError, match=r"k fails .* Raise suppression_limit or a level of anonymize\.levels\."
    ):
        recode(task)
    assert recode(replace(task, levels=(1, 0))).suppressed == 0


@pytest.fixture
def small(from_rows: object) -> SimpleNamespace:
    hierarchies = tuple(from_rows(name, [("x", "*"), ("y", "*")]) for name in "ab")  # type: ignore[operator]
    return SimpleNamespace(
        codes=np.zeros((4, 2), np.int64), hierarchies=hierarchies, constraints=Constraints(2, 0)
    )
