"""Questions to recoders, written down record by record, and the counts that recoders are given of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.recoders import RECODERS, recoder_of
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.by_record import by_record, count_records
from anon_pipeline.recode.choice import recoding_of
from anon_pipeline.recode.contents import ClassContents, contents_of_records
from anon_pipeline.recode.joint import Joint, join_records
from anon_pipeline.recode.mondrian.division import (
    Ranges,
    axes_of,
    divide,
    mondrian_entries,
    mondrian_relaxed_entries,
)
from anon_pipeline.recode.mondrian.mondrian import mondrian, mondrian_by_record
from anon_pipeline.recode.ranges import Axis
from anon_pipeline.recode.task import Constraints, Recoding, SensitiveLimit, Task
from anon_pipeline.recode.tuples import DistinctTuples


@dataclass(frozen=True, eq=False)
class Secret:
    """A limit, and the value of each record."""

    limit: SensitiveLimit
    codes: np.ndarray


def limit_of(column: str, codes: np.ndarray, whole: np.ndarray, *more: Any, **terms: Any) -> Secret:
    """A limited column: as `SensitiveLimit`, with the value of each record."""
    return Secret(SensitiveLimit(column, whole, *more, **terms), codes)


def rules(constraints: Any) -> Constraints:
    """Constraints whose limits are secrets, without the records."""
    return replace(constraints, sensitive=tuple(own.limit for own in constraints.sensitive))


def classes(constraints: Any, labels: np.ndarray) -> ClassContents:
    """What classes of records hold; the limits of the constraints are secrets."""
    return contents_of_records(labels, [own.codes for own in constraints.sensitive])


def ask(
    codes: np.ndarray, hierarchies: Sequence[Hierarchy], constraints: Any, *more: Any, **terms: Any
) -> Task:
    """A task with its records; the limits of its constraints are secrets.

    If no others are given, a recoder that gets its levels gets the middle ones, and one that gets its classes
    gets k records after the other.
    """
    sensitive = [own.codes for own in constraints.sensitive]
    records = by_record(codes, hierarchies, sensitive=sensitive, target=terms.pop("target", None))
    k = max(constraints.k, 1)
    labels = np.minimum(np.arange(len(codes)) // k, max(len(codes) // k, 1) - 1)
    records = replace(records, given=terms.pop("given", labels))
    task = Task(tuple(hierarchies), rules(constraints), *more, **terms, by_record=records)
    if task.recoder in RECODERS and "levels" in RECODERS[task.recoder].options and not task.levels:
        return replace(task, levels=tuple(hierarchy.height // 2 for hierarchy in hierarchies))
    return task


def again(task: Task, order: np.ndarray) -> Task:
    """The same question with its records in another order."""
    own = task.by_record
    target = None if own.target is None else own.target[order]
    records = by_record(
        own.codes[order],
        task.hierarchies,
        sensitive=[row[order] for row in own.sensitive],
        target=target,
        given=None if own.given is None else own.given[order],
    )
    return replace(task, by_record=records)


def compact(labels: Sequence[int]) -> np.ndarray:
    """Number classes without gaps, in their order; −1 stays."""
    return np.unique([-1, *labels], return_inverse=True)[1][1:] - 1


def counts_of(task: Task) -> DistinctTuples:
    """The tuples of a task's records, with what they hold."""
    return count_records(task.by_record, labeled=LOSSES[task.loss].labels)


def joint_of(task: Task) -> Joint:
    """The entries of a task's records."""
    return join_records(task.by_record, labeled=LOSSES[task.loss].labels)


def held(task: Task, labels: np.ndarray) -> ClassContents:
    """What classes of a task's records hold."""
    return task.by_record.contents(labels, labeled=True)


def parts_of(task: Task, axes: Sequence[Axis] | None = None) -> tuple[np.ndarray, Ranges]:
    """The part of each record in Mondrian's division, and the parts' ranges."""
    own = task.by_record
    lines = axes_of(task, own.table) if axes is None else axes
    if recoder_of(task.recoder).by_order:
        entries = mondrian_relaxed_entries(task, own)
        ranges, owners = divide(task, own.table, lines, entries)
        labels = np.empty(own.records, np.int64)
        labels[entries.records] = owners
        return labels, ranges
    joint = joint_of(task)
    ranges, owners = divide(task, joint.table, lines, mondrian_entries(task, joint))
    tuples = np.empty(len(joint.table.counts), np.int64)
    tuples[joint.tuples] = owners
    assert np.array_equal(tuples[joint.tuples], owners)  # a strict cut never parts equal tuples
    return tuples[own.labels], ranges


def mondrian_recoding(task: Task) -> Recoding:
    """Mondrian's recoding, without asking first whether any can be found."""
    if recoder_of(task.recoder).by_order:
        return mondrian_by_record(task, task.by_record)
    return recoding_of(mondrian(task, joint_of(task)), task.by_record.labels)
