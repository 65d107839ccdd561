"""Recoders: choose how the quasi-identifiers are generalized so that every class keeps its constraints.

Belongs here: the doors to all recoders: `recode` for records in memory, `choose` for counts alone. Does not
belong here: any algorithm. The families are imported by the first call, because numba takes most of a second.
Decisions: docs/adr/0016-the-lattice-search.md, 0017-mondrian-keeps-t-and-l.md, 0018-microaggregation.md,
0076-the-search-counts-tuples.md, 0100-given-classes.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.base.errors import InfeasibleError, PluginError
from anon_pipeline.catalog.entries import Family, Recoder
from anon_pipeline.catalog.entry_code import import_entry, is_plugin
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.recoders import PREFERENCES, RECODERS, needs_records, recoder_of
from anon_pipeline.recode.by_record import ByRecord, by_record, count_records
from anon_pipeline.recode.task import Constraints, Diversity, Progress, Recoding, SensitiveLimit, Task

if TYPE_CHECKING:  # they hold kernels
    from anon_pipeline.recode.choice import Choice
    from anon_pipeline.recode.fulldomain.counter import Counter
    from anon_pipeline.recode.joint import Joint
    from anon_pipeline.recode.mondrian.counter import EntryCounter
    from anon_pipeline.recode.tuples import DistinctTuples

__all__ = [
    "ByRecord",
    "Constraints",
    "Diversity",
    "Progress",
    "Recoding",
    "SensitiveLimit",
    "Task",
    "by_record",
    "choose",
    "choose_elsewhere",
    "recode",
]


def _require_fitting(task: Task, *, labeled: bool) -> None:
    """Refuse a task whose parts do not fit each other; a policy is refused before it comes here.

    Args:
        labeled: whether there are class labels.
    """
    if task.recoder not in RECODERS or task.loss not in LOSSES or task.constraints.k < 1:
        raise ValueError(
            f"recode must get a known recoder and loss and k ≥ 1, got {task.recoder}, {task.loss}, "
            f"{task.constraints.k}."
        )
    if LOSSES[task.loss].labels and not labeled:
        raise ValueError(f"target must be given for the loss {task.loss}, got none.")
    recoder = recoder_of(task.recoder)
    if task.prefer not in PREFERENCES or (task.prefer != "loss" and not recoder.prefers):
        raise ValueError(f"prefer must fit the recoder, got {task.prefer} with {task.recoder}.")
    if task.cells and not recoder.family.cells:
        raise ValueError(f"cells must go with a full-domain recoder, got {task.recoder}.")


def _require_feasible(limits: Constraints, records: int, distinct: Sequence[int]) -> None:
    """Raise where no recoding can be found, whatever is searched.

    Args:
        records: of the table.
        distinct: distinct values of each limited column, in the order of the limits.
    Raises:
        InfeasibleError: fewer than k records, more suppressed already than may be, or fewer distinct values
            than l in the whole table.
    """
    if records < limits.k:
        raise InfeasibleError(
            f"k must be at most the number of records ({records:,}), got {limits.k:,}. Lower k.",
            k=limits.k,
            reached_k=records if limits.max_suppressed >= 0 else 0,
            suppressed=1.0,
        )
    if limits.max_suppressed < 0:
        raise InfeasibleError(
            "The records left out before recoding exceed the suppression limit.",
            exact=f"It is exceeded by {-limits.max_suppressed:,}.",
            k=limits.k,
            reached_k=0,
            suppressed=0.0,
        )
    for limit, values in zip(limits.sensitive, distinct, strict=True):
        wanted = limit.diversity
        if limit.people and values < limits.k:
            raise InfeasibleError(
                f"k must be at most the number of people ({values:,}), got {limits.k:,}. Lower k.",
                k=limits.k,
                reached_k=values,
                suppressed=1.0,
            )
        if wanted is not None and values < wanted.l:
            raise InfeasibleError(
                f"l_diversity.{limit.column}: l must be at most the number of distinct values, got "
                f"{wanted.l:g}. Lower l.",
                exact=f"There are {values:,} distinct values.",
                k=limits.k,
                reached_k=records,
                suppressed=1.0,
            )


def recode(task: Task) -> Recoding:
    """Generalize and suppress until every class keeps all constraints.

    Deterministic and independent of the row order: of records that are equal in quasi-identifiers, limited
    sensitive values and target, which one goes where may follow it, how many go where does not.

    Args:
        task: with its records (``by_record``).
    Raises:
        InfeasibleError: no recoding keeps the limits.
        InputError: the lattice is too large to search, or the loss cannot be counted for so many records.
        ValueError: an unknown recoder, loss or preference, one that does not fit the other, k < 1, or no
            records.
    Source:
        [methods 4].
    """
    records = task.by_record
    if records is None:
        raise ValueError("recode must get a task with its records, got none. Use choose for counts.")
    _require_fitting(task, labeled=records.target is not None)
    task.told(Progress("loading"))
    distinct = [len(np.unique(codes)) for codes in records.sensitive]
    _require_feasible(task.constraints, records.records, distinct)
    recoder = recoder_of(task.recoder)
    if needs_records(recoder):
        found: Recoding = import_entry(recoder.family.runs)(task, records)
    else:
        found = _recode_counts(task, records, recoder)
    places = (recoder.algorithm, recoder.family.runs, recoder.family.chooses)
    if any(is_plugin(place) for place in places if place):
        _require_kept(task, records, found)
    return found


def _recode_counts(task: Task, records: ByRecord, recoder: Recoder) -> Recoding:
    """Count records, choose, and recode the records by what was chosen."""
    from anon_pipeline.recode.choice import recoding_of  # noqa: PLC0415
    from anon_pipeline.recode.joint import join_records  # noqa: PLC0415

    count = join_records if recoder.family.together else count_records
    table = count(records, labeled=LOSSES[task.loss].labels)
    choice: Choice = import_entry(recoder.family.chooses)(task, table)
    return recoding_of(choice, records.labels)


def choose(task: Task, table: DistinctTuples | Joint) -> Choice:
    """Choose a recoding from counts alone: as `recode`, but without any record.

    Args:
        task: with a recoder to which counts are enough (`catalog.recoders.needs_records`).
        table: n ≥ 1 records as distinct tuples with the values of the limited columns, and the labels where
            the loss asks for them; a `Joint` where the family looks at several columns together.
    Returns:
        What `choice.apply` recodes any of these records by.
    Raises:
        InfeasibleError: no recoding keeps the limits.
        InputError: the lattice is too large to search, or the loss cannot be counted for so many records.
        ValueError: parts of the task that do not fit each other, or a recoder that needs records.
    """
    _require_fitting(task, labeled=table.labeled)
    _require_feasible(task.constraints, table.records, table.distinct)
    found: Choice = import_entry(_counting_family(task).chooses)(task, table)
    return found


def choose_elsewhere(task: Task, counter: Counter | EntryCounter, *, most: int) -> Choice:
    """Choose a recoding of a table that is not in memory: the same choice as `choose`.

    Args:
        task: as of `choose`; its labels are the counter's, where its loss asks for them.
        counter: answers from wherever the table is; an `EntryCounter` where the family looks at several
            columns together.
        most: tuples, and values of them, that fit into memory.
    Raises:
        InfeasibleError, InputError, ValueError: as `choose`.
    """
    _require_fitting(task, labeled=True)
    distinct = [int(np.count_nonzero(own)) for own in counter.values()]
    _require_feasible(task.constraints, counter.records, distinct)
    place = _counting_family(task).elsewhere
    if not place:
        raise ValueError(f"{task.recoder} must have its tuples in memory. Use choose.")
    found: Choice = import_entry(place)(task, counter, most=most)
    return found


def _counting_family(task: Task) -> Family:
    """Return the family of a recoder to which counts are enough.

    Raises:
        ValueError: it needs records.
    """
    recoder = recoder_of(task.recoder)
    if needs_records(recoder):
        raise ValueError(f"{task.recoder} must have its records in memory. Use recode.")
    return recoder.family


def _require_kept(task: Task, records: ByRecord, found: Recoding) -> None:
    """Refuse a result of a plugin's recoder that breaks what other recoders keep by construction."""
    from anon_pipeline.recode.constraints import broken_classes  # noqa: PLC0415

    wrong = found.codes.shape != (records.records, len(task.hierarchies))
    if not wrong:
        labels = equivalence_classes(found.codes).labels
        suppressed = int((labels < 0).sum())
        wrong = suppressed != found.suppressed or suppressed > task.constraints.max_suppressed
        wrong = wrong or bool(broken_classes(task.constraints, records.contents(labels)).any())
    if wrong:
        raise PluginError(
            f"the recoder {task.recoder} must recode every record and keep k, all limits and the suppression "
            "limit, but its result does not. Correct the plugin."
        )
