"""MinGen: the best of all nodes by every criterion, on small lattices."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError, InputError
from anon_pipeline.catalog.recoders import PREFERENCES
from anon_pipeline.recode import Constraints, recode
from tests.example_counts import examples_of
from tests.recode.asking import ask


@pytest.mark.parametrize("prefer", PREFERENCES)
@settings(deadline=None, max_examples=examples_of(80))
@given(data=st.data())
def test_the_answer_is_the_best_of_all_nodes(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, prefer: Any
) -> None:
    task = data.draw(drawn.questions(recoder="mingen", prefer=prefer))
    nodes = brute.search(task)
    feasible = [node for node in nodes if node.feasible]
    if not feasible:
        with pytest.raises(InfeasibleError):
            recode(task)
        return
    found, want = recode(task), brute.best(task, feasible)
    assert (found.levels, found.suppressed, found.checked) == (want.levels, want.suppressed, len(nodes))
    assert found.loss == pytest.approx(float(want.loss), abs=1e-12)


def test_a_larger_lattice_is_refused_with_its_size(from_rows: Any) -> None:
    hierarchies = tuple(from_rows(f"c{j}", [("a", "*"), ("b", "*")]) for j in range(14))
    task = ask(np.zeros((5, 14), np.int64), hierarchies, Constraints(2, 0), recoder="mingen")
    with pytest.raises(InputError, match=r"at most 10,000 nodes for mingen.*got 16,384\. Use optimal"):
        recode(task)
