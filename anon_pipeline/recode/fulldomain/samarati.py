"""Samarati's search: the least height of the lattice at which a node keeps the constraints."""

from __future__ import annotations

import numpy as np

from anon_pipeline.recode.fulldomain.candidates import choose_preferred
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, is_feasible, is_k_anonymous


def samarati(search: Search) -> NodeScore:
    """Find the least height (sum of levels) at which a node keeps all constraints.

    The least height for k is bisected: a generalization of a k-anonymous node is k-anonymous, so above a
    height with such a node every height has one. t and l are not monotone with suppression: from that
    height upward, height by height, all nodes are asked for all constraints, and the first height with
    one that keeps them is the answer's.

    Args:
        search: a table with n ≥ k.
    Returns:
        Of all nodes at that height that keep all constraints, the one by the task's ``prefer``.
    Raises:
        InfeasibleError: no node keeps all constraints.
    Source:
        Samarati (2001); [DB Algorithm 2], which returns the first node that it meets.
    """
    totals = search.nodes.totals().reshape(-1)
    order = np.argsort(totals, kind="stable")
    top = int(totals[order[-1]])
    starts = np.searchsorted(totals[order], np.arange(top + 2))

    def nodes_at(height: int) -> list[int]:
        """Return the nodes whose levels add up to a height."""
        nodes: list[int] = order[starts[height] : starts[height + 1]].tolist()
        return nodes

    low, high = 0, top
    while low < high:
        middle = (low + high) // 2
        search.told.left = int(starts[high + 1] - starts[low])
        if any(is_k_anonymous(search, index) for index in nodes_at(middle)):
            high = middle
        else:
            low = middle + 1
    for height in range(low, top + 1):
        search.told.left = len(order) - int(starts[height])
        found = [index for index in nodes_at(height) if is_feasible(search, index)]
        if found:
            return choose_preferred(search, found)
    return choose_preferred(search, [])
