"""Turn the node that a search chose into a recoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import equivalence_classes, group_rows
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.fulldomain.cells import Blanked, blank_cells
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, prepare_search
from anon_pipeline.recode.loss import CellLoss, ColumnCosts, cell_loss, measured_loss
from anon_pipeline.recode.task import Recoding, Task
from anon_pipeline.recode.tuples import DistinctTuples


def full_domain(task: Task, table: DistinctTuples) -> Recoding:
    """Search the lattice by the task's recoder, and release the table at the node that it chose.

    Raises:
        InfeasibleError: no node keeps the constraints.
        InputError: the lattice is too large.
    """
    search = prepare_search(task, table)
    best, elsewhere = _choose(search)
    found = full_domain_recoding(search, best)
    if task.cells and found.suppressed:
        found = _with_cells(task, table, found)
    return replace(found, checked=found.checked + elsewhere)


def _choose(search: Search) -> tuple[NodeScore, int]:
    """Ask the task's recoder for a node; and how many nodes it counted outside of the search's own tables."""
    chosen: tuple[NodeScore, int] = import_entry(recoder_of(search.task.recoder).algorithm)(search)
    return chosen


def _with_cells(task: Task, table: DistinctTuples, found: Recoding) -> Recoding:
    """Suppress cells of records that would be suppressed whole, as far as that lets them stay."""
    levels = found.levels or ()
    blanked = blank_cells(task, table, levels)
    codes = blanked.codes[table.labels]
    labels = equivalence_classes(codes).labels
    kind = cell_loss(task.loss)
    at = list(zip(task.hierarchies, levels, strict=True))
    columns = () if kind is None else _price(kind, table, blanked, labels, at)
    return replace(
        found,
        codes=codes,
        values=blanked.values,
        loss=measured_loss(task, labels, columns),
        suppressed=int(np.count_nonzero(labels < 0)),
        cells=int(table.counts @ blanked.blank.sum(axis=1)),
    )


def _price(
    kind: CellLoss,
    table: DistinctTuples,
    blanked: Blanked,
    labels: NDArray[np.int64],
    at: Sequence[tuple[Hierarchy, int]],
) -> list[ColumnCosts]:
    """Return what the cells of each class cost, column by column: blanked ones as much as suppressed ones.

    Where a class holds both blanked cells and such as are at the top's value by their level, their mean.
    """
    n, kept, columns = table.records, labels >= 0, []
    sizes = np.bincount(labels[kept])
    for column, (hierarchy, level) in enumerate(at):
        leaves = table.tuples[:, column]
        counts = np.bincount(leaves, table.counts, hierarchy.leaves).astype(np.int64)
        full = kind.suppressed(hierarchy, n)
        own = kind.levels(hierarchy, counts)[level][hierarchy.lookups[level][leaves]]
        cells = np.where(blanked.blank[:, column], full, own)[table.labels]
        offset = 0.0 if kind.offset is None else float(kind.offset(counts))
        means = np.bincount(labels[kept], cells[kept], len(sizes)) / sizes
        columns.append(ColumnCosts(means, float(full), offset))
    return columns


def full_domain_recoding(search: Search, best: NodeScore) -> Recoding:
    """Release a table at a node: generalize every record, suppress the classes that break a constraint."""
    levels, table, task = search.nodes.levels(best.node), search.table, search.task
    generalized = np.empty_like(table.tuples)
    for column, (hierarchy, level) in enumerate(zip(task.hierarchies, levels, strict=True)):
        generalized[:, column] = hierarchy.lookups[level][table.tuples[:, column]]
    _, classes, _ = group_rows(generalized)
    if task.constraints.sensitive:
        gone = broken_classes(task.constraints, classes[table.labels])
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
        checked=len(search.seen) + search.told.swept,
    )
