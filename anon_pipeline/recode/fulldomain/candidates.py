"""Between the nodes that a search found: which are minimal, and which one is preferred.

t-closeness and l-diversity are not monotone with suppression: a node above one that keeps them may break
them. So minimal nodes are looked for upward from the k-minimal ones, and nothing is inferred from t or l.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from anon_pipeline.recode.fulldomain.search import NodeScore, Search, count, is_feasible, no_node_error, score


def lowest_feasible(search: Search, roots: Iterable[int]) -> list[int]:
    """Find the nodes that keep all constraints and generalize no other node that does.

    A minimal one is k-anonymous, so it lies above a k-minimal node, and no node between the two keeps all
    constraints: climbing from the k-minimal nodes through those that do not arrives at it. Lower nodes come
    first, so what lies above one that was found is passed over.

    Args:
        roots: all k-minimal nodes.
    Returns:
        Nodes, from the lowest total level; with k alone the roots themselves.
    """
    nodes = search.nodes
    covered = np.zeros(nodes.shape, np.bool_)
    flat, found = covered.reshape(-1), []
    waiting = [(sum(nodes.levels(root)), root) for root in sorted(set(roots))]
    queued = {root for _, root in waiting}
    heapq.heapify(waiting)
    while waiting:
        total, index = heapq.heappop(waiting)
        if flat[index]:
            continue
        search.told.left = len(waiting)
        if is_feasible(search, index):
            found.append(index)
            covered[nodes.up(nodes.levels(index))] = True
            continue
        above = [node for node in nodes.successors(index) if node not in queued]
        queued.update(above)
        for node in above:
            heapq.heappush(waiting, (total + 1, node))
    return found


def _criterion(search: Search, node: NodeScore) -> Fraction | int:
    """Return what ``prefer`` minimizes; 0 for ``loss``, by which ties are broken anyway."""
    prefer, levels = search.task.prefer, search.nodes.levels(node.node)
    if prefer == "least_absolute_distance":
        return node.total
    if prefer == "least_relative_distance":
        heights = [max(1, hierarchy.height - 1) for hierarchy in search.task.hierarchies]
        return sum((Fraction(*pair) for pair in zip(levels, heights, strict=True)), Fraction(0))
    if prefer == "most_distinct_tuples":
        return -count(search, node.node).final.classes
    return node.suppressed if prefer == "least_suppression" else 0


def choose_preferred(search: Search, found: Iterable[int]) -> NodeScore:
    """Choose a node by the task's ``prefer``; ties go to lower loss, then as in `optimal`.

    ``least_absolute_distance`` is the least sum of levels, ``least_relative_distance`` that of levels
    divided by the highest level of their hierarchy, ``most_distinct_tuples`` the most classes released,
    ``least_suppression`` the fewest suppressed records, ``loss`` the least of the task's loss.

    Args:
        found: nodes that keep all constraints.
    Raises:
        InfeasibleError: there are none.
    Source:
        [SL], k-minimal generalization with suppression; [UT (2.7), (2.8)]; Samarati (2001).
    """
    nodes = [score(search, index) for index in found]
    if not nodes:
        raise no_node_error(search)
    return min(nodes, key=lambda node: (_criterion(search, node), node))
