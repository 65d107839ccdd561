"""OLA: bisect chains of the lattice for the minimal nodes, and take the one with the least loss.

Belongs here: which nodes are minimal. Does not belong here: whether one node keeps the constraints, and why
that is monotone (`search`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.recode.fulldomain.search import (
    NodeScore,
    Search,
    is_feasible,
    is_k_anonymous,
    no_node_error,
    score,
)

_UNKNOWN, _ENOUGH, _TOO_SMALL = 0, 1, -1


def _first(search: Search, chain: list[int]) -> int:
    """Bisect a chain (each node above the one before) for its first k-anonymous node; its length if none."""
    low, high = 0, len(chain)
    while low < high:
        middle = (low + high) // 2
        if is_k_anonymous(search, chain[middle]):
            high = middle
        else:
            low = middle + 1
    return low


def k_anonymous(search: Search) -> NDArray[np.bool_]:
    """Tell of every node of the lattice whether it is k-anonymous, counting as few as bisection allows."""
    nodes, tags = search.nodes, np.zeros(search.nodes.shape, np.int8)
    flat = tags.reshape(-1)
    for start in np.argsort(nodes.totals().reshape(-1), kind="stable").tolist():
        if flat[start] != _UNKNOWN:
            continue
        chain = [start]
        while above := [node for node in nodes.successors(chain[-1]) if flat[node] == _UNKNOWN]:
            chain.append(above[0])
        found = _first(search, chain)
        if found > 0:
            tags[nodes.down(nodes.levels(chain[found - 1]))] = _TOO_SMALL
        if found < len(chain):
            tags[nodes.up(nodes.levels(chain[found]))] = _ENOUGH
    enough: NDArray[np.bool_] = tags == _ENOUGH
    return enough


def lowest_nodes(marked: NDArray[np.bool_]) -> list[int]:
    """Return the nodes of an upward closed set that have no other node of it below."""
    lowest = marked.copy()
    for axis in range(marked.ndim):
        front, back = np.moveaxis(lowest, axis, 0), np.moveaxis(marked, axis, 0)
        front[1:] &= ~back[:-1]
    return [int(index) for index in np.flatnonzero(lowest)]


def _upwards(search: Search, open_: NDArray[np.bool_]) -> Iterator[int]:
    """Give the nodes that are still open, lower totals first; whoever closes some is heard at once."""
    flat = open_.reshape(-1)
    search.told.left = int(np.count_nonzero(flat))
    for index in np.argsort(search.nodes.totals().reshape(-1), kind="stable").tolist():
        if flat[index]:
            search.told.left -= 1
            yield index


def minimal_nodes(search: Search) -> list[tuple[int, ...]]:
    """Find all minimal nodes: those that keep every constraint and generalize no other node that does.

    With k alone these are the k-minimal nodes. t and l with suppression are not monotone: what lies above a
    minimal node may break them. So all nodes above the k-minimal ones are asked, from the lower to the higher
    totals, except those above a minimal node that was found.

    Args:
        search: a table with n ≥ k.
    Returns:
        Levels of each, in lexicographic order; none if no node keeps the constraints.
    Source:
        El Emam et al. (2009), OLA: bisect sublattices (here chains), and tag what is above an anonymous node
        or below one that is not without counting it.
    """
    anonymous = k_anonymous(search)
    if not search.task.constraints.sensitive:
        return [search.nodes.levels(index) for index in lowest_nodes(anonymous)]
    found = []
    for index in _upwards(search, anonymous):
        if is_feasible(search, index):
            found.append(index)
            anonymous[search.nodes.up(search.nodes.levels(index))] = False
    return [search.nodes.levels(index) for index in sorted(found)]


def ola(search: Search) -> NodeScore:
    """Find the minimal node with the least loss; ties as in `optimal`.

    Minimal among the nodes that keep all constraints, t and l included (`minimal_nodes`); with k alone these
    are OLA's k-minimal nodes.

    Raises:
        InfeasibleError: no node keeps the constraints.
    Source:
        El Emam et al., JAMIA 16(5), 2009; [methods 4].
    """
    found = [score(search, search.nodes.index(levels)) for levels in minimal_nodes(search)]
    if not found:
        raise no_node_error(search)
    return min(found)
