"""What a release can be measured on: the released table, and the originals that only the vault has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.classes import EquivalenceClasses, group_columns, same_partition
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.mistakes import counted_records
from anon_pipeline.base.packed_tables import Table, has_cells_of, value_numbers, without_index
from anon_pipeline.base.rows import some_rows, take_cells
from anon_pipeline.base.threads import side_by_side
from anon_pipeline.encode.codes import CLASS, PERSON, RECORD
from anon_pipeline.encode.grids import grid_units
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.class_table import ClassTables
from anon_pipeline.risk.informed_table import InformedTables
from anon_pipeline.risk.people import count_people


@dataclass(frozen=True, slots=True, eq=False)
class Originals:
    """The n original records of a release, r of them released.

    frame: (n, columns) the table after recoding: generalized texts, original numbers, sensitive values.
    labels: (n,) equivalence class; −1 for a record that the recoding suppressed.
    own: (r,) row in ``frame`` of each released record.
    grid: (n, p) perturb columns in grid units, integers where the data is on the grid.
    people: (n,) whose record it is, 0 … P−1; None where records are counted, not people.
    tables: what was sorted of the records, by class; ``informed``: for attackers who know a method.
    """

    frame: Table = field(repr=False)
    labels: NDArray[np.int64] = field(repr=False)
    own: NDArray[np.int64] = field(repr=False)
    grid: NDArray[np.float64] = field(repr=False)
    people: NDArray[np.int64] | None = field(default=None, repr=False)
    tables: ClassTables = field(default_factory=ClassTables, repr=False)
    informed: InformedTables = field(default_factory=InformedTables, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A release, and its originals where the vault has them.

    released: (r, columns) the released table, without private columns.
    classes: equivalence classes of the r records by their released values.
    originals: None for a file alone.
    hierarchies: folder of the hierarchy tables, for the hierarchical distance.
    """

    released: Table = field(repr=False)
    classes: EquivalenceClasses
    originals: Originals | None
    hierarchies: Path

    @property
    def people(self) -> NDArray[np.int64] | None:
        """Whose record each released one is, (r,); None where records are counted."""
        behind = self.originals
        return None if behind is None or behind.people is None else behind.people[behind.own]

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """People of each class, (m,); records where these are counted."""
        people, classes = self.people, self.classes
        return classes.sizes if people is None else count_people(classes.labels, people, m=len(classes.sizes))

    def select(self, positions: NDArray[np.int64], labels: NDArray[np.int64]) -> Evidence:
        """Return the evidence of some of the released records.

        Args:
            positions: (r',) rows of ``released``.
            labels: (r',) their classes, numbered without gaps.
        """
        behind = self.originals
        return Evidence(
            some_rows(self.released, positions),
            EquivalenceClasses(labels, np.bincount(labels).astype(np.int64)),
            None if behind is None else replace(behind, own=behind.own[positions]),
            self.hierarchies,
        )


def value_classes(frame: Table, names: Sequence[str]) -> EquivalenceClasses:
    """Group (r, columns) records by equal values of some columns; a missing value equals a missing value."""
    codes = side_by_side([partial(value_numbers, frame, name) for name in names], records=len(frame))
    _, labels, sizes = group_columns(codes, len(frame))
    return EquivalenceClasses(labels, sizes)


def evidence_from(
    released: Table,
    policy: Policy,
    *,
    originals: Table | None = None,
    hierarchies: Path = Path(),
) -> Evidence:
    """Bring a release and its originals together.

    Args:
        released: (r, columns) the release; with the record ids when ``originals`` are given.
        originals: (n, columns) the recoded table of the vault, with record and class ids; None for a file
            alone.
    Raises:
        InputError: columns that are not there; records that the originals do not have, or have otherwise:
            with counts, without values.
    """
    lacking = sorted(set(policy.released) - set(map(str, released.columns)))
    if lacking:
        raise InputError(f"the release must have the policy's columns, not there: {', '.join(lacking)}")
    twice = sorted({*released.columns[released.columns.duplicated()]} & {RECORD, *policy.released})
    if twice:
        raise InputError(f"the release must have each column once, got twice: {', '.join(twice)}")
    if not len(released):
        raise InputError("the release must have at least one record, got none")
    table = without_index(released[policy.released])
    classes = value_classes(table, list(policy.generalized))
    behind = None if originals is None else _originals(released, originals, policy)
    if behind is not None:
        _same(table, behind, policy)
    return Evidence(table, classes, behind, hierarchies)


def _originals(released: Table, originals: Table, policy: Policy) -> Originals:
    if RECORD not in released or not {RECORD, CLASS} <= set(originals.columns):
        raise InputError("a release must carry the record ids of the vault to be measured against it")
    own = pd.Index(originals[RECORD]).get_indexer(pd.Index(released[RECORD])).astype(np.int64)
    strangers = int((own < 0).sum())
    repeated = len(own) - strangers - int(np.count_nonzero(np.bincount(own[own >= 0])))
    if strangers or repeated:
        raise InputError(
            f"every released record must be one record of the vault, got {strangers} that are not there "
            f"and {repeated} repeated"
        )
    labels = originals[CLASS].to_numpy(np.int64)
    frame, grid = without_index(originals), grid_units(originals, policy)
    return Originals(frame, labels, own, grid, people_in(originals, policy))


def people_in(originals: Table, policy: Policy) -> NDArray[np.int64] | None:
    """Number the people of a vault's table by their ids, (n,); None where the policy names no ``person``.

    The numbers do not depend on the order of the records.


    Raises:
        InputError: the table does not have them.
    """
    if policy.person is None:
        return None
    if PERSON not in originals:
        raise InputError("the vault must have the people of its records: materialize deidentified again")
    return pd.factorize(originals[PERSON], sort=True)[0].astype(np.int64)


def _unlike(one: pd.Series, other: pd.Series) -> int:
    """Count the cells that differ; a missing value equals a missing value, of whatever type, and no other."""
    equal = (one == other).fillna(False).astype(bool)
    return int((~(equal | (one.isna() & other.isna()))).sum())


def _same(table: Table, originals: Originals, policy: Policy) -> None:
    """Refuse a release whose unperturbed cells or classes differ from the vault's."""

    def count_unlike(name: str) -> int:
        """Count the records whose value in a column is another one than in the vault."""
        if has_cells_of(table, originals.frame, name, originals.own):
            return 0
        after, before = table[name].array, take_cells(originals.frame[name].array, originals.own)
        return 0 if after.equals(before) else _unlike(table[name], pd.Series(before))

    plain = [name for name in policy.released if name not in policy.noisy]
    differ = side_by_side([partial(count_unlike, name) for name in plain], records=len(table))
    problems = [
        f"{name}: must be as in the vault, got {counted_records(many)} with another value"
        for name, many in zip(plain, differ, strict=True)
        if many
    ]
    unclassed = int((originals.labels[originals.own] < 0).sum())
    if unclassed:
        problems.append(f"released records must not be suppressed ones, got {unclassed}")
    kept = originals.labels >= 0
    by_value = value_classes(originals.frame, list(policy.generalized)).labels[kept]
    if not same_partition(by_value, pd.factorize(originals.labels[kept])[0]):
        problems.append("class ids do not match the generalized values")
    if problems:
        raise InputError(problems)
