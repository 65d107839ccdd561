"""Top-down specialization: never better than the best of all fronts, and not to be improved by one step."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.recode import Constraints, recode
from anon_pipeline.recode.subtree.search import hidden_state, look_at, reached_in
from anon_pipeline.recode.subtree.top_down import top_down
from tests.example_counts import examples_of
from tests.recode.asking import ask
from tests.recode.subtree.questions import random_task


@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None, max_examples=examples_of(80))
@given(data=st.data())
def test_no_value_that_could_be_shown_is_still_hidden(
    data: st.DataObject, drawn: SimpleNamespace, fronts: SimpleNamespace, loss: str
) -> None:
    task = data.draw(drawn.tasks("top_down", loss))
    search = fronts.search(task)
    if look_at(search, hidden_state(search)).excess:
        with pytest.raises(InfeasibleError):
            top_down(search)
        return
    state = top_down(search)
    own = look_at(search, state)
    assert own.excess == 0
    assert own.score <= look_at(search, hidden_state(search)).score
    for place in np.flatnonzero(reached_in(search, state) & ~state).tolist():
        further = state.copy()
        further[place] = True
        then = look_at(search, further)
        assert then.excess or then.score > own.score


@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_it_is_never_better_than_all_fronts(
    data: st.DataObject, drawn: SimpleNamespace, fronts: SimpleNamespace
) -> None:
    task = data.draw(drawn.questions(recoder="top_down", limited=False))
    search = fronts.search(task)
    if search.size > 9:
        return
    best = min(
        own.loss for own in (fronts.brute(task, search, s) for s in fronts.every(search)) if not own.excess
    )
    assert recode(task).loss >= float(best) - 1e-12


def test_rare_values_stay_hidden_while_others_are_shown(from_rows) -> None:
    rows = [("a", "A", "*"), ("b", "A", "*"), ("c", "B", "*"), ("d", "B", "*")]
    hierarchy = from_rows("x", rows)
    codes = np.repeat([0, 1, 2, 3], [5, 5, 1, 2]).reshape(-1, 1)
    found = recode(ask(codes, [hierarchy], Constraints(3, 0), recoder="top_down", loss="granularity"))
    released = found.values[0][found.codes[:, 0]].tolist()
    assert released == ["a"] * 5 + ["b"] * 5 + ["B"] * 3
    assert (found.levels, found.suppressed) == (None, 0)
    assert found.loss == pytest.approx(3 * 1 / 3 / 13)


@pytest.mark.parametrize("limit", [8, 30])
def test_what_lost_more_at_first_is_looked_at_again(fronts: SimpleNamespace, limit: int) -> None:
    """Of such tables, one in twenty has a value that is refused at first and gains in the end."""
    for seed in range(60):
        task = random_task(seed, "top_down", records=80, columns="abc", limit=limit)
        search = fronts.search(task)
        state = top_down(search)
        own = look_at(search, state)
        for place in np.flatnonzero(reached_in(search, state) & ~state).tolist():
            further = state.copy()
            further[place] = True
            then = look_at(search, further)
            assert then.excess or then.score > own.score, seed
