"""What a division will be, before anything is written: classes, their partitions, t within one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import count_codes, slices_of
from anon_pipeline.base.errors import InfeasibleError, InputError
from anon_pipeline.base.observer import Observer
from anon_pipeline.division.assignment import assign_classes, shuffle
from anon_pipeline.division.chosen_classes import ChosenClasses, choose_classes
from anon_pipeline.division.closeness import closeness_within
from anon_pipeline.division.deciding_columns import Deciding
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.policy.model import Policy
from anon_pipeline.recode import choose
from anon_pipeline.recode.choice import key_classes
from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.contents import contents_of_tuples
from anon_pipeline.recode.task import SensitiveLimit, Task
from anon_pipeline.recode.tuples import DistinctTuples, some_tuples
from anon_pipeline.stages.recoder_task import question

_FEWER = "Take fewer partitions (--into)"
_UNDIVIDED = "Make one release of the table (anon-pipeline run)"
_LEAST: Final = 2  # partitions
_TRIES: Final = 3


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How n records are divided.

    levels: of each generalize column, chosen for the whole table; none if classes are made by cuts.
    owners: (n,) partition of each record, 0 … p−1.
    closeness: t of sensitive columns within a partition, where it is smaller than the policy's.
    judged: the same of the gate's t, where the recoder keeps another one.
    apart: sensitive columns whose t is kept within each partition, and perhaps not towards the whole table.
    classes: (n,) class of each record if classes are made by cuts, −1 for one that is in none; else None.
    """

    levels: dict[str, int]
    owners: NDArray[np.int16] = field(repr=False)
    closeness: dict[str, float]
    apart: tuple[str, ...]
    classes: NDArray[np.int32] | None = field(default=None, repr=False)
    judged: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Assigned:
    """Classes and their partitions.

    table: of m classes; ``kept``: (m,) whether each is released; ``parts``: (m,) partition of each.
    gone: (p,) records of each partition that are suppressed whatever the levels.
    limits: on the limited columns, with the t of partitions; ``values``: (p, v) records of each partition
        with each value.
    """

    table: DistinctTuples = field(repr=False)
    kept: NDArray[np.bool_] = field(repr=False)
    parts: NDArray[np.int64] = field(repr=False)
    gone: NDArray[np.int64] = field(repr=False)
    limits: Sequence[SensitiveLimit] = field(repr=False)
    values: Sequence[NDArray[np.int64]] = field(repr=False)


def plan_division(policy: Policy, deciding: Deciding, parts: int, *, observe: Observer) -> Plan:
    """Choose the classes of all records, and assign each class to a partition.

    Raises:
        InfeasibleError: no recoding keeps the limits.
        InputError: a partition could not be released: it would be beyond the suppression limit, without a
            class, or without a value in a column.
    """
    gone = int(deciding.gone.sum())
    task = question(
        policy, deciding.hierarchies, deciding.limits, subjects=deciding.records, gone=gone, observe=observe
    )
    plan, classes, levels = _choose(policy, deciding, parts, task)
    _refuse_infeasible(policy, classes, (deciding.hierarchies, levels))
    return plan


def _choose(
    policy: Policy, deciding: Deciding, parts: int, asked: Task, *, tries: int = _TRIES
) -> tuple[Plan, _Assigned, tuple[int, ...]]:
    """Choose the classes and assign them; return the levels, too, if there are any.

    Cuts suppress nothing. So they are made again, a few times, until each class also keeps the t of its
    partition; other classes are in other partitions, whose t differs a little each time.
    """
    chosen = choose_classes(asked, deciding)
    plan, classes = _assign(policy, deciding, chosen, parts)
    closer = None
    if chosen.numbers is not None and tries and _breaks(asked, classes):
        closer = _closer(asked, deciding.limits, plan.closeness)
    if closer is None:
        return plan, classes, chosen.levels
    del chosen, plan, classes  # they are as large as the table
    return _choose(policy, deciding, parts, closer, tries=tries - 1)


def _assign(policy: Policy, deciding: Deciding, chosen: ChosenClasses, parts: int) -> tuple[Plan, _Assigned]:
    """Assign classes to partitions, and find the t that each must keep."""
    gone = int(deciding.gone.sum())
    assigned, of_gone = assign_classes(chosen.table.counts, chosen.kept, parts, gone=gone)
    owners = _owners(chosen, assigned, of_gone)
    values = [_count_values(codes, owners, limit, parts) for limit, codes in _pairs(deciding)]
    closeness, apart = _closeness(deciding.limits, values)
    pairs = zip(deciding.judged, deciding.judged_values, strict=True)
    judged, others = _closeness(
        deciding.judged, [_count_values(codes, owners, limit, parts) for limit, codes in pairs]
    )
    apart = tuple(dict.fromkeys((*apart, *others)))
    limits = [
        replace(limit, t=closeness.get(limit.column, limit.t)) if limit.t is not None else limit
        for limit in deciding.limits
    ]
    classes = _Assigned(chosen.table, chosen.kept, assigned, of_gone, limits, values)
    _refuse_without_classes(classes)
    _refuse_without_values(deciding, owners, parts)
    levels = dict(zip(policy.generalized, chosen.levels, strict=True)) if chosen.levels else {}
    return Plan(levels, owners, closeness, apart, chosen.numbers, judged), classes


def _owners(chosen: ChosenClasses, parts: NDArray[np.int64], of_gone: NDArray[np.int64]) -> NDArray[np.int16]:
    """Return the partition of each record, (n,): that of its class, or any for those in none."""
    codes, narrow = chosen.codes, parts.astype(np.int16)
    find = _finder(chosen) if chosen.numbers is None else None
    owners = np.empty(len(codes.columns[0]), np.int16)
    for part in slices_of(len(owners)):
        own = [column[part] for column in codes.columns]
        owners[part] = narrow[own[0] if find is None else find(np.stack(own, axis=1))]
    if codes.without is not None:
        owners[codes.without] = shuffle(np.repeat(np.arange(len(of_gone)), of_gone))
    return owners


def _finder(chosen: ChosenClasses) -> Callable[[NDArray[np.integer]], NDArray[np.int64]]:
    """Return what finds the class of leaf codes."""
    levels, tuples = chosen.codes, chosen.table.tuples
    rows = [lookup[own] for lookup, own in zip(levels.lookups, tuples.T, strict=True)]
    lookups = [lookup.astype(np.int64) for lookup in levels.lookups]
    return key_classes(lookups, np.stack(rows, axis=1).astype(np.int64), np.arange(len(tuples))).find


def _closer(asked: Task, limits: Sequence[SensitiveLimit], closeness: Mapping[str, float]) -> Task | None:
    """Ask for classes that are nearer to the whole table; None: no t is smaller, or there is no such t.

    A partition whose own t is smaller than the policy's by d is at most d from the whole table. So a class
    within t − 2d of the table is within t − d of its partition.

    Args:
        limits: with the policy's t; ``closeness``: the t of partitions.
    """
    nearer = list(asked.constraints.sensitive)
    for place, (limit, before) in enumerate(zip(limits, nearer, strict=True)):
        if limit.t is not None and before.t is not None and limit.column in closeness:
            nearer[place] = replace(before, t=min(before.t, 2 * closeness[limit.column] - limit.t))
    if not closeness or any(limit.t is not None and limit.t <= 0 for limit in nearer):
        return None
    return replace(asked, constraints=replace(asked.constraints, sensitive=tuple(nearer)))


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
            f"{without:,} would have none. {_fewer(many - without)}."
        )


def _fewer(most: int) -> str:
    """Say what to do where so many partitions, but no more, could be made; a division has two at least."""
    return _FEWER if most >= _LEAST else _UNDIVIDED


def _refuse_without_values(deciding: Deciding, owners: NDArray[np.int16], parts: int) -> None:
    """Refuse a partition in which nobody has a value in a generalize column: it has no hierarchy there."""
    for hierarchy, codes in zip(deciding.hierarchies, deciding.codes, strict=True):
        valued = np.array([value is not None for value in hierarchy.values[0]])
        some = (owners[part][valued[codes[part]]] for part in slices_of(len(codes)))
        without = int((count_codes(some, parts) == 0).sum())
        if without:
            raise InputError(
                f"{hierarchy.column}: {without} partitions would have no value in any record. "
                f"{_fewer(parts - 1)}."
            )


def _own(classes: _Assigned, part: int) -> tuple[DistinctTuples, tuple[SensitiveLimit, ...]]:
    """Return the classes of one partition, and what they must keep there."""
    pairs = zip(classes.limits, classes.values, strict=True)
    limits = tuple(replace(limit, whole=counts[part]) for limit, counts in pairs)
    return some_tuples(classes.table, classes.parts == part), limits


def _breaks(task: Task, classes: _Assigned) -> bool:
    """Tell whether a class breaks a limit within its partition."""
    for part in range(len(classes.gone)):
        table, limits = _own(classes, part)
        contents = contents_of_tuples(table, np.arange(len(table.counts)))
        if broken_classes(replace(task.constraints, sensitive=limits), contents).any():
            return True
    return False


def _refuse_infeasible(
    policy: Policy, classes: _Assigned, chosen: tuple[tuple[Hierarchy, ...], tuple[int, ...]]
) -> None:
    """Refuse partitions that cannot be released with the classes of the whole table.

    Args:
        chosen: the hierarchies, and the level of each; no levels where classes are made by cuts.
    """
    over = 0
    for part in range(len(classes.gone)):
        (table, limits), gone = _own(classes, part), int(classes.gone[part])
        task = question(policy, chosen[0], limits, subjects=table.records + gone, gone=gone)
        over += not _is_feasible(replace(task, recoder="fixed", levels=chosen[1]), table)
    if over:
        raise InputError(
            f"{over} of {len(classes.gone)} partitions would be beyond anonymize.suppression_limit, since "
            "whole classes are suppressed, also those too far from their partition (its t is smaller). "
            f"{_fewer(len(classes.gone) - 1)}, or set a suppression limit or t that the whole table keeps "
            "with room to spare."
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
