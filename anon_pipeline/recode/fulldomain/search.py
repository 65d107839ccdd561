"""Full-domain search: the question, and one node's answer.

k-anonymity with a suppression limit is monotone: a generalization of an anonymous node is anonymous. A node
that suppresses every record counts as not anonymous, which keeps that ([methods 4]). t-closeness and
l-diversity with suppression are not; of them only the number of distinct values is, without which no
class is diverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.recode.capacity import refuse_overflow
from anon_pipeline.recode.constraints import infeasible_error
from anon_pipeline.recode.contents import contents_of_tuples
from anon_pipeline.recode.fulldomain.bounds import Bounds, level_scores, lower_bounds
from anon_pipeline.recode.fulldomain.counter import NodeCounter
from anon_pipeline.recode.fulldomain.lattice import Lattice, lattice
from anon_pipeline.recode.fulldomain.layout import NodeTables, node_tables
from anon_pipeline.recode.fulldomain.nodes import NodeCount, count_node
from anon_pipeline.recode.loss import LossUnits, cell_costs, loss_units
from anon_pipeline.recode.task import Progress, Task
from anon_pipeline.recode.tuples import DistinctTuples, leaf_counts, node_classes

_TELL = 0.1  # seconds between two reports


class NodeScore(NamedTuple):
    """What decides between nodes that keep the constraints, in this order: the least one is the answer.

    score: exact loss, in the units of `LossUnits`; beyond the suppression limit worse than any.
    suppressed: records in classes that break any constraint; of those below k alone, if they are beyond the
        limit.
    total: sum of the levels.
    node: flat index in the lattice; sorts as the levels do.
    """

    score: int
    suppressed: int
    total: int
    node: int


@dataclass(slots=True, eq=False)
class _Told:
    """Time of the last progress report, number of nodes left, number of nodes that a sweep counted."""

    at: float = 0.0
    left: int = 0
    swept: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Where the classes of nodes are counted: in a table in memory, or elsewhere.

    records: that are searched (n).
    leaves: q times (D,) records of each leaf.
    table: in memory; None: it is elsewhere.
    counter: counts elsewhere; None: nothing is asked of it.
    closed: (N,) nodes that are known to break k, and are never counted; None: none is known.
    """

    records: int
    leaves: tuple[NDArray[np.int64], ...] = field(repr=False)
    table: DistinctTuples | None = field(default=None, repr=False)
    counter: NodeCounter | None = field(default=None, repr=False)
    closed: NDArray[np.bool_] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """One question to a lattice, and the answers so far.

    task: the question; ``source``: what it is asked of.
    nodes: the lattice.
    tables: the source's table, laid out for counting; None where it is elsewhere.
    units: how costs become scores.
    bounds: what no node's loss falls below.
    limit: records that may be suppressed; fewer than all of them.
    seen: nodes counted so far, by index, and ``counts`` of them.
    small: records in classes of fewer than k, by index, of nodes of which this was asked before all else.
    """

    task: Task
    source: Source
    nodes: Lattice
    tables: NodeTables | None = field(repr=False)
    units: LossUnits
    bounds: Bounds = field(repr=False)
    limit: int
    seen: dict[int, NodeScore] = field(default_factory=dict, repr=False)
    counts: dict[int, NodeCount] = field(default_factory=dict, repr=False)
    small: dict[int, int] = field(default_factory=dict, repr=False)
    told: _Told = field(default_factory=_Told, repr=False)

    def is_closed(self, index: int) -> bool:
        """Whether a node is known to break k without being counted."""
        return self.source.closed is not None and bool(self.source.closed[index])


def prepare_search(task: Task, table: DistinctTuples, *, fast: bool = True) -> Search:
    """Lay out a table for the full-domain recoders.

    Args:
        table: its n ≥ k records, with the values of the limited columns and of the target.
        fast: whether to use what only saves time (`fulldomain.fast`); the answer is the same.
    Raises:
        InputError: the lattice is too large, or the loss cannot be counted for so many records.
    """
    leaves = leaf_counts(table, task.hierarchies)
    return search_source(task, Source(table.records, leaves, table), fast=fast)


def search_source(task: Task, source: Source, *, fast: bool = True) -> Search:
    """Begin a search, wherever its classes are counted; see `prepare_search`."""
    hierarchies, leaves = task.hierarchies, source.leaves
    nodes = lattice(tuple(hierarchy.height for hierarchy in hierarchies), most=task.most_nodes)
    costs = [
        cell_costs(hierarchy, task.loss, own) for hierarchy, own in zip(hierarchies, leaves, strict=True)
    ]
    refuse_overflow(task, source.records, costs)
    units = loss_units(task, leaves, records=source.records)
    levels = level_scores(units, costs, hierarchies, leaves)
    limit = min(task.constraints.max_suppressed, source.records - 1)
    table = source.table
    return Search(
        task=task,
        source=source,
        nodes=nodes,
        tables=None if table is None else node_tables(task, table, costs, limit=limit, fast=fast),
        units=units,
        bounds=lower_bounds(task, units, nodes, levels, leaves),
        limit=limit,
    )


def table_at(search: Search, levels: Sequence[int]) -> DistinctTuples:
    """Return the table of a search; or, where it is elsewhere, the classes of one node as a table.

    Raises:
        InputError: there are more classes than fit.
    """
    source = search.source
    if source.table is not None:
        return source.table
    assert source.counter is not None  # noqa: S101 - one of the two is there
    found = source.counter.table(levels)
    assert found is not None  # noqa: S101 - no number was given that it may exceed
    return found


def count(search: Search, index: int) -> NodeCount:
    """Count a node, or remember what it was."""
    if index not in search.counts:
        levels = search.nodes.levels(index)
        found = _count_node(search, levels)
        suppressed = found.final.suppressed
        worst = max(search.units.denominator, (search.units.records + search.units.gone) ** 2 + 1)
        lost = search.units.score(found.final) if suppressed <= search.limit else worst
        search.counts[index] = found
        search.seen[index] = NodeScore(lost, suppressed, sum(levels), index)
        report_progress(search)
    return search.counts[index]


def _count_node(search: Search, levels: Sequence[int]) -> NodeCount:
    """Count a node where its table is."""
    if search.tables is not None:
        return count_node(search.tables, levels)
    assert search.source.counter is not None  # noqa: S101 - one of the two is there
    return search.source.counter.count(levels)


def score(search: Search, index: int) -> NodeScore:
    """Score a node, or remember its score."""
    count(search, index)
    return search.seen[index]


def is_feasible(search: Search, index: int) -> bool:
    """Whether a node keeps all constraints within the suppression limit; not monotone with t or l."""
    return not search.is_closed(index) and score(search, index).suppressed <= search.limit


def is_k_anonymous(search: Search, index: int) -> bool:
    """Whether a node keeps k within the suppression limit, whatever else it breaks; monotone."""
    return not search.is_closed(index) and _small(search, index) <= search.limit


def _small(search: Search, index: int) -> int:
    """Return how many records of a node are in classes of fewer than k.

    A counter can answer this without counting values; a table in memory is counted as a whole.
    """
    counter = search.source.counter
    if index in search.counts or counter is None:
        return count(search, index).small
    if index not in search.small:
        search.small[index] = counter.small(search.nodes.levels(index))
        report_progress(search)
    return search.small[index]


def report_progress(search: Search) -> None:
    """Say how far the search is, every tenth of a second."""
    now = monotonic()
    if now - search.told.at >= _TELL:
        search.told.at = now
        search.task.told(
            Progress(
                "searching",
                len(search.seen.keys() | search.small.keys()) + search.told.swept,
                max(0, search.told.left),
            )
        )


def no_node_error(search: Search) -> InfeasibleError:
    """Say that no node keeps the constraints, by the node that comes nearest."""
    top = search.nodes.size - 1
    score(search, top)
    anonymous = [node for node in search.seen.values() if is_k_anonymous(search, node.node)]
    nearest = min(anonymous, key=lambda node: (node.suppressed, node.total, node.node))
    return node_error(
        search,
        search.nodes.levels(nearest.node),
        advice="Relax that limit, raise suppression_limit, or give the hierarchies more general levels.",
    )


def node_error(search: Search, levels: Sequence[int], *, advice: str) -> InfeasibleError:
    """Say that a node does not keep the constraints, by the one that stands most in the way.

    Args:
        levels: (q,) of the node.
        advice: what to change, a sentence.
    """
    table = table_at(search, levels)
    labels = node_classes(table, search.task.hierarchies, levels)[1]
    return infeasible_error(search.task.constraints, contents_of_tuples(table, labels), advice=advice)
