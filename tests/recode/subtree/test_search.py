"""What a state suppresses and loses, against brute force record by record."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.recode import Constraints
from anon_pipeline.recode.subtree.search import look_at, prepare_search, reached_in
from anon_pipeline.recode.tuples import DistinctTuples
from tests.example_counts import examples_of
from tests.recode.asking import ask


@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_a_state_is_as_good_as_brute_force_says(
    data: st.DataObject, drawn: SimpleNamespace, fronts: SimpleNamespace, loss: str
) -> None:
    task = data.draw(drawn.tasks("top_down", loss))
    search = fronts.search(task)
    bits = st.lists(st.booleans(), min_size=search.size, max_size=search.size)
    state = np.array(data.draw(bits), np.bool_)
    want, found = fronts.brute(task, search, state), look_at(search, state)
    assert (found.suppressed, found.excess) == (want.suppressed, want.excess)
    assert float(search.units.loss(found.score)) == pytest.approx(float(want.loss), abs=1e-9)


@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_what_is_not_reached_does_not_matter(
    data: st.DataObject, drawn: SimpleNamespace, fronts: SimpleNamespace
) -> None:
    search = fronts.search(data.draw(drawn.tasks("top_down", "granularity", columns=0)))
    bits = st.lists(st.booleans(), min_size=search.size, max_size=search.size)
    one, other = (np.array(data.draw(bits), np.bool_) for _ in range(2))
    reached = reached_in(search, one)
    assert look_at(search, np.where(reached, one, other)) == look_at(search, one)


def test_more_records_than_a_loss_can_count_are_refused_by_name(from_rows) -> None:
    hierarchy = from_rows("x", [("a", "*"), ("b", "*")])
    task = ask(
        np.array([[0], [1]]), [hierarchy], Constraints(1, 0), recoder="top_down", loss="discernibility"
    )
    huge = DistinctTuples(np.array([[0], [1]], np.int32), np.array([2**33, 2**33]))
    with pytest.raises(InputError, match="discernibility must have at most"):
        prepare_search(task, huge)
