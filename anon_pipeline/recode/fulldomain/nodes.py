"""Counting the classes of lattice nodes: the arrays that the kernels need, laid out once per table.

Belongs here: layout, key packing, scratch space. Does not belong here: loops over tuples (`kernels`), the
order in which nodes are looked at (`search`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.hierarchy.model import Hierarchy
from anon_pipeline.recode.fulldomain.kernels import group_keys, pack_keys, price_classes
from anon_pipeline.recode.table import DistinctTuples

__all__ = ["NodeCount", "NodeTables", "count_node", "node_tables"]

_LARGEST_KEY = 2**62


@dataclass(frozen=True, slots=True)
class NodeCount:
    """What one node does to the table.

    suppressed: records in classes below k.
    classes: classes of at least one record, those below k included.
    sums: q costs over the kept records, by attribute.
    """

    suppressed: int
    classes: int
    sums: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class NodeTables:
    """One table and its hierarchies, ready for the kernels.

    tuples: (q, t) leaf codes.
    counts: (t,) records of each tuple.
    lookup: (x,) generalized code of each leaf: all levels of all attributes, end to end.
    cost: (x,) cost of a released cell, in the same layout.
    starts: q × h where a level begins in ``lookup``.
    widths: q × h codes on a level.
    largest_key: where a key needs a further word.
    keys, slots, classes: (w, t), (power of two ≥ 8·t,), (2, t); scratch, used again for every node.
    """

    tuples: NDArray[np.int64] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    lookup: NDArray[np.int64] = field(repr=False)
    cost: NDArray[np.int64] = field(repr=False)
    starts: tuple[tuple[int, ...], ...]
    widths: tuple[tuple[int, ...], ...]
    largest_key: int
    keys: NDArray[np.int64] = field(repr=False)
    slots: NDArray[np.int64] = field(repr=False)
    classes: NDArray[np.int64] = field(repr=False)


def _strides(widths: Sequence[int], largest: int) -> tuple[list[tuple[int, int]], int, int]:
    """Lay digits of these widths into as few words as they need.

    Returns:
        Stride and word of each digit (stride 0 where there is one value), number of words, and the product
        of the widths (0 if several words).
    """
    places, word, space = [], 0, 1
    for width in widths:
        if space * width > largest:
            word, space = word + 1, 1
        places.append((space if width > 1 else 0, word))
        space *= width
    return places, word + 1, 0 if word else space


def node_tables(
    table: DistinctTuples,
    hierarchies: Sequence[Hierarchy],
    costs: Sequence[Sequence[NDArray[np.int64]]],
    *,
    largest_key: int = _LARGEST_KEY,
) -> NodeTables:
    """Lay out a table for `count_node`.

    Args:
        table: the records.
        hierarchies: q hierarchies.
        costs: of `cell_costs`, by attribute.
        largest_key: where a key needs a further word; tests lower it.
    """
    tuples = np.ascontiguousarray(table.tuples.T)
    flat = [lookup for hierarchy in hierarchies for lookup in hierarchy.lookups]
    begins = iter(np.cumsum([0] + [len(lookup) for lookup in flat]).tolist())
    starts = tuple(tuple(next(begins) for _ in hierarchy.lookups) for hierarchy in hierarchies)
    widths = tuple(tuple(int(lookup[-1]) + 1 for lookup in hierarchy.lookups) for hierarchy in hierarchies)
    words = _strides([levels[0] for levels in widths], largest_key)[1]
    rows = tuples.shape[1]
    none = [np.zeros(0, np.int64)]
    return NodeTables(
        tuples=tuples,
        counts=table.counts,
        lookup=np.concatenate(flat or none),
        cost=np.concatenate([cost for levels in costs for cost in levels] or none),
        starts=starts,
        widths=widths,
        largest_key=largest_key,
        keys=np.empty((words, rows), np.int64),
        slots=np.empty(4 << max(1, (2 * rows - 1).bit_length()), np.int64),
        classes=np.empty((2, rows), np.int64),
    )


def count_node(tables: NodeTables, levels: Sequence[int], *, k: int) -> NodeCount:
    """Count and price the classes of one node.

    Args:
        tables: of `node_tables`; its scratch is overwritten.
        levels: (q,) level of each attribute.
        k: records that a class needs to be kept.
    """
    widths = [width[level] for width, level in zip(tables.widths, levels, strict=True)]
    starts = np.array([start[level] for start, level in zip(tables.starts, levels, strict=True)], np.int64)
    strides, words, space = _strides(widths, tables.largest_key)
    places = np.empty((len(widths), 3), np.int64)
    places[:, 0] = starts
    places[:, 1:] = np.array(strides, np.int64).reshape(-1, 2)
    keys = tables.keys[:words]
    pack_keys(tables.tuples, tables.lookup, places, keys)
    classes = group_keys(keys, tables.counts, space, tables.slots, tables.classes)
    suppressed, sums = price_classes(tables.classes, classes, k, tables.tuples, tables.cost, starts)
    return NodeCount(int(suppressed), int(classes), tuple(sums.tolist()))
