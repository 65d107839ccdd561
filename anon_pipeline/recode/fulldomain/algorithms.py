"""How each full-domain recoder chooses its node, as the table of recoders names them.

Each function takes a search and returns the node, and how many nodes it counted outside of its tables.
"""

from __future__ import annotations

from anon_pipeline.recode.fulldomain.best_node import node_choice
from anon_pipeline.recode.fulldomain.candidates import choose_preferred
from anon_pipeline.recode.fulldomain.cell_search import least_with_cells
from anon_pipeline.recode.fulldomain.datafly import datafly
from anon_pipeline.recode.fulldomain.fixed_levels import score_fixed
from anon_pipeline.recode.fulldomain.incognito import incognito
from anon_pipeline.recode.fulldomain.mingen import mingen
from anon_pipeline.recode.fulldomain.ola import minimal_nodes, ola
from anon_pipeline.recode.fulldomain.optimal import optimal
from anon_pipeline.recode.fulldomain.samarati import samarati
from anon_pipeline.recode.fulldomain.search import NodeScore, Search


def ola_node(search: Search) -> tuple[NodeScore, int]:
    """Return the minimal node that is preferred: of the least loss, if the task prefers nothing else."""
    if search.task.prefer == "loss":
        return ola(search), 0
    return choose_preferred(search, [search.nodes.index(levels) for levels in minimal_nodes(search)]), 0


def optimal_node(search: Search) -> tuple[NodeScore, int]:
    """Return the node of the least loss of all; where cells are blanked, of the loss with these.

    A table that has no tuples below some nodes (`elsewhere`) can say nothing of cells there: then of the loss
    for whole records.
    """
    source = search.source
    if search.task.cells and search.bounds.cells and source.table is not None and source.closed is None:
        return least_with_cells(search, node_choice), 0
    return optimal(search), 0


def incognito_node(search: Search) -> tuple[NodeScore, int]:
    """Return the preferred one of the minimal nodes, found by subsets of the columns."""
    return incognito(search)


def samarati_node(search: Search) -> tuple[NodeScore, int]:
    """Return the preferred one of the nodes of least height."""
    return samarati(search), 0


def datafly_node(search: Search) -> tuple[NodeScore, int]:
    """Return the node that a greedy search ends at."""
    return datafly(search), 0


def mingen_node(search: Search) -> tuple[NodeScore, int]:
    """Return the preferred one of all minimal nodes, found by looking at each."""
    return mingen(search), 0


def fixed_node(search: Search) -> tuple[NodeScore, int]:
    """Return the node that the policy names."""
    return score_fixed(search), 0
