"""Turn the node that a search chose into a recoding.

Belongs here: generalizing every tuple to the levels of one node and suppressing its small classes. Does not
belong here: choosing the node (`search`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from anon_pipeline.classes import group_rows
from anon_pipeline.recode.constraints import broken
from anon_pipeline.recode.fulldomain.candidates import preferred
from anon_pipeline.recode.fulldomain.datafly import datafly
from anon_pipeline.recode.fulldomain.incognito import incognito
from anon_pipeline.recode.fulldomain.mingen import mingen
from anon_pipeline.recode.fulldomain.optimum import optimal
from anon_pipeline.recode.fulldomain.samarati import samarati
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, minimal_nodes, ola, prepare_search
from anon_pipeline.recode.model import Recoding, Task
from anon_pipeline.recode.table import DistinctTuples

__all__ = ["full_domain", "full_domain_recoding"]

_RECODERS: dict[str, Callable[[Search], NodeScore]] = {
    "datafly": datafly,
    "mingen": mingen,
    "ola": ola,
    "optimal": optimal,
    "samarati": samarati,
}


def full_domain(task: Task, table: DistinctTuples) -> Recoding:
    """Search the lattice by the task's recoder, and release the table at the node that it chose.

    Args:
        task: with one of the full-domain recoders.
        table: its records.
    Raises:
        InfeasibleError: no node keeps the constraints.
        InputError: the lattice is too large.
    """
    search = prepare_search(task, table)
    best, elsewhere = _chosen(search)
    found = full_domain_recoding(search, best)
    return replace(found, checked=found.checked + elsewhere)


def _chosen(search: Search) -> tuple[NodeScore, int]:
    """Ask the task's recoder for a node; and how many nodes it counted outside of the search's own tables."""
    recoder = search.task.recoder
    if recoder == "incognito":
        return incognito(search)
    if recoder == "ola" and search.task.prefer != "loss":
        return preferred(search, [search.nodes.index(levels) for levels in minimal_nodes(search)]), 0
    return _RECODERS[recoder](search), 0


def full_domain_recoding(search: Search, best: NodeScore) -> Recoding:
    """Release a table at a node: generalize every record, suppress the classes that break a constraint.

    Args:
        search: that found the node.
        best: the answer.
    """
    levels, table, task = search.nodes.levels(best.node), search.table, search.task
    generalized = np.empty_like(table.tuples)
    for column, (hierarchy, level) in enumerate(zip(task.hierarchies, levels, strict=True)):
        generalized[:, column] = hierarchy.lookups[level][table.tuples[:, column]]
    _, classes, _ = group_rows(generalized)
    if task.constraints.sensitive:
        gone = broken(task.constraints, classes[table.labels])
    else:
        gone = np.bincount(classes, table.counts) < task.constraints.k
    generalized[gone[classes]] = -1
    return Recoding(
        codes=generalized[table.labels],
        values=tuple(
            hierarchy.values[level] for hierarchy, level in zip(task.hierarchies, levels, strict=True)
        ),
        levels=levels,
        loss=float(search.units.loss(best.score)),
        suppressed=best.suppressed,
        checked=len(search.seen),
    )
