"""What a search asks of a table that is not in memory, and how the counts of parts of a node add up.

Whoever holds the table answers by grouping leaf codes; nothing here knows how. `TableCounter` answers from a
table in memory, part by part, and is what others are held against.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import group_rows
from anon_pipeline.recode.fulldomain.layout import node_tables
from anon_pipeline.recode.fulldomain.nodes import NodeCount, count_node
from anon_pipeline.recode.loss import Kept, cell_costs
from anon_pipeline.recode.task import Task
from anon_pipeline.recode.tuples import DistinctTuples, generalize, leaf_counts, some_tuples


class NodeCounter(Protocol):
    """Counts the classes of nodes, wherever the table is."""

    def table(self, levels: Sequence[int], most: int | None = None) -> DistinctTuples | None:
        """Return the classes of a node as a table.

        Args:
            levels: (q,) of the node.
            most: classes, and values of them, that fit.
        Returns:
            Classes as `tuples.generalize` writes them; None: there are more than ``most``.
        Raises:
            InputError: there are more than fit anywhere.
        """
        ...

    def count(self, levels: Sequence[int]) -> NodeCount:
        """Count and price the classes of one node; `count_part` does it for some, `add_counts` for all."""
        ...

    def small(self, levels: Sequence[int]) -> int:
        """Return how many records of a node are in classes of fewer than k records."""
        ...


class Counter(NodeCounter, Protocol):
    """Counts the records of a table, wherever it is."""

    @property
    def records(self) -> int:
        """Records of the table (n)."""
        ...

    def leaves(self) -> tuple[NDArray[np.int64], ...]:
        """Return the records of each leaf of each column, q times (D,)."""
        ...

    def values(self) -> tuple[NDArray[np.int64], ...]:
        """Return the records with each value of each limited column, (v,) each."""
        ...

    def pairs(self, one: int, other: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pairs of leaves of two columns that occur, (c, 2), and the records of each, (c,)."""
        ...


def count_part(
    task: Task,
    leaves: Sequence[NDArray[np.int64]],
    part: DistinctTuples,
    levels: Sequence[int],
    *,
    limit: int,
) -> NodeCount:
    """Count some of the classes of a node.

    Args:
        leaves: q times (D,) records of each leaf, in the whole table.
        part: whole classes of the node, as a table.
        levels: (q,) of the node.
        limit: records that may be suppressed in the whole table.
    """
    costs = [
        cell_costs(hierarchy, task.loss, own) for hierarchy, own in zip(task.hierarchies, leaves, strict=True)
    ]
    return count_node(node_tables(task, part, costs, limit=limit, fast=False), levels)


def _add(parts: Sequence[Kept], limit: int) -> Kept:
    """Add up what parts keep; costs only where no more is suppressed than may be."""
    suppressed = sum(part.suppressed for part in parts)
    priced = suppressed <= limit and all(part.sums for part in parts)
    return Kept(
        suppressed,
        sum(part.classes for part in parts),
        sum(part.squares for part in parts),
        sum(part.mistakes for part in parts),
        tuple(map(sum, zip(*(part.sums for part in parts), strict=True))) if priced else (),
    )


def add_counts(parts: Iterable[NodeCount], *, limit: int) -> NodeCount:
    """Add up the counts of parts that together are all classes of a node, each in one part.

    Args:
        limit: records that may be suppressed.
    """
    found = list(parts)
    return NodeCount(
        sum(part.small for part in found),
        _add([part.whole for part in found], -1),
        _add([part.lasting for part in found], limit),
        _add([part.final for part in found], limit),
    )


@dataclass(frozen=True, slots=True, eq=False)
class TableCounter:
    """A `Counter` of a table in memory.

    task: the question.
    whole: the table, with the values of the limited columns and of the target.
    parts: into how many parts the classes of a node are divided to be counted.
    """

    task: Task
    whole: DistinctTuples = field(repr=False)
    parts: int = 1

    @property
    def records(self) -> int:
        """Records of the table (n)."""
        return self.whole.records

    def leaves(self) -> tuple[NDArray[np.int64], ...]:
        """Return the records of each leaf of each column, q times (D,)."""
        return leaf_counts(self.whole, self.task.hierarchies)

    def values(self) -> tuple[NDArray[np.int64], ...]:
        """Return the records with each value of each limited column, (v,) each."""
        counted = self.whole.counted
        columns = range(0 if counted is None else counted.limited)
        found = [counted.column(place, self.whole.counts) for place in columns] if counted else []
        return tuple(np.bincount(own.codes, own.counts).astype(np.int64) for own in found)

    def pairs(self, one: int, other: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pairs of leaves of two columns that occur, (c, 2), and the records of each, (c,)."""
        codes = self.whole.tuples[:, [one, other]]
        first, labels, _ = group_rows(codes)
        counts = np.zeros(len(first), np.int64)
        np.add.at(counts, labels, self.whole.counts)
        return codes[first], counts

    def table(self, levels: Sequence[int], most: int | None = None) -> DistinctTuples | None:
        """Return the classes of a node as a table; None: there are more than ``most``."""
        found = generalize(self.whole, self.task.hierarchies, levels)
        return found if most is None or found.entries <= most else None

    def count(self, levels: Sequence[int]) -> NodeCount:
        """Count and price the classes of one node, part by part."""
        limit = min(self.task.constraints.max_suppressed, self.records - 1)
        classes, leaves = generalize(self.whole, self.task.hierarchies, levels), self.leaves()
        own = np.arange(len(classes.counts)) % self.parts
        return add_counts(
            (
                count_part(self.task, leaves, some_tuples(classes, own == part), levels, limit=limit)
                for part in range(min(self.parts, len(own)))
            ),
            limit=limit,
        )

    def small(self, levels: Sequence[int]) -> int:
        """Return how many records of a node are in classes of fewer than k records."""
        sizes = generalize(self.whole, self.task.hierarchies, levels).counts
        return int(sizes[sizes < self.task.constraints.k].sum())
