"""Datafly: generalize the column with the most distinct values, until the constraints hold."""

from __future__ import annotations

import numpy as np

from anon_pipeline.recode.fulldomain.search import NodeScore, Search, is_feasible, no_node_error, score


def datafly(search: Search) -> NodeScore:
    """Walk up from the bottom of the lattice to the first node that keeps all constraints.

    Each step raises the column that has the most distinct values in the table as it is generalized by then
    (ties: the first one), of those that are not on their top level, by one level. t and l are asked as k
    is: the walk goes on until everything holds within the suppression limit. It is one path; a node that
    keeps t or l is not seen if it is on another path.

    Args:
        search: a table with n ≥ k.
    Raises:
        InfeasibleError: nothing on the path keeps all constraints.
    Source:
        Sweeney (1997); [UT Algorithm 2], whose limit of k tuples is the suppression limit here.
    """
    hierarchies, nodes, index = search.task.hierarchies, search.nodes, 0
    present = [np.flatnonzero(leaves) for leaves in search.source.leaves]
    while not is_feasible(search, index):
        levels = nodes.levels(index)
        domains = [
            len(np.unique(hierarchy.lookups[level][own])) if level < hierarchy.height - 1 else 0
            for hierarchy, level, own in zip(hierarchies, levels, present, strict=True)
        ]
        if not any(domains):
            raise no_node_error(search)
        index += nodes.steps[domains.index(max(domains))]
    return score(search, index)
