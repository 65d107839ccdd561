"""OLA against brute force over all nodes: every minimal node, and the best of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.fulldomain.ola import minimal_nodes, ola
from anon_pipeline.recode.fulldomain.search import Search, score
from tests.example_counts import examples_of
from tests.recode.fulldomain.questions import LOSSES, begin, draw_question, least


@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_ola_finds_every_minimal_node_and_takes_the_best(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, loss: Any
) -> None:
    codes, hierarchies, k, limit = draw_question(data, drawn)
    nodes = brute.nodes(codes, hierarchies, k)
    minimal = brute.minimal(nodes, limit, len(codes))
    search = begin(codes, hierarchies, k=k, limit=limit, loss=loss)
    assert minimal_nodes(search) == minimal
    got, want = ola(search), least([node for node in nodes if node.levels in minimal], loss)
    assert (search.nodes.levels(got.node), search.units.loss(got.score)) == (want.levels, getattr(want, loss))


def test_golden_medical(golden, shared_golden, from_rows, encode_column) -> None:
    rows = [line.split(";")[1:3] for line in (shared_golden / "medical.csv").read_text().splitlines()[1:]]
    ages, zips = ([row[column] for row in rows] for column in (0, 1))
    age = from_rows("age", [(a, f"5:{int(a) // 5}", f"10:{int(a) // 10}", "*") for a in sorted(set(ages))])
    zip_code = from_rows("zip", [(z, z[:4] + "*", "*") for z in sorted(set(zips))])
    codes = np.stack([encode_column(ages, age), encode_column(zips, zip_code)], axis=1)
    search = begin(codes, [age, zip_code], k=2, limit=0, loss="precision")
    want = golden["medical_k2"]
    assert minimal_nodes(search) == [tuple(levels) for levels in want["minimal_nodes"]]
    anonymous = [levels for levels in np.ndindex(4, 3) if _suppressed(search, levels) == 0]
    assert anonymous == [tuple(levels) for levels in want["anonymous_nodes"]]


def _suppressed(search: Search, levels: tuple[int, ...]) -> int:
    return score(search, search.nodes.index(levels)).suppressed
