"""Samarati: least height, for k by bisection and for t and l upward from there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.catalog.recoders import PREFERENCES
from anon_pipeline.recode import Constraints, recode
from tests.example_counts import examples_of
from tests.recode.asking import ask


@pytest.mark.parametrize("prefer", PREFERENCES)
@settings(deadline=None, max_examples=examples_of(80))
@given(data=st.data())
def test_the_answer_is_the_preferred_node_of_least_height(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, prefer: Any
) -> None:
    task = data.draw(drawn.questions(recoder="samarati", prefer=prefer))
    feasible = [node for node in brute.search(task) if node.feasible]
    if not feasible:
        with pytest.raises(InfeasibleError):
            recode(task)
        return
    height = min(sum(node.levels) for node in feasible)
    want = brute.best(task, [node for node in feasible if sum(node.levels) == height])
    found = recode(task)
    assert (found.levels, found.suppressed) == (want.levels, want.suppressed)


def test_heights_are_bisected(from_rows: Any) -> None:
    """A chain of 16 levels whose least height is found with four heights and a look at the answer."""
    rows = [(a, *(max(a, level) for level in range(1, 15)), "*") for a in range(16)]
    task = ask(np.arange(16)[:, None], (from_rows("x", rows),), Constraints(16, 0), recoder="samarati")
    found = recode(task)
    assert found.levels == (15,)
    assert found.checked == 5 - 1 + 1
