"""Questions to a lattice, drawn or given, and the answer by definition."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from anon_pipeline.recode.fulldomain.search import Search, prepare_search
from anon_pipeline.recode.task import Constraints
from tests.recode.asking import ask, counts_of

LOSSES = ["precision", "granularity"]


def least(nodes: list[SimpleNamespace], loss: str) -> SimpleNamespace:
    """[methods 4]: lower loss, then fewer suppressed, then lower total level, then lexicographic levels."""
    return min(nodes, key=lambda node: (getattr(node, loss), node.suppressed, sum(node.levels), node.levels))


def draw_question(data: st.DataObject, drawn: SimpleNamespace) -> tuple[np.ndarray, list[Any], int, int]:
    codes, hierarchies = data.draw(drawn.tables())
    k = data.draw(st.integers(1, len(codes)))
    return codes, hierarchies, k, data.draw(st.integers(0, len(codes)))


def begin(codes: np.ndarray, hierarchies: list[Any], *, k: int, limit: int, loss: Any) -> Search:
    task = ask(codes, tuple(hierarchies), Constraints(k, limit), "optimal", loss=loss)
    return prepare_search(task, counts_of(task))
