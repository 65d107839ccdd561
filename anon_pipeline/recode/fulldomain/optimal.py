"""The least loss over all nodes of the lattice, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from anon_pipeline.recode.fulldomain.cover import Cover, cover, likely
from anon_pipeline.recode.fulldomain.fast.order import queue_nodes
from anon_pipeline.recode.fulldomain.scan import Scan
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, count, no_node_error

_PROBES: Final = 12  # counts without a better node until probing ends


def _climb(scan: Scan) -> None:
    """Find a good node quickly: up the steps that cost least, then down while the loss falls."""
    search = scan.search
    costs, chain = search.bounds.alone.reshape(-1), [0]
    while above := search.nodes.successors(chain[-1]):
        chain.append(min(above, key=costs.__getitem__))
    low, high = 0, len(chain)
    while low < high:
        middle = (low + high) // 2
        scan.look(chain[middle])
        if not search.is_closed(chain[middle]) and (
            count(search, chain[middle]).lasting.suppressed <= search.limit
        ):
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


def _probe(scan: Scan, known: Cover) -> None:
    """Improve the best node: count nodes that probably keep k and distinguish most, as long as that helps."""
    without = 0
    while without < _PROBES:
        index = likely(known, scan.flat, scan.ceiling)
        if index is None:
            return
        before = scan.best
        scan.look(index)
        scan.learn(known, index)
        without = without + 1 if scan.best == before else 0


def by_promise(scan: Scan, known: Cover) -> Iterator[int]:
    """Give the node that promises to close most open nodes, again and again, until none is open.

    All promises are looked at again after every count; `fast.order.queue_nodes` looks at few.
    """
    while True:
        promised = scan.promises(known)
        index = int(np.argmax(promised))
        if promised[index] <= 0:
            return
        scan.search.told.left = int(np.count_nonzero(scan.flat <= scan.ceiling))
        yield index


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
        [methods 4].
    """
    scan = Scan(search)
    _climb(scan)
    known = cover(search.nodes, search.task.hierarchies, search.source.leaves, cells=search.bounds.cells)
    scan.learn_all(known)
    if not known.guess.cells:
        _probe(scan, known)
    plain = search.tables is None or search.tables.shortcuts is None
    for index in by_promise(scan, known) if plain else queue_nodes(scan, known):
        scan.look(index)
        scan.learn(known, index)
    if scan.best is None:
        raise no_node_error(search)
    return scan.best
