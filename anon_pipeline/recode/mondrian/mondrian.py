"""Mondrian: recode each class by its own ranges instead of a whole column by one level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import equivalence_classes, group_rows
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.losses import LOSSES, WEIGHED
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.recode.by_record import ByRecord
from anon_pipeline.recode.choice import Choice
from anon_pipeline.recode.constraints import broken_classes, infeasible_error
from anon_pipeline.recode.contents import ClassContents, merge_contents
from anon_pipeline.recode.joint import Joint
from anon_pipeline.recode.mondrian.cuts import cut_classes
from anon_pipeline.recode.mondrian.division import Entries, Ranges, axes_of, divide
from anon_pipeline.recode.partition_loss import measured_loss
from anon_pipeline.recode.ranges import Axis, column_costs, release_ranges
from anon_pipeline.recode.task import Constraints, Recoding, Task
from anon_pipeline.recode.tuples import leaf_counts

_ADVICE = (
    "Mondrian suppresses no record, so the whole table must keep every limit: relax that one, or try a "
    "recoder that suppresses."
)


def release_parts(
    axes: Sequence[Axis], found: Ranges
) -> tuple[NDArray[np.int64], tuple[NDArray[np.object_], ...]]:
    """Return what each part releases, (p, q), and the values that this indexes."""
    codes, values = np.empty((len(found.sizes), len(axes)), np.int64), []
    for column, axis in enumerate(axes):
        released = release_ranges(axis, found.low[column], found.high[column])
        codes[:, column] = released.codes
        values.append(released.values)
    return codes, tuple(values)


def refuse_broken(constraints: Constraints, whole: ClassContents) -> None:
    """Refuse a table that does not keep the constraints as one class.

    Raises:
        InfeasibleError: says which it breaks most.
    """
    if broken_classes(constraints, whole).any():
        raise infeasible_error(constraints, whole, advice=_ADVICE)


def _measure(
    task: Task,
    axes: Sequence[Axis],
    found: Ranges,
    released: ClassContents,
    leaves: Sequence[NDArray[np.int64]],
) -> float:
    """Measure the loss that was asked for, in [0, 1], records gone before counted as suppressed.

    Args:
        released: classes by released value, for the measures of whole classes.
        leaves: q times (D,) records of each leaf.
    """
    limits = task.constraints
    if limits.sensitive and broken_classes(limits, released).any():  # by rounding alone
        raise infeasible_error(limits, released, advice="Raise t by 1e-9.")
    if task.loss not in WEIGHED:
        return measured_loss(task, released)
    costs = [
        column_costs(task.loss, axis, found.low[column], found.high[column], leaves[column])
        for column, axis in enumerate(axes)
    ]
    return measured_loss(task, ClassContents(released.records, found.sizes), costs)


def choose_parts(
    task: Task,
    axes: Sequence[Axis],
    found: Ranges,
    contents: ClassContents,
    leaves: Sequence[NDArray[np.int64]],
) -> tuple[Choice, NDArray[np.int64]]:
    """Make the choice that a division is.

    Two parts may release the same values and be one class to whoever reads them: it keeps what both keep, for
    distances are convex, entropies concave, and of a recursive ratio's two counts the first grows at most as
    fast as the rest. It is measured all the same.

    Args:
        contents: of the parts.
        leaves: q times (D,) records of each leaf.
    Returns:
        The choice, without labels; class of each part, (p,).
    Raises:
        InfeasibleError: a class does not keep the constraints.
    """
    codes, values = release_parts(axes, found)
    first, classes, _ = group_rows(codes)
    released = merge_contents(contents, classes)
    choice = Choice(
        finder=cut_classes(found.cuts, tuple(axis.positions for axis in axes), classes),
        codes=codes[first],
        sizes=released.sizes,
        values=values,
        labels=None,
        levels=None,
        loss=_measure(task, axes, found, released, leaves),
        suppressed=0,
    )
    return choice, classes


def mondrian(task: Task, joint: Joint) -> Choice:
    """Recode by strict Mondrian; nothing is suppressed, whatever the limit.

    Args:
        task: with a recoder that never parts equal tuples; the cuts do not depend on its loss.
    Raises:
        InfeasibleError: the table as one class does not keep the constraints.
    Source:
        LeFevre et al. (2006); [UT Alg. 3]; [methods 4, 9.1].
    """
    table = joint.table
    refuse_broken(task.constraints, joint.contents(np.zeros(len(table.counts), np.int64)))
    axes = axes_of(task, table)
    entries: Entries = import_entry(recoder_of(task.recoder).algorithm)(task, joint)
    found, owners = divide(task, table, axes, entries)
    parts = np.empty(len(table.counts), np.int64)
    parts[entries.tuples] = owners  # a cut lies between two positions, so all entries of a tuple are in one
    leaves = leaf_counts(table, task.hierarchies)
    choice, classes = choose_parts(task, axes, found, joint.contents(parts), leaves)
    return replace(choice, labels=classes[parts])


def mondrian_by_record(task: Task, records: ByRecord) -> Recoding:
    """Recode by relaxed Mondrian, which may part equal records; nothing is suppressed, whatever the limit.

    Args:
        task: with a recoder that makes an entry of each record.
    Raises:
        InfeasibleError: the table as one class does not keep the constraints.
    Source:
        LeFevre et al. (2006); [UT Alg. 3]; [methods 4, 9.1].
    """
    n, table = records.records, records.table
    refuse_broken(task.constraints, records.contents(np.zeros(n, np.int64)))
    axes = axes_of(task, table)
    entries: Entries = import_entry(recoder_of(task.recoder).algorithm)(task, records)
    found, owners = divide(task, table, axes, entries)
    parts = np.empty(n, np.int64)
    parts[entries.records] = owners
    codes, values = release_parts(axes, found)
    codes = np.asfortranarray(codes[parts])
    labeled = LOSSES[task.loss].labels
    released = records.contents(equivalence_classes(codes).labels, labeled=labeled)
    loss = _measure(task, axes, found, released, leaf_counts(table, task.hierarchies))
    return Recoding(codes=codes, values=values, levels=None, loss=loss, suppressed=0, checked=0)
