"""From a batch to what the gate judges: the release and its originals, as a case of `limits`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.mechanisms import DEFAULT_MECHANISM
from anon_pipeline.encode.codes import CLASS, PERSON, RECORD
from anon_pipeline.evidence.evidence import Evidence, evidence_from, value_classes
from anon_pipeline.evidence.known import KnownAttack, known_attack
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.evidence.population_risk import classes_risk
from anon_pipeline.gate.great_expectations.batch import ORIGINAL, PEOPLE, batch_names
from anon_pipeline.gate.great_expectations.batch_columns import (
    batch_columns,
    class_labels,
    numbers,
    on_grid,
    released_rows,
    sensitive_values,
    whole_numbers,
)
from anon_pipeline.limits.case import Case, StickyNoise
from anon_pipeline.limits.limit import Demand
from anon_pipeline.limits.verdicts import Verdict
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.policy.frozen import FrozenMapping
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.population import PopulationRisk


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a batch has what the gate measures; equal layouts of one batch share one case.

    policy: document of the policy that the release is measured by.
    columns: from a name in this policy to the column of the batch, where the two differ.
    originals: from a perturb column of this policy to the column with its original values.
    classes: column with the class of each original record; None: by the values of the quasi-identifiers.
    released: boolean column that marks the released records; None if all are.
    hierarchies: folder of the hierarchy tables.
    """

    policy: dict[str, Any] = field(repr=False)
    columns: dict[str, str] = field(default_factory=dict)
    originals: dict[str, str] = field(default_factory=dict)
    classes: str | None = None
    released: str | None = None
    hierarchies: str = "."


class _InColumns:
    """Stands for a memory and a population, of which a batch has only what limits need, in its columns."""

    def __getattr__(self, name: str) -> Any:
        raise InputError(
            "a batch must be judged by histories, sticky_noise and population_risk of its case: it has "
            "no memory and no population itself"
        )


@dataclass(frozen=True, eq=False)
class BatchCase(Case):
    """A batch as a case; what the gate reads from memory and population is in columns of the batch.

    frame: (n, columns) the batch, a row per original record.
    rows: (n,) the released ones.
    columns: see `Layout`.
    arguments: of the expectation that judges: which columns it reads.
    attacks: by what is known of the batch, drawn once for all expectations of a suite.
    """

    frame: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)
    rows: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_), repr=False)
    columns: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    attacks: dict[Evidence, KnownAttack] = field(default_factory=dict, repr=False)

    @cached_property
    def known_attack(self) -> KnownAttack:
        """What an attacker who knows some columns is measured by, see `Case`."""
        if self.evidence not in self.attacks:
            self.attacks[self.evidence] = known_attack(self.evidence, self.policy)
        return self.attacks[self.evidence]

    def judged(self, demand: Demand, arguments: Mapping[str, Any]) -> Verdict:
        """Judge the batch by a demand, as the gate judges.

        Raises:
            InputError: columns that are not there or do not fit.
        """
        case = replace(self, arguments=arguments)
        if demand.of in self.policy.sensitive:
            case = case._with_sensitive(demand.of)
        return demand.verdict(case)

    def _named(self, argument: str) -> Any:
        """Return an argument; by default where `gate_batch` puts its columns."""
        given = self.arguments.get(argument)
        return batch_names(self.policy).get(argument) if given is None else given

    def _with_sensitive(self, name: str) -> BatchCase:
        """Return the same case with a sensitive column checked, and cast where it has texts for numbers."""
        evidence, behind = self.evidence, require_originals(self.evidence)
        series, folder = behind.frame[name].rename(self.columns.get(name, name)), evidence.hierarchies
        values = sensitive_values(series, self.policy.sensitive[name], self.rows, folder=folder)
        if values is series:
            return self
        values = values.rename(name)
        released = evidence.released.assign(**{name: values[self.rows].to_numpy()})
        originals = replace(behind, frame=behind.frame.assign(**{name: values}))
        return replace(self, evidence=replace(evidence, released=released, originals=originals))

    @property
    def noises(self) -> tuple[Noise, ...]:
        """What the arguments say, else the policy."""
        if (said := self._named("noises")) is not None:
            return tuple(noise_from(each) for each in said)
        if (said := self._named("epsilons")) is not None:
            return tuple(Noise(DEFAULT_MECHANISM, exact_fraction(epsilon)) for epsilon in said)
        return super().noises

    @cached_property
    def histories(self) -> NDArray[np.int64]:
        """The class of each released record in each release, (r, releases), this one last; −1 for none."""
        *before, last = self._named("class_columns")
        anybody = np.zeros(len(self.frame), np.bool_)
        labels = [class_labels(self.frame, name, anybody) for name in before]
        return np.stack([*labels, class_labels(self.frame, last, self.rows)], axis=1)[self.rows]

    @cached_property
    def sticky_noise(self) -> StickyNoise:
        """The released values, and those of them that were published before and must stay."""
        names, steps = self._named("released_columns"), self._named("resolutions")
        before = batch_columns(self.frame, self._named("published_columns"))
        released, noisy = [], []
        for name, was, step in zip(names, map(str, before), steps, strict=True):
            released.append(on_grid(numbers(self.frame, name, self.rows)[self.rows], step))
            stays = numbers(self.frame, was, self.rows & before[was].notna().to_numpy(np.bool_))
            noisy.append(on_grid(np.nan_to_num(stays)[self.rows], step))
        known = before[self.rows].notna().to_numpy(np.bool_)
        return StickyNoise(np.stack(released, axis=1), np.stack(noisy, axis=1), known)

    @cached_property
    def population_risk(self) -> PopulationRisk:
        """What is learned by who knows the population, whose persons are counted for each class."""
        name, classes = self._named("population_column"), self.evidence.classes
        counts = whole_numbers(self.frame, name)[self.rows]
        persons = np.zeros(len(classes.sizes), np.int64)
        persons[classes.labels] = counts
        differ = int((persons[classes.labels] != counts).sum())
        if differ or int(persons.min()) < 0:
            raise InputError(
                f"{name}: must be the same number, 0 or more, in all records of a class, got {differ} that "
                f"differ and {int((counts < 0).sum())} below 0"
            )
        return classes_risk(self.evidence.class_sizes, persons)


def noise_from(said: Mapping[str, Any]) -> Noise:
    """Read what a column's noise is drawn under; ε and δ are exact fractions.

    Raises:
        InputError: keys that are missing or unknown, or values that make no noise.
    """
    try:
        found = _noise(**said)
    except (TypeError, ValueError, ArithmeticError):
        found = None
    if found is None or found.epsilon <= 0:
        raise InputError(
            "noises must have a mechanism, epsilon (above 0) and delta as texts of exact fractions or null, "
            "and inputs as two whole numbers that increase or null, got others"
        )
    return found


def _noise(*, mechanism: str, epsilon: str, delta: str | None, inputs: list[int] | None) -> Noise:
    low, high = (None, None) if inputs is None else map(int, inputs)
    bounds = None if low is None or high is None else (low, high)
    return Noise(mechanism, Fraction(epsilon), None if delta is None else Fraction(delta), bounds)


def case_from(frame: pd.DataFrame, layout: Layout) -> BatchCase:
    """Take a batch apart into a release and its originals, and bring these together as the gate does.

    Raises:
        InputError: columns that are not there, values that are missing or no numbers where a released record
            or a record of a class needs one, class ids that are not those of the values; with counts.
    """
    policy = policy_from(layout.policy)
    if not layout.columns:
        policy = _in_order(policy, frame)
    known = policy.model_copy(update={"columns": _in_batch(policy)})
    rows = released_rows(frame, layout.released)
    theirs = {name: layout.columns.get(name, name) for name in known.released}
    wanted = [*theirs.values(), *layout.originals.values(), *filter(None, [layout.classes])]
    chosen = batch_columns(frame, list(dict.fromkeys(wanted)))
    table = pd.DataFrame({name: chosen[column] for name, column in theirs.items()})
    if layout.classes is None:
        labels = value_classes(table, list(policy.generalized)).labels
    else:
        labels = class_labels(frame, layout.classes, rows)
    released = {name: numbers(frame, theirs[name], rows) for name in policy.perturbed}
    before = {name: numbers(frame, layout.originals[name], labels >= 0) for name in policy.perturbed}
    table = table.assign(**released, **{RECORD: np.arange(len(frame))})
    drawn = {name: f"{ORIGINAL}{name}" for name in policy.categorical}
    theirs_before = {name: frame[column] for name, column in drawn.items() if column in frame}
    originals = table.drop(columns=list(policy.categorical)).assign(
        **before, **theirs_before, **{CLASS: labels}
    )
    if policy.person is not None:
        originals[PERSON] = whole_numbers(frame, PEOPLE)
    folder = Path(layout.hierarchies)
    evidence = evidence_from(table[rows], known, originals=originals, hierarchies=folder)
    none = cast(Any, _InColumns())
    return BatchCase(
        policy,
        evidence.released,
        evidence,
        memory=none,
        population=none,
        frame=frame,
        rows=rows,
        columns=layout.columns,
    )


def _in_order(policy: Policy, frame: pd.DataFrame) -> Policy:
    """Return a policy with its columns in the order of its batch: a stored suite has sorted its keys."""
    places = {name: place for place, name in enumerate(map(str, frame.columns))}
    names = sorted(policy.columns, key=lambda name: places.get(name, -1))
    ordered = FrozenMapping({name: policy.columns[name] for name in names})
    return policy.model_copy(update={"columns": ordered})


def _in_batch(policy: Policy) -> FrozenMapping:
    """Return the columns of a policy that a batch has."""
    there = {*policy.generalized, *policy.noisy, *policy.unchanged}
    return FrozenMapping({name: column for name, column in policy.columns.items() if name in there})
