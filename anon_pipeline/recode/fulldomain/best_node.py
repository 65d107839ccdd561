"""From the node that a search chose to a choice: which classes there are, and which of them are released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import group_rows
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.choice import Choice, key_classes
from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.contents import contents_of_tuples
from anon_pipeline.recode.fulldomain.cells import Blanked, blank_cells
from anon_pipeline.recode.fulldomain.fixed_levels import levels_error
from anon_pipeline.recode.fulldomain.search import NodeScore, Search, prepare_search, table_at
from anon_pipeline.recode.loss import CellLoss, ColumnCosts, cell_loss
from anon_pipeline.recode.partition_loss import measured_loss
from anon_pipeline.recode.task import Task
from anon_pipeline.recode.tuples import DistinctTuples, node_classes


def full_domain(task: Task, table: DistinctTuples) -> Choice:
    """Search the lattice by the task's recoder, and choose the node that it found.

    Raises:
        InfeasibleError: no node keeps the constraints.
        InputError: the lattice is too large, or a loss cannot be counted for so many records.
    """
    return choose_node(prepare_search(task, table))


def choose_node(search: Search) -> Choice:
    """Ask the task's recoder for a node, and make the choice that it is.

    Raises:
        InfeasibleError: no node keeps the constraints; or, at fixed levels, too many records could not be
            kept by blanking cells.
    """
    best, elsewhere = _choose(search)
    search = replace(search, tables=None)  # what counting needed is as large as the table
    return_freed_memory(search.source.records)
    found = node_choice(search, best)
    if found.suppressed > search.limit:
        raise levels_error(search)
    return replace(found, checked=found.checked + elsewhere)


def _choose(search: Search) -> tuple[NodeScore, int]:
    """Ask the task's recoder for a node; and how many nodes it counted outside of the search's own tables."""
    chosen: tuple[NodeScore, int] = import_entry(recoder_of(search.task.recoder).algorithm)(search)
    return chosen


def node_choice(search: Search, best: NodeScore) -> Choice:
    """Choose a node: generalize all, suppress the classes that break a constraint, or cells of theirs."""
    levels, task = search.nodes.levels(best.node), search.task
    table = table_at(search, levels)
    codes, labels = node_classes(table, task.hierarchies, levels)
    contents = contents_of_tuples(table, labels)
    gone = broken_classes(task.constraints, contents)
    values = tuple(hierarchy.values[level] for hierarchy, level in zip(task.hierarchies, levels, strict=True))
    kept = np.where(gone, -1, np.cumsum(~gone) - 1)
    lookups = [hierarchy.lookups[level] for hierarchy, level in zip(task.hierarchies, levels, strict=True)]
    found = Choice(
        finder=key_classes(lookups, codes[~gone], kept[~gone]),
        codes=codes[~gone],
        sizes=contents.sizes[~gone],
        values=values,
        labels=None if search.source.table is None else kept[labels],
        levels=levels,
        loss=float(search.units.loss(best.score)),
        suppressed=best.suppressed,
        checked=len(search.seen) + search.told.swept,
    )
    return _with_cells(search, table, found) if task.cells and best.suppressed else found


def _with_cells(search: Search, table: DistinctTuples, found: Choice) -> Choice:
    """Suppress cells of records that would be suppressed whole, as far as that lets them stay."""
    task, levels = search.task, found.levels or ()
    blanked = blank_cells(task, table, levels)
    kept = np.asarray((blanked.codes >= 0).all(axis=1))
    first, classes, _ = group_rows(blanked.codes[kept])
    released = blanked.codes[kept][first]
    of_node = np.full(len(kept), -1, np.int64)
    of_node[kept] = classes
    labels = of_node[blanked.labels]
    contents = contents_of_tuples(table, labels)
    kind = cell_loss(task.loss)
    at = list(zip(task.hierarchies, levels, search.source.leaves, strict=True))
    columns = () if kind is None else _column_costs(kind, table, blanked, labels, at)
    lookups = [hierarchy.lookups[level] for hierarchy, level, _ in at]
    return replace(
        found,
        finder=key_classes(lookups, blanked.nodes[kept], classes),
        codes=released,
        sizes=contents.sizes,
        values=blanked.values,
        labels=None if found.labels is None else labels,
        loss=measured_loss(task, contents, columns),
        suppressed=contents.records - int(contents.sizes.sum()),
        cells=int(table.counts @ blanked.blank[blanked.labels].sum(axis=1)),
    )


def _column_costs(
    kind: CellLoss,
    table: DistinctTuples,
    blanked: Blanked,
    labels: NDArray[np.int64],
    at: Sequence[tuple[Hierarchy, int, NDArray[np.int64]]],
) -> list[ColumnCosts]:
    """Return what the cells of each class cost, column by column: blanked ones as much as suppressed ones.

    Where a class holds both blanked cells and such as are at the top's value by their level, their mean.

    Args:
        at: q times the hierarchy, its level, and the records of each leaf.
    """
    kept, columns = labels >= 0, []
    m = int(labels.max(initial=-1)) + 1
    sizes = np.zeros(m, np.int64)
    np.add.at(sizes, labels[kept], table.counts[kept])
    for column, (hierarchy, level, leaves) in enumerate(at):
        full = kind.suppressed(hierarchy, table.records)
        own = kind.levels(hierarchy, leaves)[level][hierarchy.lookups[level][table.tuples[:, column]]]
        cells = np.where(blanked.blank[:, column][blanked.labels], full, own)
        offset = 0.0 if kind.offset is None else float(kind.offset(leaves))
        sums = np.zeros(m, np.int64)
        np.add.at(sums, labels[kept], (cells * table.counts)[kept])
        columns.append(ColumnCosts(sums / sizes, float(full), offset))
    return columns
