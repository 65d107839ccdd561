"""Every node of small lattices counts and bounds as brute force says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.recode.fulldomain import layout, roll_up
from anon_pipeline.recode.fulldomain.bounds import rule_out
from anon_pipeline.recode.fulldomain.fast import tables as keeping
from anon_pipeline.recode.fulldomain.search import (
    count,
    is_feasible,
    is_k_anonymous,
    prepare_search,
    score,
)
from tests.example_counts import examples_of
from tests.recode.asking import counts_of


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("word_bits", "stepped"), [(62, 2_000), (3, 0)])
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_every_node_counts_and_bounds_as_brute_force_says(
    data: st.DataObject,
    drawn: SimpleNamespace,
    brute: SimpleNamespace,
    loss: Any,
    word_bits: int,
    stepped: int,
) -> None:
    """In any order, so from any table made before; with keys of several words; no bound is ever beaten."""
    task = data.draw(drawn.tasks("optimal", loss))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keeping, "_STEPPED", stepped)
        patch.setattr(keeping, "_FEW", stepped)
        patch.setattr(layout, "_WORD", word_bits)
        patch.setattr(roll_up, "_ROWS", 3 if stepped == 0 else 2_000_000)
        search = prepare_search(task, counts_of(task))
        nodes = brute.search(task)
        floors = search.bounds.alone.copy()
        for index in data.draw(st.permutations(range(len(nodes)))):
            node, got = nodes[index], score(search, index)
            assert count(search, index).small == node.small
            assert got.suppressed == (node.suppressed if node.anonymous else node.small)
            assert is_k_anonymous(search, index) == node.anonymous
            assert is_feasible(search, index) == node.feasible
            if node.feasible:
                assert search.units.loss(got.score) == node.loss
            found = count(search, index)
            rule_out(search.bounds, floors, search.nodes, index, found, limit=search.limit)
    for index, node in enumerate(nodes):
        if node.feasible:
            assert floors.reshape(-1)[index] <= search.bounds.of(score(search, index).score)
