"""A release of any kind as a table of plain values, as a reader would use it; made in memory, not kept.

Generalized cells stand for one of the values that they cover, drawn at random. Tables that buckets connect
are joined at random within each bucket. The copies of a synthetic release are one table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from time import monotonic

import numpy as np
import pandas as pd

from anon_pipeline.base.errors import GateRefused, private_stage
from anon_pipeline.base.packed_tables import Table, unpack_table
from anon_pipeline.declared.domain_codes import domain_codes, refuse_unread
from anon_pipeline.declared.parts import Release, parts_of
from anon_pipeline.kinds.alike_measures import as_numbers
from anon_pipeline.limits.verdicts import Status
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.perturb.keys import fresh_key
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.input_check import accepted_input
from anon_pipeline.tuning.trial_loss import judge_trial
from anon_pipeline.utility.filled_table import Cells, Tables, fillable_tables
from anon_pipeline.utility.trial import make_trial, trial_means

AnyPolicy = Policy | DeclaredRelease

HIDDEN = "\u2013"
"""What stands for several texts, so that it equals none."""
_SEED = 20_161_127  # of what generalized cells stand for


@dataclass(frozen=True, slots=True, eq=False)
class PlainRelease:
    """A release as a reader would use it.

    table: (r, columns) plain values: of a generalized cell one that it covers.
    centers: (r, columns) the same for attackers: of a generalized cell the middle of what it covers.
    data: (n, columns) what it was made of, cleaned as the policy says.
    refused: limits that it does not keep; None: the gate was not asked.
    seconds: that it took to make, without the gate.
    answering: tables of (r, columns) that queries are asked of, at least one; to be read once. Several draws
        of generalized cells, each copy of a synthetic release by itself.
    """

    table: pd.DataFrame = field(repr=False)
    centers: pd.DataFrame = field(repr=False)
    data: pd.DataFrame = field(repr=False)
    refused: tuple[str, ...] | None
    seconds: float
    answering: Iterable[pd.DataFrame] = field(repr=False)


def released_columns(policy: AnyPolicy) -> list[str]:
    """Return the columns of a policy's release."""
    return list(policy.columns) if isinstance(policy, DeclaredRelease) else list(policy.released)


def sensitive_columns(policy: AnyPolicy) -> list[str]:
    """Return the columns that a policy says an attacker wants to learn."""
    if isinstance(policy, Policy):
        return list(policy.sensitive)
    named = getattr(policy, "sensitive", ())
    return [named] if isinstance(named, str) else list(named)


def plain_release(policy: AnyPolicy, frame: Table, locations: Locations, *, judged: bool) -> PlainRelease:
    """Make a release of a table by a policy of any kind; nothing is published or spent.

    Args:
        frame: (n, columns) personal data, as the source has it.
        judged: whether the gate is asked.
    Raises:
        InputError, InfeasibleError, GateRefused: there is no such release.
    """
    if isinstance(policy, DeclaredRelease):
        return _release_declared(policy, frame, judged=judged)
    return _release_classes(policy, frame, locations, judged=judged)


def _release_classes(policy: Policy, frame: Table, locations: Locations, *, judged: bool) -> PlainRelease:
    start = monotonic()
    made = make_trial(policy, frame, trial_means(policy, locations))
    seconds = monotonic() - start
    refused = None
    if judged:
        refused = tuple(verdict.limit for verdict in judge_trial(made, locations).unkept)
    with private_stage("utility"):
        tables = fillable_tables(made.evidence(), policy, unpack_table(made.before))
        accepted = unpack_table(accepted_input(policy, frame, hierarchies=locations.hierarchies))
        filled = tables.fill(np.random.default_rng(_SEED))
        centers = _centers(tables, filled)
        return PlainRelease(filled, centers, accepted, refused, seconds, tables.fill_often())


def _centers(tables: Tables, filled: pd.DataFrame) -> pd.DataFrame:
    """Return a release with the middle of what each generalized cell covers.

    Values that occur in the data would give away which data it was: who has the release does not know them.
    """
    return filled.assign(**{name: _middles(cells, filled[name]) for name, cells in tables.cells.items()})


def _middles(cells: Cells, filled: pd.Series) -> pd.Series:
    """Return the middle of what each cell covers, of numbers and days; several texts are hidden."""
    low, high = cells.leaves.T
    several, values = high > low, cells.values.reset_index(drop=True)
    numbers = as_numbers(values)
    if numbers is None and not pd.api.types.is_datetime64_any_dtype(values):
        return filled.astype(object).where(~several, HIDDEN)
    values, shown = (values, filled) if numbers is None else (numbers, as_numbers(filled))
    first, last = (values.iloc[place].reset_index(drop=True) for place in (low, high))
    middle = first + (last - first) / 2
    return (filled if shown is None else shown).where(~several | ~np.isnan(cells.means), middle)


def _release_declared(policy: DeclaredRelease, frame: Table, *, judged: bool) -> PlainRelease:
    parts, start = parts_of(policy.kind), monotonic()
    with private_stage("source"):
        codes = domain_codes(policy.model_copy(update={"records": None}), frame)
        refuse_unread(policy, frame)
    try:
        parts.refuses(policy, len(codes))
    except GateRefused:
        if judged:  # of the half that is attacked, nothing is published
            raise
    with private_stage("draw"):
        tables = parts.makes(policy, codes, fresh_key(system_entropy()))
    seconds, refused = monotonic() - start, None
    if judged:
        with private_stage("gate"):
            verdicts = parts.judges(policy, Release(tables, len(codes), codes))
            refused = tuple(one.limit for one in verdicts if one.status is Status.REFUSED)
    answering = _whole_tables(policy, tables)
    table = pd.concat(answering, ignore_index=True)
    return PlainRelease(table, table, unpack_table(frame), refused, seconds, answering)


def _whole_tables(policy: DeclaredRelease, tables: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """Return the tables of a release, each with all columns: those with some are put side by side."""
    names = list(policy.columns)
    if all({*names} <= {*table.columns} for table in tables):
        return [table[names].reset_index(drop=True) for table in tables]
    return [pd.concat([table.reset_index(drop=True) for table in tables], axis=1)[names]]
