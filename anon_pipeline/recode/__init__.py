"""Recoders: choose how the quasi-identifiers are generalized so that every class keeps its constraints.

Belongs here: the one door to all recoders. Does not belong here: any algorithm. The families are imported by
the first call, because numba takes most of a second.
Decisions: docs/adr/0016-the-lattice-search.md, 0017-mondrian-keeps-t-and-l.md, 0018-microaggregation.md.
"""

from __future__ import annotations

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.base.errors import InfeasibleError, PluginError
from anon_pipeline.catalog.entry_code import import_entry, is_plugin
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.recoders import PREFERENCES, RECODERS, recoder_of
from anon_pipeline.recode.task import Constraints, Diversity, Progress, Recoding, SensitiveLimit, Task

__all__ = ["Constraints", "Diversity", "Progress", "Recoding", "SensitiveLimit", "Task", "recode"]


def _require_fitting(task: Task) -> None:
    """Refuse a task whose parts do not fit each other; a policy is refused before it comes here."""
    if task.recoder not in RECODERS or task.loss not in LOSSES or task.constraints.k < 1:
        raise ValueError(
            f"recode must get a known recoder and loss and k ≥ 1, got {task.recoder}, {task.loss}, "
            f"{task.constraints.k}."
        )
    if LOSSES[task.loss].labels and task.target is None:
        raise ValueError(f"target must be given for the loss {task.loss}, got none.")
    recoder = recoder_of(task.recoder)
    if task.prefer not in PREFERENCES or (task.prefer != "loss" and not recoder.prefers):
        raise ValueError(f"prefer must fit the recoder, got {task.prefer} with {task.recoder}.")
    if task.cells and not recoder.family.cells:
        raise ValueError(f"cells must go with a full-domain recoder, got {task.recoder}.")


def _require_feasible(task: Task) -> None:
    """Raise where no recoding can be found, whatever is searched.

    Raises:
        InfeasibleError: fewer than k records, more suppressed already than may be, or fewer distinct values
            than l in the whole table.
    """
    records, limits = len(task.codes), task.constraints
    if records < limits.k:
        raise InfeasibleError(
            f"k must be at most the number of records ({records:,}), got {limits.k:,}. Lower k.",
            k=limits.k,
            reached_k=records if limits.max_suppressed >= 0 else 0,
            suppressed=1.0,
        )
    if limits.max_suppressed < 0:
        raise InfeasibleError(
            "The suppression limit must not be used up before recoding, it is.",
            exact=f"It is exceeded by {-limits.max_suppressed:,}.",
            k=limits.k,
            reached_k=0,
            suppressed=0.0,
        )
    for limit in limits.sensitive:
        wanted, distinct = limit.diversity, len(set(limit.codes.tolist()))
        if limit.people and distinct < limits.k:
            raise InfeasibleError(
                f"k must be at most the number of people ({distinct:,}), got {limits.k:,}. Lower k.",
                k=limits.k,
                reached_k=distinct,
                suppressed=1.0,
            )
        if wanted is not None and distinct < wanted.l:
            raise InfeasibleError(
                f"l_diversity.{limit.column}: l must be at most the number of distinct values, got "
                f"{wanted.l:g}. Lower l.",
                exact=f"There are {distinct:,} distinct values.",
                k=limits.k,
                reached_k=records,
                suppressed=1.0,
            )


def recode(task: Task) -> Recoding:
    """Generalize and suppress until every class keeps all constraints.

    Deterministic and independent of the row order: of records that are equal in quasi-identifiers, limited
    sensitive values and target, which one goes where may follow it, how many go where does not.

    Raises:
        InfeasibleError: no recoding keeps the limits.
        InputError: the lattice is too large to search.
        ValueError: an unknown recoder, loss or preference, one that does not fit the other, k < 1, or codes
            that do not fit the hierarchies.
    Source:
        [methods 4].
    """
    _require_fitting(task)
    task.told(Progress("loading"))
    from anon_pipeline.recode.tuples import distinct_tuples  # noqa: PLC0415

    _require_feasible(task)
    table = distinct_tuples(task.codes, task.hierarchies)
    recoder = recoder_of(task.recoder)
    found: Recoding = import_entry(recoder.family.runs)(task, table)
    if is_plugin(recoder.algorithm) or is_plugin(recoder.family.runs):
        _require_kept(task, found)
    return found


def _require_kept(task: Task, found: Recoding) -> None:
    """Refuse a result of a plugin's recoder that breaks what other recoders keep by construction."""
    from anon_pipeline.recode.constraints import broken_classes  # noqa: PLC0415

    wrong = found.codes.shape != task.codes.shape
    if not wrong:
        labels = equivalence_classes(found.codes).labels
        suppressed = int((labels < 0).sum())
        wrong = suppressed != found.suppressed or suppressed > task.constraints.max_suppressed
        wrong = wrong or bool(broken_classes(task.constraints, labels).any())
    if wrong:
        raise PluginError(
            f"the recoder {task.recoder} must recode every record and keep k, all limits and the suppression "
            "limit, but its result does not. Correct the plugin."
        )
