"""What strict Mondrian asks of a table that is not in memory: counts of its parts, column by column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import group_rows
from anon_pipeline.base.order import add_values
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.contents import ClassContents
from anon_pipeline.recode.joint import Joint
from anon_pipeline.recode.tuples import leaf_counts, some_tuples

Part = tuple[NDArray[np.bool_], ...]
"""A part of a table by the leaves of its records: q arrays (D,), whether a leaf of the column is in it."""


class AxisEntries(NamedTuple):
    """The records of a part by one column and the values of all limited columns together, r distinct rows.

    leaves: (r,) of the column; values: (a, r); counts: (r,) records of each.
    """

    leaves: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]


class EntryCounter(Protocol):
    """Counts the records of parts of a table, wherever it is."""

    @property
    def records(self) -> int:
        """Records of the table (n)."""
        ...

    def values(self) -> tuple[NDArray[np.int64], ...]:
        """Return the records with each value of each limited column, (v,) each."""
        ...

    def leaves(self, part: Part) -> tuple[NDArray[np.int64], ...]:
        """Return the records of each leaf of each column in a part, q times (D,)."""
        ...

    def contents(self, part: Part) -> ClassContents:
        """Look into a part as one class; its ``records`` are those of the part."""
        ...

    def entries(self, part: Part, column: int) -> AxisEntries:
        """Count a part by one column and the values of all limited columns together."""
        ...

    def joint(self, part: Part, most: int) -> Joint | None:
        """Return the records of a part as entries; None: there are more than ``most``."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class JointCounter:
    """An `EntryCounter` of a table in memory, which others are held against."""

    whole: Joint = field(repr=False)
    hierarchies: tuple[Hierarchy, ...]

    @property
    def records(self) -> int:
        """Records of the table (n)."""
        return self.whole.records

    def _within(self, part: Part) -> Joint:
        """Return the entries of a part, of which there is one at least."""
        table, inside = self.whole.table, np.ones(len(self.whole.table.counts), np.bool_)
        for column, allowed in enumerate(part):
            inside &= allowed[table.tuples[:, column]]
        entries = inside[self.whole.tuples]
        return Joint(
            some_tuples(table, inside),
            (np.cumsum(inside) - 1)[self.whole.tuples[entries]],
            self.whole.values[:, entries],
            self.whole.weights[entries],
        )

    def values(self) -> tuple[NDArray[np.int64], ...]:
        """Return the records with each value of each limited column, (v,) each."""
        return tuple(np.bincount(row, self.whole.weights).astype(np.int64) for row in self.whole.values)

    def leaves(self, part: Part) -> tuple[NDArray[np.int64], ...]:
        """Return the records of each leaf of each column in a part, q times (D,)."""
        return leaf_counts(self._within(part).table, self.hierarchies)

    def contents(self, part: Part) -> ClassContents:
        """Look into a part as one class; its ``records`` are those of the part."""
        own = self._within(part)
        return own.contents(np.zeros(len(own.table.counts), np.int64))

    def entries(self, part: Part, column: int) -> AxisEntries:
        """Count a part by one column and the values of all limited columns together."""
        own = self._within(part)
        leaves = own.table.tuples[own.tuples, column]
        first, labels, _ = group_rows(np.stack([leaves, *own.values], axis=1))
        counts = add_values(labels, own.weights, len(first))[1]
        return AxisEntries(leaves[first], own.values[:, first], counts)

    def joint(self, part: Part, most: int) -> Joint | None:
        """Return the records of a part as entries; None: there are more than ``most``."""
        own = self._within(part)
        return own if len(own.weights) <= most else None
