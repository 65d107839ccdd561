"""k-Optimize: branch and bound over fronts, from everything hidden towards everything shown.

A *node* is a state and what may still be opened below it. Each branch opens one value, or closes it for good.
What a node's descendants lose at least follows from its two ends: all of them suppress what its own state
suppresses for being less than k, and none shows more than opening everything that is left would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.observer import Step
from anon_pipeline.catalog.losses import WEIGHED
from anon_pipeline.recode.loss import Kept, class_loss
from anon_pipeline.recode.subtree.annealing import known_states
from anon_pipeline.recode.subtree.search import (
    Classes,
    Search,
    State,
    classes_of,
    count_mistaken,
    hidden_state,
    look_at,
    no_front_error,
    outcome_of,
)

_MOST_LOOKS: Final = 2_500
"""States that are looked at; then the best one that was seen is taken."""


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A state, the one that opens all that is left, and the classes of both."""

    least: State = field(repr=False)
    most: State = field(repr=False)
    coarse: Classes = field(repr=False)
    fine: Classes = field(repr=False)


_Ends = tuple[State, State]
"""Of a node that waits: its classes would take as much memory as the table, each."""


class _Bounds:
    """What no descendant of a node falls below, in the units of a search."""

    def __init__(self, search: Search) -> None:
        self.search, units = search, search.units
        exact = units.suppressed * search.table.records < 2**62
        kind: type = np.int64 if exact else object
        pairs = list(zip(search.costs, units.weights, strict=True))
        self.costs: list[NDArray[np.integer]] = [own.astype(kind) * weight for own, weight in pairs]
        self.counts: NDArray[np.integer] = search.table.counts.astype(kind)
        self.whole, self.by_cells = units.suppressed, search.task.loss in WEIGHED
        self.parents = [np.maximum(tree.parents, 0) for tree in search.trees]
        self.opens = [_places(tree.inner, tree.values) for tree in search.trees]

    def of(self, node: _Node) -> int | None:
        """Return the least score of a state below a node; None: each suppresses more than it may."""
        search, k = self.search, self.search.task.constraints.k
        lasting = node.coarse.contents.sizes < k
        gone = int(node.coarse.contents.sizes[lasting].sum())
        if gone > search.limit:
            return None
        if self.by_cells:
            return self._of_cells(node, lasting[node.coarse.labels], k)
        sizes, units = node.fine.contents.sizes, search.units
        every = np.zeros(len(sizes), np.bool_)
        mistakes = count_mistaken(node.fine.contents, every) if search.table.labeled else 0
        kept, limited = sizes >= k, int(search.limit > 0 or units.gone > 0)
        whole = Kept(0, len(sizes), int((sizes * sizes).sum()), mistakes)
        released = sizes[kept]
        lasts = Kept(int(sizes[~kept].sum()), len(released), int((released * released).sum()))
        own = class_loss(search.task.loss)
        return max(
            own.above(units, whole, lasts, k, limited), own.below(units, gone + units.gone, k, limited)
        )

    def _of_cells(self, node: _Node, lasting: NDArray[np.bool_], k: int) -> int:
        """Add up cells: a record whose finest class is too small is suppressed, or coarser in a column."""
        each = sum(own[values] for own, values in zip(self.costs, node.fine.values, strict=True))
        small = (node.fine.contents.sizes < k)[node.fine.labels]
        rises = np.minimum.reduce(list(self._rises(node)))
        each = np.where(small, each + rises, each)
        each = np.where(lasting, self.whole, np.minimum(each, self.whole))
        return int((each * self.counts).sum()) - self.search.units.offset

    def _rises(self, node: _Node) -> Sequence[NDArray[np.integer]]:
        """Return what it costs each tuple at least to be coarser in one column, q times (t,)."""
        found = []
        for column, values in enumerate(node.fine.values):
            parents, costs, opens = self.parents[column], self.costs[column], self.opens[column]
            start, end = self.search.starts[column : column + 2]
            opened = np.append(node.least[start:end], np.True_)  # what has no place is above nothing
            rise = np.where(opened[opens[parents]], self.whole, costs[parents] - costs)
            rise[0] = self.whole  # nothing is above the top
            found.append(rise[values])
        return found


def _places(inner: NDArray[np.int64], values: int) -> NDArray[np.int64]:
    """Return the place of each value among those that can be opened, (v,); −1: it cannot."""
    found = np.full(values, -1, np.int64)
    found[inner] = np.arange(len(inner))
    return found


def k_optimize(search: Search) -> State:
    """Search all fronts by branch and bound, and return the best state that was seen.

    It begins with the better one of the fronts of `top_down` and the levels of `optimal`. After 2,500 states
    it stops, so that only a search that ends before has proven that nothing loses less. Limits on sensitive
    values decide which states count; the bound is about k and the loss alone.

    Raises:
        InfeasibleError: no state that was seen keeps the constraints.
    Source:
        Bayardo and Agrawal (2005), "Data privacy through optimal k-anonymization".
    """
    bounds, below = _Bounds(search), [_below(tree.parents, tree.inner) for tree in search.trees]
    seen = [(look_at(search, state), place, state) for place, state in enumerate(known_states(search))]
    hidden, shown = hidden_state(search), np.ones(search.size, np.bool_)
    root = _Node(hidden, shown, classes_of(search, hidden), classes_of(search, shown))
    seen.append((outcome_of(search, root.coarse), len(seen), hidden))
    best, _, kept = min(seen, key=lambda one: one[:2])
    left: list[_Node | _Ends] = [root]
    looked = 0
    while left and looked < _MOST_LOOKS:
        node = _with_classes(search, left.pop())
        bound = bounds.of(node)
        place = _branch(search, bounds, node)
        if place is None or bound is None or (not best.excess and bound >= best.score):
            continue
        looked += 2
        closed = node.most.copy()
        closed[_with_those_below(search, below, place)] = False
        left.append((node.least, closed))
        opened = node.least.copy()
        opened[place] = True
        child = _Node(opened, node.most, classes_of(search, opened), node.fine)
        left.append(child)
        then = outcome_of(search, child.coarse)
        if then < best:
            best, kept = then, opened
    if best.excess:
        raise no_front_error(search)
    ended = (
        "nothing loses less" if not left else f"stopped after {_MOST_LOOKS:,} states, at the best one seen"
    )
    search.task.told(Step(f"{search.task.recoder}: {ended}"))
    return kept


def _with_classes(search: Search, node: _Node | _Ends) -> _Node:
    if isinstance(node, _Node):
        return node
    least, most = node
    return _Node(least, most, classes_of(search, least), classes_of(search, most))


def _branch(search: Search, bounds: _Bounds, node: _Node) -> int | None:
    """Return the place of the value that could gain most by being opened; None: nothing is left.

    Of losses that look at classes, the value that most records have.
    """
    found, most = None, None
    for column, (tree, costs) in enumerate(zip(search.trees, bounds.costs, strict=True)):
        start, end = search.starts[column : column + 2]
        left = node.most[start:end] & ~node.least[start:end]
        coarse, fine = node.coarse.values[column], node.fine.values[column]
        gains = np.zeros(tree.values, costs.dtype)
        own = (costs[coarse] - costs[fine]) * bounds.counts if bounds.by_cells else bounds.counts
        np.add.at(gains, coarse, own)
        there = np.zeros(tree.values, np.bool_)
        there[coarse] = True
        for place in np.flatnonzero(left & there[tree.inner]).tolist():
            gain = gains[tree.inner[place]]
            if most is None or gain > most:
                found, most = int(start) + place, gain
    return found


def _below(parents: NDArray[np.int64], inner: NDArray[np.int64]) -> list[list[int]]:
    """Return for each value that can be opened the places of itself and of those below it."""
    places = {value: place for place, value in enumerate(inner.tolist())}
    found: list[list[int]] = [[] for _ in places]
    for value, place in places.items():
        above = value
        while above >= 0:
            found[places[above]].append(place)
            above = int(parents[above])
    return found


def _with_those_below(search: Search, below: list[list[list[int]]], place: int) -> list[int]:
    column = int(np.searchsorted(search.starts, place, side="right")) - 1
    start = int(search.starts[column])
    return [start + one for one in below[column][place - start]]
