"""From a batch to what the gate judges: the release and its originals, as a case of `limits`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.base.values import to_finite_numbers
from anon_pipeline.encode.categories import noisy_units
from anon_pipeline.encode.codes import CLASS, PERSON, RECORD, accept
from anon_pipeline.evidence.evidence import evidence_from, value_classes
from anon_pipeline.evidence.population_risk import classes_risk
from anon_pipeline.evidence.value_order import with_numbered_classes
from anon_pipeline.gate.great_expectations.batch import MEMBER, ORIGINAL, PEOPLE, POPULATION, PUBLISHED
from anon_pipeline.gate.great_expectations.batch_columns import (
    batch_columns,
    class_labels,
    released_rows,
    whole_numbers,
)
from anon_pipeline.limits.case import Case, StickyNoise
from anon_pipeline.policy.frozen_mapping import FrozenMapping
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.population import PopulationRisk


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a batch has what the gate measures; equal layouts of one batch share one case.

    policy: document of the policy that the release is measured by.
    columns: from a name in this policy to the column of a table; empty for a `gate_batch`, which has the
        policy's names, and private columns.
    released: boolean column that marks the released records; None if all are.
    hierarchies: folder of the hierarchy tables.
    """

    policy: dict[str, Any] = field(repr=False)
    columns: dict[str, str] = field(default_factory=dict)
    released: str | None = None
    hierarchies: str = "."


class _InColumns:
    """Stands for a memory and a population, of which a batch has only what limits need, in its columns."""

    def __getattr__(self, name: str) -> Any:
        raise InputError(
            "this limit cannot be measured on a batch, which has no memory and no population table: use "
            "histories, sticky_noise and population_risk of its case"
        )


@dataclass(frozen=True, eq=False)
class BatchCase(Case):
    """A batch as a case; what the gate reads from memory and population is in columns of the batch.

    batch: (r, columns) its released records.
    """

    batch: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)

    @cached_property
    def histories(self) -> NDArray[np.int64]:
        """The class of each released record in each release, (r, releases), this one last; −1 for none."""
        releases = sum(str(name).startswith(MEMBER) for name in self.batch.columns)
        *before, last = (f"{MEMBER}{i}" for i in range(max(releases, 1)))
        earlier = [whole_numbers(self.batch, name) for name in before]
        everybody = np.ones(len(self.batch), np.bool_)
        return np.stack([*earlier, class_labels(self.batch, last, everybody)], axis=1)

    @cached_property
    def sticky_noise(self) -> StickyNoise:
        """The released values, and those of them that were published before and must stay."""
        names = list(self.policy.noisy)
        stays = batch_columns(self.batch, [f"{PUBLISHED}{name}" for name in names])
        for name in self.policy.perturbed:
            stays[f"{PUBLISHED}{name}"] = to_finite_numbers(stays[f"{PUBLISHED}{name}"])
        released, known = self.evidence.released, stays.notna().to_numpy(np.bool_)
        published = stays.set_axis(names, axis=1).where(known, unpack_table(released[names]))
        return StickyNoise(noisy_units(released, self.policy), noisy_units(published, self.policy), known)

    @cached_property
    def population_risk(self) -> PopulationRisk:
        """What an attacker who knows the population learns, whose people are counted for each class."""
        classes, counts = self.evidence.classes, whole_numbers(self.batch, POPULATION)
        people = np.zeros(len(classes.sizes), np.int64)
        people[classes.labels] = counts
        differ = int((people[classes.labels] != counts).sum())
        if differ or int(people.min()) < 0:
            raise InputError(
                f"{POPULATION}: must be the same number, 0 or more, in all records of a class, got {differ} "
                f"that differ and {int((counts < 0).sum())} below 0"
            )
        return classes_risk(self.evidence.class_sizes, people)


def case_from(frame: pd.DataFrame, layout: Layout) -> BatchCase:
    """Take a batch apart into a release and its originals, and bring these together as the gate does.

    Raises:
        InputError: columns that are not there, values that are missing or do not fit where a released record
            or a record of a class needs one, class ids that are not those of the values; with counts.
    """
    policy = policy_from(layout.policy)
    if not layout.columns:
        policy = _in_order(policy, frame)
    known, rows = _in_batch(policy), released_rows(frame, layout.released)
    table = _accept(frame, known, layout.columns)
    if layout.columns:
        labels = value_classes(table, list(policy.generalized)).labels
    else:
        labels = class_labels(frame, CLASS, rows)
    noisy = known.model_copy(update={"columns": known.noisy})
    before = _accept(frame, noisy, {name: f"{ORIGINAL}{name}" for name in known.noisy})
    _refuse_gaps(table.loc[rows, [*known.noisy, *known.sensitive]])
    _refuse_gaps(before[labels >= 0].add_prefix(ORIGINAL))
    table[RECORD] = np.arange(len(frame))
    originals = table.assign(**before, **{CLASS: labels})
    if policy.person is not None:
        originals[PERSON] = whole_numbers(frame, PEOPLE)
    folder, none = Path(layout.hierarchies), cast(Any, _InColumns())
    found = evidence_from(table[rows], known, originals=originals, hierarchies=folder)
    evidence = with_numbered_classes(found, known)
    batch = frame[rows].reset_index(drop=True)
    return BatchCase(policy, evidence.released, evidence, memory=none, population=none, batch=batch)


def _in_order(policy: Policy, frame: pd.DataFrame) -> Policy:
    """Return a policy with its columns in the order of its batch: a stored suite has sorted its keys."""
    places = {name: place for place, name in enumerate(map(str, frame.columns))}
    names = sorted(policy.columns, key=lambda name: places.get(name, -1))
    ordered = FrozenMapping({name: policy.columns[name] for name in names})
    return policy.model_copy(update={"columns": ordered})


def _in_batch(policy: Policy) -> Policy:
    """Return the policy on the columns that a batch has; suppressed records may lack any value."""
    may_lack = {**policy.noisy, **policy.sensitive}
    columns = {
        name: column.model_copy(update={"missing": "suppress"}) if name in may_lack else column
        for name, column in policy.columns.items()
        if name in {*policy.generalized, *may_lack, *policy.unchanged}
    }
    return policy.model_copy(update={"columns": FrozenMapping(columns)})


def _accept(frame: pd.DataFrame, policy: Policy, columns: dict[str, str]) -> pd.DataFrame:
    """Return the columns of a policy, checked and cast as an input is; ``columns``: see `Layout`."""
    names = list(policy.columns)
    if not names:
        return pd.DataFrame(index=range(len(frame)))
    chosen = batch_columns(frame, [columns.get(name, name) for name in names])
    return unpack_table(accept(chosen.set_axis(names, axis=1), policy))


def _refuse_gaps(table: pd.DataFrame) -> None:
    missing = table.isna().sum()
    if problems := [
        f"{name}: must have a value where it is measured, got {n} missing" for name, n in missing.items() if n
    ]:
        raise InputError(problems)
