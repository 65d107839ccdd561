"""The least loss over all nodes of the lattice, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.fulldomain.bounds import NOTHING, most_lasting, rule_out
from anon_pipeline.recode.fulldomain.cover import Cover, cover, learn, likely, note, refill
from anon_pipeline.recode.fulldomain.cover_kernels import next_node
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, count, nowhere, tell
from anon_pipeline.recode.fulldomain.sweep import Sweep, is_worthwhile, standing, sweep, swept
from anon_pipeline.recode.loss import Kept

_PROBES = 12  # counts without a better node until probing ends
_REFILL = 32  # counts until all promises are looked at again; each time twice as many


class _Scan:
    """The floors of a search, and the best node that it has met.

    floors: in the lattice's shape; what no node's loss falls below, as far as is known; nothing for a node
        that was counted. ``flat`` is the same, (N,).
    raised: floors of what is below, and above, each node that was counted.
    best: None while no node keeps the constraints.
    """

    __slots__ = ("best", "flat", "floors", "raised", "search")

    def __init__(self, search: Search) -> None:
        self.search = search
        self.floors: NDArray[Any] = search.bounds.alone.copy()
        self.flat = self.floors.reshape(-1)
        self.raised: dict[int, tuple[int, int]] = {}
        self.best: NodeScore | None = None

    @property
    def ceiling(self) -> int:
        """A node with a floor above this cannot win."""
        return NOTHING - 1 if self.best is None else self.search.bounds.of(self.best.score)

    def look(self, index: int) -> bool:
        """Count a node and draw the conclusions; tell whether it keeps the constraints."""
        search = self.search
        found = count(search, index)
        if index not in self.raised:
            self.raised[index] = rule_out(
                search.bounds, self.floors, search.nodes, index, found, limit=search.limit
            )
            self.flat[index] = NOTHING
        own = search.seen[index]
        if own.suppressed > search.limit:
            return False
        if self.best is None or own < self.best:
            self.best = own
        return True

    def learn(self, known: Cover, index: int) -> None:
        """Tell whether a count ruled out all that is below, and above."""
        below, above = self.raised[index]
        learn(known, index, below=below > self.ceiling, above=above > self.ceiling)

    def relearn(self, known: Cover) -> None:
        """Judge every count again by the best node known by now."""
        known.known[:] = 0
        for index, (below, above) in self.raised.items():
            note(known, index, below=below > self.ceiling, above=above > self.ceiling)


def _laid_out(search: Search) -> Sweep | None:
    """Lay out the lattice for walking over it, where what classes are worth is all that is asked."""
    if not search.tables.cubed or search.bounds.cells or not search.nodes.shape:
        return None
    return sweep(search.nodes, search.tables.cubes, classes=len(search.table.counts))


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
            if scan.flat[node] <= scan.ceiling:
                scan.look(node)


def _probe(scan: _Scan, known: Cover) -> None:
    """Improve the best node: count those that probably keep k and tell most apart, while that helps."""
    without = 0
    while without < _PROBES:
        index = likely(known, scan.flat, scan.ceiling)
        if index < 0:
            return
        before = scan.best
        scan.look(index)
        scan.learn(known, index)
        without = without + 1 if scan.best == before else 0


def _sweep(scan: _Scan, own: Sweep, stands: NDArray[np.uint8]) -> None:
    """Count the nodes that stand to be swept, and look at those that are better than the best so far."""
    search, bounds = scan.search, scan.search.bounds
    before = stands > 0
    search.told.left = int(np.count_nonzero(before))
    for rows in swept(
        own, search.tables, stands, lambda: most_lasting(bounds, scan.ceiling, limit=search.limit)
    ):
        search.told.swept += len(rows)
        search.told.left -= len(rows)
        for node, small, kept, squares in rows[rows[:, 1] <= search.limit].tolist():
            score, total = search.units.score(Kept(small, kept, squares)), sum(search.nodes.levels(node))
            if scan.best is None or NodeScore(score, small, total, node) < scan.best:
                scan.look(node)
        tell(search)
    scan.flat[before & (stands == 0)] = NOTHING


def _cover(scan: _Scan) -> None:
    """Count the nodes that promise most until none is left that may win."""
    search, due = scan.search, 0
    own = _laid_out(search)
    known = cover(search.nodes, search.task.hierarchies, search.leaves, cells=search.bounds.cells)
    for index in scan.raised:
        scan.learn(known, index)
    judged = scan.best
    if not known.cells:
        _probe(scan, known)
    guess = (known.telling, known.known, known.thresholds, known.cells)
    while True:
        if known.since >= due:
            if not known.cells and scan.best != judged:
                scan.relearn(known)
                judged = scan.best
            refill(known, scan.flat, scan.ceiling)
            due = max(_REFILL, 2 * due)
            if own is not None and known.size:
                stands = standing(own, scan.flat <= scan.ceiling)
                if is_worthwhile(own, stands, float(known.values[0])):
                    _sweep(scan, own, stands)
                    own, due = None, 0
                    continue
        heap = known.values, known.queue, known.size
        index, known.size = next_node(heap, scan.flat, scan.ceiling, known.shape, guess)
        if index == -1:
            return
        if index >= 0:
            search.told.left = max(0, known.left - known.since)
            scan.look(index)
            scan.learn(known, index)


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
    _cover(scan)
    if scan.best is None:
        raise nowhere(search)
    return scan.best
