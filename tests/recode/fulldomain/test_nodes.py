"""Counting nodes: against brute force, with keys of one word and of several."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.hierarchy.model import Hierarchy
from anon_pipeline.recode.fulldomain.nodes import _strides, count_node, node_tables
from anon_pipeline.recode.loss import cell_costs
from anon_pipeline.recode.table import distinct_tuples


@pytest.mark.parametrize("largest_key", [2**62, 7, 6])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_every_node_counts_as_brute_force_does(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, largest_key: int
) -> None:
    codes, hierarchies = data.draw(drawn.tables())
    k = data.draw(st.integers(1, 6))
    table, costs = distinct_tuples(codes, hierarchies), [cell_costs(h, "precision") for h in hierarchies]
    tables = node_tables(table, hierarchies, costs, largest_key=largest_key)
    for node in brute.nodes(codes, hierarchies, k):
        count = count_node(tables, node.levels, k=k)
        assert (count.suppressed, count.classes) == (node.suppressed, node.classes)
        assert count.sums == tuple(level * (len(codes) - node.suppressed) for level in node.levels)


def test_tuples_too_wide_for_one_word_are_compared_in_full() -> None:
    """Five columns of 100,000 leaves need 83 bits; a truncated key would merge classes."""
    leaves = 100_000
    lookups = (np.arange(leaves), np.zeros(leaves, np.int64))
    values = (np.arange(leaves).astype(object), np.array(["*"], object))
    hierarchies = [Hierarchy(f"c{column}", lookups, values) for column in range(5)]
    rng = np.random.default_rng(3)
    codes = np.repeat(rng.integers(0, leaves, (500, 5)), 2, axis=0)
    codes[1::4, 0] = (codes[1::4, 0] + 1) % leaves  # half of the pairs differ in the first column alone
    table = distinct_tuples(codes, hierarchies)
    tables = node_tables(table, hierarchies, [cell_costs(h, "granularity") for h in hierarchies])
    assert tables.keys.shape[0] == 2
    assert count_node(tables, (0, 0, 0, 0, 0), k=2).suppressed == 500
    assert count_node(tables, (0, 0, 0, 0, 0), k=2).classes == 750
    assert count_node(tables, (1, 0, 0, 0, 0), k=2).suppressed == 0
    assert count_node(tables, (1, 0, 0, 0, 0), k=2).sums == (1000 * 99_999, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("widths", "places", "words", "space"),
    [
        ([2, 100, 5], [(1, 0), (2, 0), (200, 0)], 1, 1000),
        ([2, 1, 5], [(1, 0), (0, 0), (2, 0)], 1, 10),
        ([], [], 1, 1),
        ([10**5] * 5, [(1, 0), (10**5, 0), (10**10, 0), (1, 1), (10**5, 1)], 2, 0),
        ([2**31, 2**31, 2], [(1, 0), (2**31, 0), (1, 1)], 2, 0),
    ],
)
def test_digits_never_outgrow_their_word(
    widths: list[int], places: list[tuple[int, int]], words: int, space: int
) -> None:
    assert _strides(widths, 2**62) == (places, words, space)


def test_golden_race_zip(golden, shared_golden, from_rows, encode_column) -> None:
    rows = [line.split(";") for line in (shared_golden / "race_zip.csv").read_text().split()[1:]]
    race = from_rows("race", [(value, "person") for value in sorted({row[0] for row in rows})])
    zips = from_rows("zip", [(z, z[:4] + "*", z[:3] + "**") for z in sorted({row[1] for row in rows})])
    columns = zip(*rows, strict=True)
    codes = np.stack(
        [encode_column(column, h) for column, h in zip(columns, (race, zips), strict=True)], axis=1
    )
    table = distinct_tuples(codes, [race, zips])
    tables = node_tables(table, [race, zips], [cell_costs(h, "precision") for h in (race, zips)])
    for node in golden["race_zip_k2"]["nodes"]:
        count = count_node(tables, node["levels"], k=2)
        assert (count.classes, count.suppressed) == (node["classes"], node["suppressed_for_k"])
