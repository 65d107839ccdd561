"""Full-domain search of a table whose tuples do not fit into memory: the same node, loss and suppression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.choice import Choice
from anon_pipeline.recode.fulldomain.best_node import choose_node
from anon_pipeline.recode.fulldomain.counter import Counter
from anon_pipeline.recode.fulldomain.fixed_levels import refuse_other_levels
from anon_pipeline.recode.fulldomain.floors import marginal_floors
from anon_pipeline.recode.fulldomain.lattice import lattice
from anon_pipeline.recode.fulldomain.layout import NodeTables, node_tables
from anon_pipeline.recode.fulldomain.nodes import NodeCount, count_node
from anon_pipeline.recode.fulldomain.search import Search, Source, search_source
from anon_pipeline.recode.loss import cell_costs
from anon_pipeline.recode.task import Task
from anon_pipeline.recode.tuples import DistinctTuples

_SHARE = 4  # a table that is kept fills at most one of so many parts of the room


class _Kept(NamedTuple):
    """The classes of one node, laid out for counting the nodes above it; and how many numbers they are."""

    levels: tuple[int, ...]
    tables: NodeTables
    entries: int


@dataclass(frozen=True, slots=True, eq=False)
class KeepingCounter:
    """A `NodeCounter` that keeps classes which fit, and counts the nodes above them in memory.

    counter: asked for everything else.
    task: the question; ``leaves``: q times (D,) records of each leaf.
    most: tuples, and values of them, that fit together.
    kept: used longest ago first.
    large: nodes whose classes do not fit, so those of the nodes below them do not either.
    """

    counter: Counter
    task: Task
    leaves: tuple[NDArray[np.int64], ...] = field(repr=False)
    most: int
    kept: list[_Kept] = field(default_factory=list, repr=False)
    large: list[tuple[int, ...]] = field(default_factory=list, repr=False)

    def table(self, levels: Sequence[int], most: int | None = None) -> DistinctTuples | None:
        """Return the classes of a node as a table; None: there are more than ``most``."""
        return self.counter.table(levels, most)

    def count(self, levels: Sequence[int]) -> NodeCount:
        """Count a node from classes below it that are kept, or from its own if they fit, or elsewhere."""
        tables = self._tables(tuple(levels))
        return self.counter.count(levels) if tables is None else count_node(tables, levels)

    def small(self, levels: Sequence[int]) -> int:
        """Return how many records of a node are in classes of fewer than k, counted as in `count`."""
        tables = self._tables(tuple(levels))
        return self.counter.small(levels) if tables is None else count_node(tables, levels).small

    def _tables(self, wanted: tuple[int, ...]) -> NodeTables | None:
        """Return kept classes that a node can be counted from; else keep its own. None: they do not fit."""
        below = [kept for kept in self.kept if _lies_below(kept.levels, wanted)]
        if below:
            least = min(below, key=lambda kept: kept.entries)
            self.kept.remove(least)
            self.kept.append(least)
            return least.tables
        if any(_lies_below(wanted, large) for large in self.large):
            return None
        table = self.counter.table(wanted, self.most // _SHARE)
        if table is None:
            self.large.append(wanted)
            return None
        return self._keep(wanted, table)

    def _keep(self, levels: tuple[int, ...], table: DistinctTuples) -> NodeTables:
        """Keep the classes of a node, in place of those that were used longest ago."""
        entries = table.entries
        while self.kept and sum(kept.entries for kept in self.kept) + entries > self.most:
            self.kept.pop(0)
        costs = [
            cell_costs(hierarchy, self.task.loss, own)
            for hierarchy, own in zip(self.task.hierarchies, self.leaves, strict=True)
        ]
        limit = min(self.task.constraints.max_suppressed, self.counter.records - 1)
        tables = node_tables(self.task, table, costs, limit=limit)
        self.kept.append(_Kept(levels, tables, entries))
        return tables


def _lies_below(levels: Sequence[int], node: Sequence[int]) -> bool:
    """Whether a node is another one, or one below it."""
    return all(own <= other for own, other in zip(levels, node, strict=True))


def search_elsewhere(task: Task, counter: Counter, *, most: int) -> Search:
    """Begin a search of a table that is counted elsewhere.

    Counts of single columns and of pairs rule out nodes that break k, by `floors`. If the classes on the
    least levels that are left fit, they are the table that is searched, and nobody is asked for more; the
    losses are those of the leaves all the same. Else nodes are counted elsewhere, but for those above nodes
    whose classes fit.

    Where the levels are fixed, their classes are all that is asked for. Where cells are blanked and all
    tuples fit, nothing is ruled out: cells can keep k on nodes that break it, see `cell_search`.

    Args:
        most: tuples, and values of them, that fit.
    Raises:
        InputError: the lattice is too large, or the loss cannot be counted for so many records; a level that
            a hierarchy does not have.
    """
    leaves = counter.leaves()
    if task.levels:
        refuse_other_levels(task)
        return search_source(task, Source(counter.records, leaves, counter.table(task.levels)))
    nodes = lattice(tuple(hierarchy.height for hierarchy in task.hierarchies), most=task.most_nodes)
    if task.cells and (every := counter.table((0,) * len(leaves), most)) is not None:
        return search_source(task, Source(counter.records, leaves, every))
    rule = (task.constraints.k, min(task.constraints.max_suppressed, counter.records - 1))
    closed = marginal_floors(task.hierarchies, leaves, counter.pairs, nodes, rule=rule)
    least = np.argwhere(~closed).min(axis=0).tolist()
    table = counter.table(least, most)
    keeping = KeepingCounter(counter, task, leaves, most) if table is None else None
    return search_source(task, Source(counter.records, leaves, table, keeping, closed.reshape(-1)))


def full_domain_elsewhere(task: Task, counter: Counter, *, most: int) -> Choice:
    """Choose as `best_node.full_domain` does, with the classes counted elsewhere where they do not fit.

    Args:
        most: tuples, and values of them, that fit.
    Raises:
        InfeasibleError: no node keeps the constraints.
    """
    return replace(choose_node(search_elsewhere(task, counter, most=most)), labels=None)
