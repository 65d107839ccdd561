"""Counting nodes: keys of one word and of several; brute force over whole lattices is in `test_optimum`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.fulldomain.layout import key_fields, node_tables
from anon_pipeline.recode.fulldomain.nodes import count_node
from anon_pipeline.recode.loss import cell_costs
from anon_pipeline.recode.task import Constraints
from tests.recode.asking import ask, counts_of


def test_tuples_too_wide_for_one_word_are_compared_in_full() -> None:
    """Five columns of 100,000 leaves need 83 bits; a truncated key would merge classes."""
    leaves = 100_000
    lookups = (np.arange(leaves), np.zeros(leaves, np.int64))
    values = (np.arange(leaves).astype(object), np.array(["*"], object))
    hierarchies = [Hierarchy(f"c{column}", lookups, values) for column in range(5)]
    rng = np.random.default_rng(3)
    codes = np.repeat(rng.integers(0, leaves, (500, 5)), 2, axis=0)
    codes[1::4, 0] = (codes[1::4, 0] + 1) % leaves  # half of the pairs differ in the first column alone
    task = ask(codes, tuple(hierarchies), Constraints(2, len(codes)), "optimal", loss="granularity")
    costs = [cell_costs(h, "granularity", np.ones(leaves, np.int64)) for h in hierarchies]
    tables = node_tables(task, counts_of(task), costs)
    assert tables.scratch.keys.shape[0] == 2
    bottom, above = (count_node(tables, (level, 0, 0, 0, 0)) for level in range(2))
    assert (bottom.final.suppressed, bottom.whole.classes) == (500, 750)
    assert (above.final.suppressed, above.final.sums) == (0, (1000 * 99_999, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("leaves", "fields", "words"),
    [
        ([2, 100, 5], ((0, 0, 1), (0, 1, 127), (0, 8, 7)), 1),
        ([2, 1, 5], ((0, 0, 1), (0, 1, 0), (0, 1, 7)), 1),
        ([], (), 1),
        (
            [10**5] * 4,
            tuple((word, shift, 2**17 - 1) for word, shift in ((0, 0), (0, 17), (0, 34), (1, 0))),
            2,
        ),
    ],
)
def test_fields_never_outgrow_their_word(leaves: list[int], fields: Any, words: int) -> None:
    hierarchies = [
        Hierarchy("x", (np.zeros(count, np.int64),), (np.array(["*"], object),)) for count in leaves
    ]
    assert key_fields(hierarchies, 62) == (fields, words)


def test_golden_race_zip(golden, shared_golden, from_rows, encode_column) -> None:
    rows = [line.split(";") for line in (shared_golden / "race_zip.csv").read_text().split()[1:]]
    race = from_rows("race", [(value, "person") for value in sorted({row[0] for row in rows})])
    zips = from_rows("zip", [(z, z[:4] + "*", z[:3] + "**") for z in sorted({row[1] for row in rows})])
    columns = zip(*rows, strict=True)
    codes = np.stack(
        [encode_column(column, h) for column, h in zip(columns, (race, zips), strict=True)], axis=1
    )
    task = ask(codes, (race, zips), Constraints(2, len(codes)), "optimal")
    costs = [cell_costs(h, "precision", np.ones(h.leaves, np.int64)) for h in (race, zips)]
    tables = node_tables(task, counts_of(task), costs)
    for node in golden["race_zip_k2"]["nodes"]:
        count = count_node(tables, node["levels"])
        assert (count.whole.classes, count.final.suppressed) == (node["classes"], node["suppressed_for_k"])
