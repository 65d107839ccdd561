"""The classes of a node from those of a node below it: rolled up, their values added up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from anon_pipeline.recode.fulldomain.kernels import roll_up
from anon_pipeline.recode.fulldomain.layout import NodeTables, hash_slots
from anon_pipeline.recode.fulldomain.node_table import Histograms, NodeTable
from anon_pipeline.recode.fulldomain.values import by_class, merge

_ROWS: Final = 2_000_000  # of one call of a kernel: less than half a second
_MERGED: Final = 500_000  # classes whose values one call adds up


def parts(rows: int, of: int) -> list[tuple[int, int]]:
    """Cut a loop over classes into calls that return before long."""
    return [(begin, min(begin + of, rows)) for begin in range(0, rows, of)]


def roll_up_table(tables: NodeTables, below: NodeTable, levels: Sequence[int]) -> NodeTable:
    """Make the table of a node from that of a node below it.

    Args:
        below: the table of a node below, such as the whole table.
    Returns:
        A table whose keys and sizes lie in scratch space: the next call overwrites them.
    """
    rows = len(below.sizes)
    changes = [
        (*tables.key_fields[j], tables.codes_begin[j][here][there])
        for j, (here, there) in enumerate(zip(below.levels, levels, strict=True))
        if here != there
    ]
    fields = np.array(changes, np.int64).reshape(-1, 4)
    used, found = hash_slots(rows), 0
    labels = tables.scratch.labels[: 0 if below.histograms is None else rows]
    out = (tables.scratch.keys, tables.scratch.sizes, labels)
    for begin, end in parts(rows, _ROWS):
        found = roll_up(
            (below.keys, below.sizes),
            (fields, tables.codes_above),
            (tables.scratch.slots, used),
            out,
            (begin, end, found),
        )
    histograms = None if below.histograms is None else _merge(tables, below, below.histograms, found)
    return NodeTable(tuple(levels), tables.scratch.keys[:, :found], tables.scratch.sizes[:found], histograms)


def _merge(tables: NodeTables, below: NodeTable, histograms: Histograms, found: int) -> Histograms:
    """Add up the histograms of the classes that become one, (found) of them."""
    rows, a, entries = len(below.sizes), tables.columns, len(histograms[1])
    first, order = np.empty(found + 1, np.int64), tables.scratch.order[:rows]
    by_class(tables.scratch.labels[:rows], first, order)
    starts = np.zeros(found * a + 1, np.int64)
    codes, weights, values, counts = tables.scratch.values[:, :entries]
    scratch, out = (codes, weights, tables.scratch.seen), (starts, values, counts)
    for begin, end in parts(found, _MERGED):
        merge(histograms, (first, order), out, scratch, (begin, end, a))
    return starts, values[: starts[-1]].copy(), counts[: starts[-1]].copy()
