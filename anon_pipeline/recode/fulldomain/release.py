"""Turn the node that a search chose into a recoding.

Belongs here: generalizing every tuple to the levels of one node and suppressing its small classes. Does not
belong here: choosing the node (`search`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.classes import group_rows
from anon_pipeline.hierarchy.model import Hierarchy
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, ola, optimal, prepare_search
from anon_pipeline.recode.model import Recoding, Task
from anon_pipeline.recode.table import DistinctTuples

__all__ = ["full_domain", "full_domain_recoding", "generalized_tuples"]


def generalized_tuples(
    table: DistinctTuples, hierarchies: Sequence[Hierarchy], levels: Sequence[int], *, k: int
) -> NDArray[np.int64]:
    """Generalize distinct tuples to one node.

    Args:
        table: the records.
        hierarchies: q hierarchies.
        levels: (q,) level of each.
        k: records that a class needs to be kept.
    Returns:
        (t, q) codes on those levels; −1 in every column for a tuple in a class below k.
    """
    codes = np.empty_like(table.tuples)
    for column, (hierarchy, level) in enumerate(zip(hierarchies, levels, strict=True)):
        codes[:, column] = hierarchy.lookups[level][table.tuples[:, column]]
    first, labels, _ = group_rows(codes)
    records = np.zeros(len(first), np.int64)
    np.add.at(records, labels, table.counts)
    codes[(records < k)[labels]] = -1
    return codes


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
    best = optimal(search) if task.recoder == "optimal" else ola(search)
    found = full_domain_recoding(search, best, table, task.hierarchies)
    return replace(found, loss=(found.loss * table.records + task.gone) / (table.records + task.gone))


def full_domain_recoding(
    search: Search, best: NodeScore, table: DistinctTuples, hierarchies: Sequence[Hierarchy]
) -> Recoding:
    """Release a table at a node.

    Args:
        search: that found the node.
        best: the answer.
        table: the records that were searched.
        hierarchies: q hierarchies.
    """
    levels = search.nodes.levels(best.node)
    codes = generalized_tuples(table, hierarchies, levels, k=search.k)
    return Recoding(
        codes=codes[table.labels],
        values=tuple(hierarchy.values[level] for hierarchy, level in zip(hierarchies, levels, strict=True)),
        levels=levels,
        loss=float(search.units.loss(best.score)),
        suppressed=best.suppressed,
        checked=len(search.seen),
    )
