"""What a search for the optimum knows by now: floors, the ceiling, and the best node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.fulldomain.bounds import NOTHING, rule_out
from anon_pipeline.recode.fulldomain.cover import Cover, learn, note, promises
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, count


class Scan:
    """The floors of a search, and the best node that it has met.

    floors: in the lattice's shape; what no node's loss falls below, as far as is known; nothing for a node
        that was counted. ``flat`` is the same, (N,).
    raised: floors of what is below, and above, each node that was counted.
    best: None while no node keeps the constraints; ``judged``: the best by which the counts were judged.
    """

    __slots__ = ("best", "flat", "floors", "judged", "raised", "search")

    def __init__(self, search: Search) -> None:
        self.search = search
        self.floors: NDArray[Any] = search.bounds.alone.copy()
        self.flat = self.floors.reshape(-1)
        if search.source.closed is not None:
            self.flat[search.source.closed] = NOTHING
        self.raised: dict[int, tuple[int, int]] = {}
        self.best: NodeScore | None = None
        self.judged: NodeScore | None = None

    @property
    def ceiling(self) -> int:
        """A node with a floor above this cannot win."""
        return NOTHING - 1 if self.best is None else self.search.bounds.of(self.best.score)

    def look(self, index: int) -> bool:
        """Count a node and mark what follows from it; return whether it keeps the constraints."""
        search = self.search
        if search.is_closed(index):
            return False
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

    def learn_all(self, known: Cover) -> None:
        """Learn from all counts made so far."""
        for index in self.raised:
            self.learn(known, index)
        self.judged = self.best

    def promises(self, known: Cover) -> NDArray[np.float32]:
        """Say what counting each node promises, (N,), by the best node known by now."""
        if not known.guess.cells and self.best != self.judged:
            known.guess.marks[:] = 0
            for index, (below, above) in self.raised.items():
                note(known, index, below=below > self.ceiling, above=above > self.ceiling)
            self.judged = self.best
        return promises(known, self.flat, self.ceiling)
