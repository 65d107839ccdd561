"""Full-domain recoders: which node of the lattice to release.

Belongs here: the order in which nodes are looked at, and what one answer says about the others. Does not
belong here: counting a node (`nodes`), what a node costs (`loss`), Mondrian.

k-anonymity with a suppression limit is monotone: a generalization of an anonymous node is anonymous. A node
that suppresses every record counts as not anonymous, which keeps that (METHODS 4).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.fulldomain.lattice import Lattice, lattice
from anon_pipeline.recode.fulldomain.nodes import NodeTables, count_node, node_tables
from anon_pipeline.recode.loss import LossUnits, cell_costs, loss_units, lower_bounds
from anon_pipeline.recode.model import Task
from anon_pipeline.recode.table import DistinctTuples

__all__ = [
    "NodeScore",
    "Search",
    "is_feasible",
    "is_k_anonymous",
    "minimal_nodes",
    "ola",
    "optimal",
    "prepare_search",
    "score",
]

_UNKNOWN, _ANONYMOUS, _TOO_SMALL = 0, 1, -1


class NodeScore(NamedTuple):
    """What decides between anonymous nodes, in this order: the least one is the answer.

    score: exact loss, in the units of `LossUnits`.
    suppressed: suppressed records.
    total: sum of the levels.
    node: flat index in the lattice; sorts as the levels do.
    """

    score: int
    suppressed: int
    total: int
    node: int


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """One question to a lattice, and the answers so far.

    nodes: the lattice.
    tables: the records, for counting.
    units: how costs become scores.
    bounds: in the lattice's shape; score of each node if nothing were suppressed.
    k: records in the smallest class.
    limit: records that may be suppressed; fewer than all of them.
    seen: nodes counted so far, by index.
    """

    nodes: Lattice
    tables: NodeTables
    units: LossUnits
    bounds: NDArray[Any] = field(repr=False)
    k: int
    limit: int
    seen: dict[int, NodeScore] = field(default_factory=dict)


def prepare_search(task: Task, table: DistinctTuples) -> Search:
    """Lay out a table for the full-domain recoders.

    Args:
        task: the question.
        table: its n ≥ k records.
    Raises:
        InputError: the lattice is too large.
    """
    nodes = lattice(tuple(hierarchy.height for hierarchy in task.hierarchies), most=task.most_nodes)
    costs = [cell_costs(hierarchy, task.loss) for hierarchy in task.hierarchies]
    units = loss_units(task.hierarchies, table.records, task.loss)
    return Search(
        nodes=nodes,
        tables=node_tables(table, task.hierarchies, costs),
        units=units,
        bounds=lower_bounds(units, nodes, table, costs),
        k=task.constraints.k,
        limit=min(task.constraints.max_suppressed, table.records - 1),
    )


def score(search: Search, index: int) -> NodeScore:
    """Count a node, or remember what it was; ``suppressed`` are the records that break any constraint."""
    if index not in search.seen:
        levels = search.nodes.levels(index)
        count = count_node(search.tables, levels, k=search.k)
        cost = search.units.score(count.sums, count.suppressed)
        search.seen[index] = NodeScore(cost, count.suppressed, sum(levels), index)
    return search.seen[index]


def is_feasible(search: Search, index: int) -> bool:
    """Whether a node keeps all constraints within the suppression limit; not monotone with t or l."""
    return score(search, index).suppressed <= search.limit


def is_k_anonymous(search: Search, index: int) -> bool:
    """Whether a node keeps k within the suppression limit, whatever else it breaks; monotone."""
    return score(search, index).suppressed <= search.limit


def _first_anonymous(search: Search, chain: list[int]) -> int:
    """Bisect a chain (each node above the one before) for its first anonymous node; its length if none."""
    low, high = 0, len(chain)
    while low < high:
        middle = (low + high) // 2
        if is_k_anonymous(search, chain[middle]):
            high = middle
        else:
            low = middle + 1
    return low


def _climb(search: Search) -> NodeScore:
    """Find a good anonymous node quickly: up the steps that cost least, then down while the loss falls."""
    bounds = search.bounds.reshape(-1)
    chain = [0]
    while above := search.nodes.successors(chain[-1]):
        chain.append(min(above, key=bounds.__getitem__))
    best = score(search, chain[_first_anonymous(search, chain)])
    while True:
        below = [node for node in search.nodes.predecessors(best.node) if is_k_anonymous(search, node)]
        better = min([best, *(search.seen[node] for node in below)])
        if better == best:
            return best
        best = better


def optimal(search: Search) -> NodeScore:
    """Find the least loss over all anonymous nodes, exactly.

    Every node has a floor, a loss that it cannot fall below: at first its own without suppression. Nodes
    whose floor is at most the best loss known are counted from the most to the least lossy. One that is not
    anonymous rules out all nodes below it. One that is raises the floors below it: they suppress at
    least the same records, and a released cell loses the less the lower the node is.

    Args:
        search: a table with n ≥ k.
    Returns:
        The best node; ties go to fewer suppressed records, then the lower total level, then the
        lexicographically smaller levels.
    Source:
        METHODS 4.
    """
    best = _climb(search)
    bounds, floors = search.bounds.reshape(-1), search.bounds.copy()
    flat = floors.reshape(-1)
    worth = np.flatnonzero(bounds <= best.score)
    for index in worth[np.argsort(-bounds[worth], kind="stable")].tolist():
        if flat[index] > best.score:
            continue
        below = search.nodes.down(search.nodes.levels(index))
        if is_k_anonymous(search, index):
            found = search.seen[index]
            best = min(best, found)
            np.maximum(floors[below], search.bounds[below] + (found.score - bounds[index]), out=floors[below])
        else:
            floors[below] = search.units.denominator + 1
    return best


def _tags(search: Search) -> NDArray[np.int8]:
    """Tag every node of the lattice as anonymous or too small, counting as few as bisection allows."""
    nodes, tags = search.nodes, np.zeros(search.nodes.shape, np.int8)
    flat = tags.reshape(-1)
    for start in np.argsort(nodes.totals().reshape(-1), kind="stable").tolist():
        if flat[start] != _UNKNOWN:
            continue
        chain = [start]
        while above := [node for node in nodes.successors(chain[-1]) if flat[node] == _UNKNOWN]:
            chain.append(above[0])
        found = _first_anonymous(search, chain)
        if found > 0:
            tags[nodes.down(nodes.levels(chain[found - 1]))] = _TOO_SMALL
        if found < len(chain):
            tags[nodes.up(nodes.levels(chain[found]))] = _ANONYMOUS
    return tags


def minimal_nodes(search: Search) -> list[tuple[int, ...]]:
    """Find all k-minimal nodes: anonymous ones that generalize no other anonymous node.

    Args:
        search: a table with n ≥ k.
    Returns:
        Levels of each, in lexicographic order.
    Source:
        El Emam et al. (2009), OLA: bisect sublattices (here chains), and tag what is above an anonymous node
        or below one that is not without counting it.
    """
    anonymous = _tags(search) == _ANONYMOUS
    minimal = anonymous.copy()
    for axis in range(anonymous.ndim):
        front, back = np.moveaxis(minimal, axis, 0), np.moveaxis(anonymous, axis, 0)
        front[1:] &= ~back[:-1]
    return [search.nodes.levels(index) for index in np.flatnonzero(minimal).tolist()]


def ola(search: Search) -> NodeScore:
    """Find the k-minimal node with the least loss; ties as in `optimal`.

    Source:
        El Emam et al., JAMIA 16(5), 2009; METHODS 4.
    """
    return min(score(search, search.nodes.index(levels)) for levels in minimal_nodes(search))
