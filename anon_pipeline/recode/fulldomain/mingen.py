"""MinGen: count every node of the lattice, and take the best."""

from __future__ import annotations

from anon_pipeline.base.errors import InputError
from anon_pipeline.recode.fulldomain.candidates import choose_preferred
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, is_feasible

MOST_EXHAUSTIVE = 10_000
"""Nodes of the largest lattice that is searched exhaustively."""


def mingen(search: Search) -> NodeScore:
    """Ask every node for all constraints, and choose by the task's ``prefer`` among all that keep them.

    With ``prefer: loss`` that is the k-minimal distortion, the answer of `optimal` too. With a suppression
    limit it need not be a k-minimal node.

    Args:
        search: a table with n ≥ k.
    Raises:
        InputError: more than `MOST_EXHAUSTIVE` nodes.
        InfeasibleError: no node keeps all constraints.
    Source:
        Sweeney (2002); [UT Algorithm 1].
    """
    if search.nodes.size > MOST_EXHAUSTIVE:
        raise InputError(
            f"The lattice of the hierarchies must have at most {MOST_EXHAUSTIVE:,} nodes for mingen, which "
            f"counts them all, got {search.nodes.size:,}. Use optimal, which finds the least loss too."
        )
    found = []
    for index in range(search.nodes.size):
        search.told.left = search.nodes.size - index
        if is_feasible(search, index):
            found.append(index)
    return choose_preferred(search, found)
