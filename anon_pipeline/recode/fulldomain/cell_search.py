"""The least loss over all nodes of the lattice where single cells are blanked.

A node's loss with cells has a floor: each record costs what its values do on the node's levels, and a record
in a class that the node breaks has at least one blanked cell, or goes whole. By these floors nodes are ruled
out. Blanking is a greedy step for each node that is not, so the work is bounded: on large tables the
answer is the best node that was tried, and never worse than the best one for whole records.

Decision: docs/adr/0019-comparable-recoders-and-cells.md.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.recode.choice import Choice
from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.contents import contents_of_tuples
from anon_pipeline.recode.fulldomain.cells import count_subsets, star_codes
from anon_pipeline.recode.fulldomain.optimal import optimal
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, score, table_at
from anon_pipeline.recode.loss import cell_loss
from anon_pipeline.recode.tuples import node_classes

MOST_WORK: Final = 2**23
"""Classes times sets of columns that are blanked, all nodes together: about two seconds."""

_CLOSE: Final = 1e-12  # losses that differ by less are alike

Make = Callable[[Search, NodeScore], Choice]
_Rank = tuple[float, int, int, int]


@dataclass(slots=True, eq=False)
class _Tries:
    """Nodes that were tried with cells, and the best of them.

    makes: makes the choice of a node.
    costs: q times what a cell costs, level by level; ``suppressed``: (q,) what a blanked one costs.
    work: that is left.
    best: loss, records suppressed, sum of levels and index of the best node; None where none keeps the limit.
    tried: nodes; ``floors``: what nodes lose at least, and the work of trying them.
    """

    search: Search
    makes: Make
    costs: list[list[NDArray[np.int64]]] = field(repr=False)
    suppressed: list[int]
    work: int
    best: _Rank | None = None
    tried: set[int] = field(default_factory=set)
    floors: dict[int, tuple[float, int]] = field(default_factory=dict)

    @property
    def ceiling(self) -> float:
        """What a floor must not exceed."""
        return np.inf if self.best is None else self.best[0] + _CLOSE

    def try_node(self, index: int) -> None:
        """Blank cells at a node, if it may be better than the best one and the work suffices."""
        if index in self.tried:
            return
        floor, work = self.floor(index)
        if floor > self.ceiling or work > self.work:
            return
        self.work -= work
        self.tried.add(index)
        found = score(self.search, index)
        choice = self.makes(self.search, found)
        if choice.suppressed <= self.search.limit:
            rank = (choice.loss, choice.suppressed, found.total, index)
            self.best = rank if self.best is None else min(self.best, rank)

    def floor(self, index: int) -> tuple[float, int]:
        """Return what a node loses at least, and what trying it costs; both are remembered."""
        if index not in self.floors:
            self.floors[index] = self._floor(index)
        return self.floors[index]

    def _floor(self, index: int) -> tuple[float, int]:
        search, task, levels = self.search, self.search.task, self.search.nodes.levels(index)
        table = table_at(search, levels)
        codes, labels = node_classes(table, task.hierarchies, levels)
        self.work -= len(labels)
        contents = contents_of_tuples(table, labels)
        gone = broken_classes(task.constraints, contents)
        least, scale = np.full(len(codes), np.inf), float(search.units.denominator)
        for column, (weight, level) in enumerate(zip(search.units.weights, levels, strict=True)):
            if level < task.hierarchies[column].height - 1:
                own = self.costs[column][level][codes[:, column]]
                least = np.minimum(least, (self.suppressed[column] - own) * (weight / scale))
        # a class with a blanked value of its own may be joined by others; at the top no cell can be blanked
        more = gone & ~(codes == star_codes(task, levels)).any(axis=1) & np.isfinite(least)
        every = search.units.records + search.units.gone
        blanked = float(contents.sizes[more] @ least[more]) * search.units.records / every
        return self.alone(index) + blanked, int(gone.sum()) * count_subsets(task, levels)

    def alone(self, index: int) -> float:
        """Return what a node loses if nothing is suppressed."""
        search = self.search
        own = zip(search.bounds.levels, search.nodes.levels(index), strict=True)
        return float(search.units.loss(sum(scores[level] for scores, level in own) - search.units.offset))


def least_with_cells(search: Search, makes: Make, *, work: int = MOST_WORK) -> NodeScore:
    """Find the node that loses least once cells are blanked.

    It begins at the best node for whole records and goes down as long as that helps. Then nodes are tried by
    their floors, the least first, until none may be better: the best node is exact then. Both end where the
    work is done.

    Args:
        search: for a loss that adds up cells, of a table in memory.
        makes: makes the choice of a node, with cells blanked.
        work: as `MOST_WORK`.
    Returns:
        The best node that was tried; ties go to fewer suppressed records, then the lower total level, then
        the lexicographically smaller levels. How many records go whole is known only of its choice.
    Raises:
        InfeasibleError: no node keeps the constraints, also with cells.
    """
    tries, problem = _tries(search, makes, work), None
    try:
        tries.best = _rank(search, makes, optimal(search))
        tries.tried.add(tries.best[3])
    except InfeasibleError as error:
        problem = error
    _descend(tries)
    _try_all(tries)
    if tries.best is not None:
        return score(search, tries.best[3])
    assert problem is not None  # noqa: S101 - the best node for whole records keeps the limit
    raise problem


def _rank(search: Search, makes: Make, found: NodeScore) -> _Rank:
    choice = makes(search, found)
    return choice.loss, choice.suppressed, found.total, found.node


def _tries(search: Search, makes: Make, work: int) -> _Tries:
    task, kind = search.task, cell_loss(search.task.loss)
    assert kind is not None  # noqa: S101 - asked for by the caller
    columns = list(zip(task.hierarchies, search.source.leaves, strict=True))
    costs = [kind.levels(hierarchy, own) for hierarchy, own in columns]
    full = [kind.suppressed(hierarchy, search.source.records) for hierarchy, _ in columns]
    return _Tries(search, makes, costs, full, work)


def _floors(search: Search) -> NDArray[np.float64]:
    """Return what each node loses at least, by its levels alone, (N,)."""
    units, bounds = search.units, search.bounds
    scores = np.maximum(bounds.alone.reshape(-1), 0).astype(np.float64) * 2.0**bounds.shift
    found: NDArray[np.float64] = scores / units.denominator * units.records + units.gone
    return found / (units.records + units.gone)


def _descend(tries: _Tries) -> None:
    """Go down from the best node, level by level, as long as one of the nodes below is better."""
    before = None
    while tries.best is not None and tries.best != before:
        before = tries.best
        for node in tries.search.nodes.predecessors(before[3]):
            tries.try_node(node)


def _try_all(tries: _Tries) -> None:
    """Try nodes by their floors until none may be better, or the work is done."""
    floors = _floors(tries.search)
    nodes = np.flatnonzero(floors <= tries.ceiling).tolist()
    waiting = [(float(floors[node]), node) for node in nodes]
    heapq.heapify(waiting)
    while waiting and tries.work > 0:
        floor, node = heapq.heappop(waiting)
        if floor > tries.ceiling:
            return
        if node in tries.floors:
            tries.try_node(node)
        else:
            heapq.heappush(waiting, (max(floor, tries.floor(node)[0]), node))
