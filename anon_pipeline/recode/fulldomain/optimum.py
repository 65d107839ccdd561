"""The least loss over all nodes of the lattice, exactly.

Belongs here: the order in which nodes are looked at, until none is left that could win. Does not belong here:
what a count says about other nodes (`bounds`), counting (`nodes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.fulldomain.bounds import NOTHING, rule_out
from anon_pipeline.recode.fulldomain.kernels import middle_of_chain
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, count, nowhere

__all__ = ["optimal"]

_STEPS = 4  # nodes above one another that are bisected at once; measured on Adult against 1, 2 and all


class _Scan:
    """The floors of a search, and the best node that it has met.

    floors: in the lattice's shape; what no node's loss falls below, as far as is known.
    counted: (N,) whether a node was counted.
    best: None while no node keeps the constraints.
    """

    __slots__ = ("best", "counted", "flat", "floors", "search")

    def __init__(self, search: Search) -> None:
        self.search = search
        self.floors: NDArray[Any] = search.bounds.alone.copy()
        self.flat = self.floors.reshape(-1)
        self.counted = np.zeros(search.nodes.size, np.bool_)
        self.best: NodeScore | None = None

    @property
    def ceiling(self) -> int:
        """A node with a floor above this cannot win."""
        return NOTHING - 1 if self.best is None else self.search.bounds.of(self.best.score)

    def look(self, index: int) -> bool:
        """Count a node and draw the conclusions; tell whether it keeps the constraints."""
        search = self.search
        found = count(search, index)
        if not self.counted[index]:
            self.counted[index] = True
            rule_out(search.bounds, self.floors, search.nodes, index, found, limit=search.limit)
        own = search.seen[index]
        if own.suppressed > search.limit:
            return False
        if self.best is None or own < self.best:
            self.best = own
        return True

    def left(self) -> NDArray[np.int64]:
        """Return the nodes that may still win."""
        return np.flatnonzero((self.flat <= self.ceiling) & ~self.counted)


def _climb(scan: _Scan) -> None:
    """Find a good node quickly: up the steps that cost least, then down while the loss falls."""
    search = scan.search
    costs, chain = search.bounds.alone.reshape(-1), [0]
    while above := search.nodes.successors(chain[-1]):
        chain.append(min(above, key=costs.__getitem__))
    low, high = 0, len(chain)
    while low < high:
        middle = (low + high) // 2
        scan.look(chain[middle])
        if count(search, chain[middle]).lasting.suppressed <= search.limit:
            high = middle
        else:
            low = middle + 1
    if not any(scan.look(node) for node in chain[low:]):
        return
    before = None
    while scan.best is not None and scan.best != before:
        before = scan.best
        for node in search.nodes.predecessors(before.node):
            if scan.flat[node] <= scan.ceiling or scan.counted[node]:
                scan.look(node)


def _upwards(scan: _Scan, anonymous: NDArray[np.bool_], index: int) -> None:
    """Look for the highest of a node and some above it that lastingly breaks a constraint.

    ``anonymous`` are the nodes known not to, (N,); it learns.
    """
    search, nodes = scan.search, scan.search.nodes
    bounds, flat, chain = search.bounds.alone.reshape(-1), anonymous.reshape(-1), [index]
    while len(chain) < _STEPS:
        above = [node for node in nodes.successors(chain[-1]) if not flat[node]]
        if not above:
            break
        chain.append(min(above, key=bounds.__getitem__))
    low, high = 0, len(chain)
    while low < high:
        middle = (low + high) // 2
        scan.look(chain[middle])
        if count(search, chain[middle]).lasting.suppressed <= search.limit:
            high = middle
            anonymous[nodes.up(nodes.levels(chain[middle]))] = True
        else:
            low = middle + 1


def _scan_down(scan: _Scan) -> None:
    """Count the nodes that may win from the most to the least lossy: for losses that add up cells."""
    search, flat = scan.search, scan.flat
    worth, bounds = scan.left(), search.bounds.alone.reshape(-1)
    order = worth[np.argsort(-bounds[worth], kind="stable")]
    anonymous = np.zeros(search.nodes.shape, np.bool_)
    known = anonymous.reshape(-1)
    for place, index in enumerate(order.tolist()):
        search.told.left = len(order) - place
        while flat[index] <= scan.ceiling and not scan.counted[index]:
            if known[index]:
                scan.look(index)
            else:
                _upwards(scan, anonymous, index)


def _scan_chains(scan: _Scan) -> None:
    """Count the middle of chains of nodes that may win, until none is left: for losses that look at classes.

    A count in the middle rules out nodes below it that suppress too much, or above it that merge too much.
    """
    nodes = scan.search.nodes
    shape = np.array(nodes.shape, np.int64), np.array(nodes.steps, np.int64)
    chain = np.empty(int(shape[0].sum()) + 1, np.int64)
    totals = nodes.totals().reshape(-1)
    worth = scan.left()
    for place, start in enumerate(worth[np.argsort(totals[worth], kind="stable")].tolist()):
        scan.search.told.left = len(worth) - place
        while scan.flat[start] <= scan.ceiling and not scan.counted[start]:
            middle = middle_of_chain(scan.flat, scan.counted, scan.ceiling, start, shape, chain)
            scan.look(int(middle))


def optimal(search: Search) -> NodeScore:
    """Find the least loss over all nodes that keep the constraints, exactly.

    Every node has a floor, a loss that it cannot fall below (`bounds`). A node whose floor is above the best
    loss known is not counted; every count raises floors. One that breaks k, or the number of distinct values
    that l-diversity needs, rules out all nodes below it; one that breaks t, or l in another way, only itself.

    Args:
        search: a table with n ≥ k.
    Returns:
        The best node; ties go to fewer suppressed records, then the lower total level, then the
        lexicographically smaller levels.
    Raises:
        InfeasibleError: no node keeps the constraints.
    Source:
        METHODS 4.
    """
    scan = _Scan(search)
    _climb(scan)
    (_scan_down if search.bounds.cells else _scan_chains)(scan)
    if scan.best is None:
        raise nowhere(search)
    return scan.best
