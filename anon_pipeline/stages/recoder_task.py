"""What the policy asks of a recoder: its constraints with their sensitive values; its result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.base.observer import Observer, ignore
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.catalog.class_limits import L_DIVERSITY, T_CLOSENESS
from anon_pipeline.encode.codes import PERSON, Coded, code_sensitive_of, label_codes
from anon_pipeline.evidence.evidence import people_in
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.policy.model import Policy
from anon_pipeline.recode import Constraints, Diversity, Recoding, SensitiveLimit, Task, by_record
from anon_pipeline.risk.people import count_people
from anon_pipeline.stages.class_column import classes_of
from anon_pipeline.stages.facts.origin import hierarchy_digests
from anon_pipeline.stages.facts.records import KAnonymizedFacts


class Limited(NamedTuple):
    """A limited column: what classes must keep of it, and the value of each record to be recoded, (r,)."""

    limit: SensitiveLimit
    codes: NDArray[np.int64]


def _sensitive_limits(
    policy: Policy, frame: Table, *, rows: NDArray[np.bool_], hierarchies: Path = Path()
) -> list[Limited]:
    """Return what each limited sensitive column must keep in every class.

    Args:
        frame: (n, columns) accepted data; all of it is the whole that a class is compared with.
        rows: (n,) records to be recoded; they have a value in every sensitive column.
    """
    t_limits, l_limits = (policy.recoding_limits[kind.name] for kind in (T_CLOSENESS, L_DIVERSITY))
    found = []
    for name in policy.sensitive:
        if name not in t_limits and name not in l_limits:
            continue
        column, wanted = policy.sensitive[name], l_limits.get(name)
        codes, hierarchy = code_sensitive_of(frame, name, column, folder=hierarchies)
        leaves = int(codes.max(initial=-1)) + 1 if hierarchy is None else hierarchy.leaves
        limit = SensitiveLimit(
            column=name,
            whole=np.bincount(codes[codes >= 0], minlength=leaves).astype(np.int64),
            distance=column.distance,
            lookups=None if hierarchy is None else hierarchy.lookups,
            t=t_limits.get(name),
            diversity=None if wanted is None else Diversity(wanted.kind, wanted.l, wanted.c),
        )
        found.append(Limited(limit, codes[rows]))
    return found


def count_subjects(policy: Policy, frame: Table) -> int:
    """Count what suppression limits are shares of: the people of a table, or its records."""
    return len(frame) if policy.person is None else int(frame[PERSON].nunique())


def _people_limits(policy: Policy, frame: Table, *, rows: NDArray[np.bool_]) -> list[Limited]:
    """Return that every class must have k people: distinct diversity of the person, where there is one."""
    people = people_in(frame, policy)
    if people is None:
        return []
    whole, k = np.bincount(people).astype(np.int64), policy.anonymize.k
    limit = SensitiveLimit("", whole, diversity=Diversity("distinct", k), people=True)
    return [Limited(limit, people[rows])]


def recoding_task(
    policy: Policy,
    frame: Table,
    coded: Coded,
    *,
    gone: NDArray[np.bool_],
    hierarchies: Path = Path(),
    observe: Observer = ignore,
) -> Task:
    """Say what the recoder is asked.

    Args:
        policy: its section ``anonymize``.
        frame: (n, columns) accepted data.
        gone: (n,) records that lack a value and are suppressed before.
        observe: called now and then with how far a search is.
    """
    wanted, rows = policy.anonymize, ~gone
    limited = limited_columns(policy, frame, rows=rows, hierarchies=hierarchies)
    task = question(
        policy,
        coded.hierarchies,
        [limit for limit, _ in limited],
        subjects=count_subjects(policy, frame),
        gone=int(gone.sum()),
        observe=observe,
    )
    records = by_record(
        coded.codes if rows.all() else coded.codes[rows],
        coded.hierarchies,
        sensitive=[codes for _, codes in limited],
        target=None if wanted.target is None else label_codes(frame[wanted.target])[rows],
        given=classes_of(frame, rows),
    )
    return replace(task, by_record=records)


def limited_columns(
    policy: Policy, frame: Table, *, rows: NDArray[np.bool_], hierarchies: Path = Path()
) -> list[Limited]:
    """Return what classes must keep of columns beside k, see `recoding_task`.

    Args:
        frame: (n, columns) accepted data.
        rows: (n,) records to be recoded.
    """
    return [
        *_sensitive_limits(policy, frame, rows=rows, hierarchies=hierarchies),
        *_people_limits(policy, frame, rows=rows),
    ]


def question(
    policy: Policy,
    hierarchies: tuple[Hierarchy, ...],
    limits: Sequence[SensitiveLimit],
    *,
    subjects: int,
    gone: int,
    observe: Observer = ignore,
) -> Task:
    """Say what the recoder is asked, without the records that it is asked of.

    Args:
        hierarchies: of the generalize columns.
        limits: on columns with limits.
        subjects: what the suppression limit is a share of, see `count_subjects`.
        gone: records that lack a value and are suppressed before.
    """
    wanted = policy.anonymize
    return Task(
        hierarchies=hierarchies,
        constraints=Constraints(
            k=wanted.k,
            max_suppressed=policy.suppressible(subjects) - gone,
            sensitive=tuple(limits),
        ),
        recoder=wanted.recoder,
        loss=wanted.loss,
        prefer=wanted.prefer,
        weights=tuple(wanted.weights.get(name, 1.0) for name in policy.generalized) if wanted.weights else (),
        gone=gone,
        most_nodes=wanted.most_nodes,
        cells=wanted.suppress == "cells",
        told=observe,
        gamma=0.2 if wanted.gamma is None else wanted.gamma,
        levels=tuple(wanted.levels[name] for name in policy.generalized) if wanted.levels else (),
    )


def refuse_too_incomplete(policy: Policy, frame: Table, gone: NDArray[np.bool_]) -> None:
    """Refuse a table of which more records lack a value than may be suppressed.

    Args:
        frame: (n, columns) accepted data.
        gone: (n,) records that lack a value and are suppressed before the search.
    Raises:
        InfeasibleError: with both numbers.
    """
    subjects, many = count_subjects(policy, frame), int(gone.sum())
    allowed, of = policy.suppressible(subjects), "records" if policy.person is None else "people"
    if many > allowed or gone.all():
        least = math.ceil(100 * many / max(subjects, 1)) / 100
        raise InfeasibleError(
            f"More records lack a value (missing: suppress) and must be suppressed than the {allowed:,} that "
            f"anonymize.suppression_limit allows, as a share of {subjects:,} {of}. Raise it, or complete the "
            "data.",
            exact=f"{many:,} of {len(gone):,} records lack a value"
            + (f": the limit must be at least {least:g}." if least <= 1 else "."),
            k=policy.anonymize.k,
            reached_k=0,
            suppressed=float(gone.mean()),
        )


def recoding_facts(
    policy: Policy,
    recoding: Recoding,
    classes: EquivalenceClasses,
    *,
    gone: NDArray[np.bool_],
    people: NDArray[np.int64] | None = None,
    hierarchies: Path = Path(),
) -> KAnonymizedFacts:
    """Return what is recorded of a recoding.

    Args:
        gone: (n,) records suppressed before the search.
        people: (n,) whose record it is; None: records are counted.
    """
    wanted, levels = policy.anonymize, recoding.levels
    return KAnonymizedFacts(
        recoder=wanted.recoder,
        k=wanted.k,
        smallest_class=classes.k if people is None else int(_class_people(classes, people).min()),
        classes=len(classes.sizes),
        levels=None if levels is None else dict(zip(policy.generalized, levels, strict=True)),
        hierarchies=hierarchy_digests(policy, hierarchies),
        loss=wanted.loss,
        information_loss=recoding.loss,
        suppressed_incomplete=int(gone.sum()),
        suppressed_by_recoding=recoding.suppressed,
        suppressed_cells=recoding.cells,
        suppression_limit=wanted.suppression_limit,
        nodes_checked=recoding.checked,
        equal_distance=policy.equal_distance,
        sse=recoding.sse,
    )


def _class_people(classes: EquivalenceClasses, people: NDArray[np.int64]) -> NDArray[np.int64]:
    inside = classes.labels >= 0
    return count_people(classes.labels[inside], people[inside], m=len(classes.sizes))
