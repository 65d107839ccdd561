"""What a division will be, before anything is written: levels, the partition of each record, t within one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import count_codes, slices_of
from anon_pipeline.base.errors import InfeasibleError, InputError
from anon_pipeline.base.observer import Observer
from anon_pipeline.division.assignment import assign_classes, shuffle
from anon_pipeline.division.closeness import closeness_within
from anon_pipeline.division.deciding_columns import Deciding
from anon_pipeline.division.record_counter import RecordCounter
from anon_pipeline.division.record_keys import Levels
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.policy.model import Policy
from anon_pipeline.recode import choose, choose_elsewhere
from anon_pipeline.recode.choice import key_classes
from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.contents import contents_of_tuples
from anon_pipeline.recode.task import SensitiveLimit, Task
from anon_pipeline.recode.tuples import DistinctTuples, some_tuples
from anon_pipeline.stages.recoder_task import question

_FEWER = "Take fewer partitions (--into)"


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How n records are divided.

    levels: of each generalize column, chosen for the whole table.
    owners: (n,) partition of each record, 0 … p−1.
    closeness: t of sensitive columns within a partition, where it is smaller than the policy's.
    apart: sensitive columns whose t is kept within each partition, and perhaps not towards the whole table.
    """

    levels: dict[str, int]
    owners: NDArray[np.int16] = field(repr=False)
    closeness: dict[str, float]
    apart: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Assigned:
    """Classes and their partitions.

    table: of m classes; ``kept``: (m,) whether each is released; ``parts``: (m,) partition of each.
    gone: (p,) records of each partition that are suppressed whatever the levels.
    """

    table: DistinctTuples = field(repr=False)
    kept: NDArray[np.bool_] = field(repr=False)
    parts: NDArray[np.int64] = field(repr=False)
    gone: NDArray[np.int64] = field(repr=False)


def plan_division(policy: Policy, deciding: Deciding, parts: int, *, observe: Observer) -> Plan:
    """Choose the levels for all records, and assign each class to a partition.

    Raises:
        InfeasibleError: no recoding keeps the limits.
        InputError: a partition could not be released: it would be beyond the suppression limit, without a
            class, or without a value in a column.
    """
    gone = int(deciding.gone.sum())
    task = question(
        policy, deciding.hierarchies, deciding.limits, subjects=deciding.records, gone=gone, observe=observe
    )
    counter = RecordCounter(
        task, deciding.codes, deciding.limited, deciding.target, deciding.gone if gone else None
    )
    choice = choose_elsewhere(task, counter, most=counter.most)
    levels = choice.levels or ()
    table = counter.table(levels)
    assert table is not None  # noqa: S101 - no number was given that it may exceed
    kept = choice.finder.find(table.tuples) >= 0
    assigned, of_gone = assign_classes(table.counts, kept, parts, gone=gone)
    classes = _Assigned(table, kept, assigned, of_gone)
    owners = _owners(counter.on(levels), classes)
    values = [_count_values(codes, owners, limit, parts) for limit, codes in _pairs(deciding)]
    closeness, apart = _closeness(deciding.limits, values)
    _refuse_without_classes(classes)
    _refuse_without_values(deciding, owners, parts)
    limits = [
        replace(limit, t=closeness.get(limit.column, limit.t)) if limit.t is not None else limit
        for limit in deciding.limits
    ]
    _refuse_infeasible(policy, classes, limits, values, (deciding.hierarchies, levels))
    return Plan(dict(zip(policy.generalized, levels, strict=True)), owners, closeness, apart)


def _owners(levels: Levels, classes: _Assigned) -> NDArray[np.int16]:
    """Return the partition of each record, (n,): that of its class, or any for those in none."""
    rows = [lookup[own] for lookup, own in zip(levels.lookups, classes.table.tuples.T, strict=True)]
    lookups = [lookup.astype(np.int64) for lookup in levels.lookups]
    finder = key_classes(lookups, np.stack(rows, axis=1).astype(np.int64), np.arange(len(classes.parts)))
    owners = np.empty(len(levels.columns[0]), np.int16)
    parts = classes.parts.astype(np.int16)
    for part in slices_of(len(owners)):
        owners[part] = parts[finder.find(np.stack([own[part] for own in levels.columns], axis=1))]
    if levels.without is not None:
        owners[levels.without] = shuffle(np.repeat(np.arange(len(classes.gone)), classes.gone))
    return owners


def _pairs(deciding: Deciding) -> list[tuple[SensitiveLimit, NDArray[np.signedinteger]]]:
    return list(zip(deciding.limits, deciding.limited, strict=True))


def _count_values(
    codes: NDArray[np.signedinteger], owners: NDArray[np.int16], limit: SensitiveLimit, parts: int
) -> NDArray[np.int64]:
    """Count the records of each partition with each value of a limited column, (p, v)."""
    values = len(limit.whole)

    def places() -> Iterator[NDArray[np.int64]]:
        for part in slices_of(len(codes)):
            there = codes[part] >= 0
            yield owners[part][there].astype(np.int64) * values + codes[part][there]

    return count_codes(places(), parts * values).reshape(parts, values)


def _closeness(
    limits: Sequence[SensitiveLimit], values: Sequence[NDArray[np.int64]]
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the t that partitions must keep, by column, if it is smaller; and columns without such a t."""
    found, apart = dict[str, float](), list[str]()
    for limit, counts in zip(limits, values, strict=True):
        if limit.t is None or not counts.sum(axis=1).all():
            continue  # a partition without any value is refused
        within = closeness_within(limit, counts)
        if within is None:
            apart.append(limit.column)
        elif within < limit.t:
            found[limit.column] = within
    return found, tuple(apart)


def _refuse_without_classes(classes: _Assigned) -> None:
    """Refuse a partition of which nothing would be released."""
    many = len(classes.gone)
    without = many - len(np.unique(classes.parts[classes.kept]))
    if without:
        raise InputError(
            f"--into must be at most the number of classes that are released, got {many:,}, of which "
            f"{without:,} would have none. Take fewer."
        )


def _refuse_without_values(deciding: Deciding, owners: NDArray[np.int16], parts: int) -> None:
    """Refuse a partition in which nobody has a value in a generalize column: it has no hierarchy there."""
    for hierarchy, codes in zip(deciding.hierarchies, deciding.codes, strict=True):
        valued = np.array([value is not None for value in hierarchy.values[0]])
        some = (owners[part][valued[codes[part]]] for part in slices_of(len(codes)))
        without = int((count_codes(some, parts) == 0).sum())
        if without:
            raise InputError(
                f"{hierarchy.column}: {without} partitions would have no value in any record. {_FEWER}."
            )


def _refuse_infeasible(
    policy: Policy,
    classes: _Assigned,
    limits: Sequence[SensitiveLimit],
    values: Sequence[NDArray[np.int64]],
    chosen: tuple[tuple[Hierarchy, ...], tuple[int, ...]],
) -> None:
    """Refuse partitions that cannot be released by the levels of the whole table.

    Args:
        limits: with the t of partitions; ``values``: (p, v) records of each partition with each value.
        chosen: the hierarchies, and the level of each.
    """
    over = 0
    for part in range(len(classes.gone)):
        table, gone = some_tuples(classes.table, classes.parts == part), int(classes.gone[part])
        own = tuple(replace(limit, whole=counts[part]) for limit, counts in zip(limits, values, strict=True))
        task = question(policy, chosen[0], own, subjects=table.records + gone, gone=gone)
        over += not _is_feasible(replace(task, recoder="fixed", levels=chosen[1]), table)
    if over:
        raise InputError(
            f"{over} of {len(classes.gone)} partitions would be beyond anonymize.suppression_limit, since "
            "whole classes are suppressed, also those too far from their partition (its t is smaller). "
            f"{_FEWER}, or set a suppression limit or t that the whole table keeps with room to spare."
        )


def _is_feasible(task: Task, table: DistinctTuples) -> bool:
    """Whether the classes of a partition can be released at the levels of a task."""
    if not task.cells:
        broken = broken_classes(task.constraints, contents_of_tuples(table, np.arange(len(table.counts))))
        return int(table.counts[broken].sum()) <= task.constraints.max_suppressed
    try:
        choose(task, table)
    except InfeasibleError:
        return False
    return True
