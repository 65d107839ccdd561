"""Policies of any kind, compared on the table of the first one: what each loses, and what attackers learn.

Decision: docs/adr/0094-all-kinds-compared.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import GateRefused, InfeasibleError, InputError, PolicyError, private_stage
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.base.packed_tables import Table, unpack_table
from anon_pipeline.base.rows import take_rows
from anon_pipeline.kinds.alike_measures import Lost, measure_learned, measure_lost, plain_columns
from anon_pipeline.kinds.kind_queries import measure_queries, refuse_queries
from anon_pipeline.kinds.plain_releases import (
    AnyPolicy,
    plain_release,
    released_columns,
    sensitive_columns,
)
from anon_pipeline.policy.locations import Locations
from anon_pipeline.sources import read_source
from anon_pipeline.synthetic.attackers import Learned, halves_of
from anon_pipeline.utility.sql_workload import QueryLoss, Workload

_LEAST = 20  # records: of fewer, nothing can be said of halves


@dataclass(frozen=True, slots=True)
class Alike:
    """What a policy's release loses, and what attackers learn from it.

    refused: limits of its own gate that it does not keep.
    records: that it has.
    seconds: that it took to make, without the gate and measuring.
    queries: what each query of the user loses; None without queries.
    """

    lost: Lost
    learned: Learned
    refused: tuple[str, ...]
    records: int
    seconds: float
    queries: tuple[QueryLoss, ...] | None = None

    @property
    def risk(self) -> float:
        """The most that an attacker learns beyond others' records, in [0, 1]: 0 is nothing, 1 everything."""
        learned = self.learned
        return max(0.0, learned.copied, 2 * learned.membership - 1, *learned.gains.values())

    @property
    def loss(self) -> float:
        """What is lost of pairs of columns; with one column, of this."""
        return self.lost.columns if self.lost.pairs is None else self.lost.pairs


@dataclass(frozen=True, slots=True)
class Compared:
    """A policy by its name, and what was found; None, and why, where it has no release."""

    name: str
    kind: str
    found: Alike | None
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON types: for the curator alone."""
        found = self.found
        measured = None if found is None else {**asdict(found), "risk": found.risk, "loss": found.loss}
        return {"policy": self.name, "kind": self.kind, "problem": self.problem or None, "found": measured}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is measured: columns, secrets among them, and queries."""

    names: Sequence[str]
    secrets: Sequence[str]
    workload: Workload | None


def compare_kinds(
    policies: Mapping[str, AnyPolicy],
    locations: Mapping[str, Locations],
    *,
    secrets: Sequence[str] = (),
    workload: Workload | None = None,
    partition: str | None = None,
    observe: Observer = ignore,
) -> Iterator[Compared]:
    """Make a release by each policy of the table of the first one, measure it, and throw it away.

    Two releases of each policy are made: of the whole table, for what it loses, and of half of the records,
    for what attackers learn. Nothing is published, written or spent.

    Args:
        policies: by the names that they are shown with.
        locations: of each of them.
        secrets: columns that an attacker wants to learn; default: those that the policies call sensitive.
        workload: queries of the user, on the columns that all policies release.
        observe: called when a policy begins.
    Raises:
        InputError: the source cannot be read, is too small, or the policies have no column in common; a
            query fails.
    """
    names = _common_columns(policies)
    asked = _Asked(names, _secrets(policies, names, secrets), workload)
    first = next(iter(policies))
    locations[first].confine(policies[first], partition)
    with private_stage("source"):
        frame = read_source(policies[first], folder=locations[first].sources, partition=partition)
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        raise InputError(f"the source must have the columns of the policies, not there: {', '.join(lacking)}")
    if len(frame) < _LEAST:
        raise InputError(f"the source must have at least {_LEAST} records to be compared, got {len(frame)}")
    if workload is not None:
        with private_stage("utility"):
            refuse_queries(workload, unpack_table(frame), names)
    seen = _half_of(policies, frame)
    for name, policy in policies.items():
        observe(Step(name))
        kind = getattr(getattr(policy, "kind", None), "name", "classes")
        try:
            locations[name].confine(policy, partition)
            found = _measure(policy, frame, seen, locations[name], asked)
        except (InputError, PolicyError, InfeasibleError, GateRefused) as error:
            yield Compared(name, kind, None, str(error))
        else:
            yield Compared(name, kind, found)


def _common_columns(policies: Mapping[str, AnyPolicy]) -> list[str]:
    """Return the columns that the releases of all policies have.

    Raises:
        InputError: there are fewer than two.
    """
    first, *others = [released_columns(policy) for policy in policies.values()]
    names = [name for name in first if all(name in other for other in others)]
    if len(names) < 2:
        raise InputError(
            f"the policies must release at least two columns of the same names, got {len(names)}. Give the "
            "columns the same names in all of them."
        )
    return names


def _secrets(policies: Mapping[str, AnyPolicy], names: Sequence[str], asked: Sequence[str]) -> list[str]:
    """Return the columns that an attacker wants to learn.

    Raises:
        InputError: one is not among the common columns.
    """
    unknown = [name for name in asked if name not in names]
    if unknown:
        raise InputError(
            f"--secret: must be a column that all policies release, got {', '.join(unknown)}. These are "
            f"{', '.join(names)}"
        )
    named = [name for policy in policies.values() for name in sensitive_columns(policy)]
    return list(dict.fromkeys(asked or [name for name in named if name in names]))


def _half_of(policies: Mapping[str, AnyPolicy], frame: Table) -> NDArray[np.bool_]:
    """Return the records of a random half, (n,): of the people, where a policy says whose they are."""
    named = [getattr(policy, "person", None) for policy in policies.values()]
    column = next((name for name in named if name is not None and name in frame.columns), None)
    people = np.arange(len(frame)) if column is None else pd.factorize(frame[column])[0]
    return np.isin(people, halves_of(int(people.max()) + 1)[0])


def _measure(
    policy: AnyPolicy,
    frame: Table,
    seen: NDArray[np.bool_],
    locations: Locations,
    asked: _Asked,
) -> Alike:
    """Make both releases of a policy, and measure them.

    Args:
        seen: (n,) the half that is released to attackers.
        asked: what is measured.
    """
    names, workload = asked.names, asked.workload
    whole = plain_release(policy, frame, locations, judged=True)
    half = plain_release(policy, take_rows(frame, np.flatnonzero(seen)), locations, judged=False)
    with private_stage("utility"):
        lost = measure_lost(*plain_columns(whole.data, whole.table, names))
        records, released = plain_columns(whole.data, half.centers, names)
        learned = measure_learned(records, seen, released, asked.secrets)
        queries = None if workload is None else measure_queries(workload, whole.data, whole.answering, names)
    return Alike(lost, learned, whole.refused or (), len(whole.table), whole.seconds, queries)
