"""Answers a search from one small number for each cell: no tuple is kept that nobody asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers, slices_of
from anon_pipeline.division.grouped_records import GroupedRecords, group_records
from anon_pipeline.recode.fulldomain.counter import add_counts, count_part
from anon_pipeline.recode.fulldomain.nodes import NodeCount
from anon_pipeline.recode.task import Task
from anon_pipeline.recode.tuples import DistinctTuples

MOST = 2**22
"""Tuples, and values of them, that are kept together: a search of them needs about a gibibyte."""


@dataclass(frozen=True, slots=True, eq=False)
class RecordCounter:
    """A `recode.fulldomain.counter.Counter` of n records in memory, in as few bytes as hold their codes.

    task: the question.
    codes: q times (n,) leaf codes.
    limited: (n,) values of each limited column, in the order of the limits.
    target: (n,) class labels, for a loss that needs them; None without.
    most: tuples, and values of them, that are counted together.
    _last: the node that was grouped last, and its classes.
    """

    task: Task
    codes: tuple[NDArray[np.integer], ...] = field(repr=False)
    limited: tuple[NDArray[np.integer], ...] = field(default=(), repr=False)
    target: NDArray[np.integer] | None = field(default=None, repr=False)
    most: int = MOST
    _last: list[tuple[tuple[int, ...], GroupedRecords]] = field(default_factory=list, repr=False)

    @property
    def records(self) -> int:
        """Records of the table (n)."""
        return len(self.codes[0])

    def leaves(self) -> tuple[NDArray[np.int64], ...]:
        """Return the records of each leaf of each column, q times (D,)."""
        return tuple(
            np.bincount(own, minlength=hierarchy.leaves).astype(np.int64)
            for own, hierarchy in zip(self.codes, self.task.hierarchies, strict=True)
        )

    def values(self) -> tuple[NDArray[np.int64], ...]:
        """Return the records with each value of each limited column, (v,) each."""
        return tuple(np.bincount(own).astype(np.int64) for own in self.limited)

    def pairs(self, one: int, other: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pairs of leaves of two columns that occur, (c, 2), and the records of each, (c,)."""
        found = group_records((self.codes[one], self.codes[other]), ())
        return found.codes.astype(np.int64), found.sizes

    def table(self, levels: Sequence[int], most: int | None = None) -> DistinctTuples | None:
        """Return the classes of a node as a table; None: there are more than ``most``."""
        found = self._group(levels)
        if most is not None and found.entries > most:
            return None
        return found.table(slice(0, len(found.sizes)), self._lookups(levels), labeled=self._labeled)

    def count(self, levels: Sequence[int]) -> NodeCount:
        """Count and price the classes of one node, so many at a time."""
        found = self._group(levels)
        classes = len(found.sizes)
        many = max(classes * self.most // found.entries, 1)
        limit = min(self.task.constraints.max_suppressed, self.records - 1)
        leaves, lookups = self.leaves(), self._lookups(levels)
        return add_counts(
            (
                count_part(
                    self.task, leaves, found.table(run, lookups, labeled=self._labeled), levels, limit=limit
                )
                for run in slices_of(classes, most=many)
            ),
            limit=limit,
        )

    @property
    def _labeled(self) -> bool:
        return self.target is not None

    def _lookups(self, levels: Sequence[int]) -> list[NDArray[np.int64]]:
        return [own.lookups[level] for own, level in zip(self.task.hierarchies, levels, strict=True)]

    def _group(self, levels: Sequence[int]) -> GroupedRecords:
        """Group the records on a node's levels; the last one is kept, which is asked for twice."""
        if self._last and self._last[0][0] == tuple(levels):
            return self._last[0][1]
        self._last.clear()
        columns = generalize_codes(self.task, self.codes, levels)
        others = (*self.limited, *(() if self.target is None else (self.target,)))
        self._last.append((tuple(levels), group_records(columns, others)))
        return self._last[0][1]


def generalize_codes(
    task: Task, codes: Sequence[NDArray[np.integer]], levels: Sequence[int]
) -> list[NDArray[np.signedinteger]]:
    """Return the codes of records on a node's levels, q times (n,), in as few bytes as hold them."""
    return [
        narrow_integers(hierarchy.lookups[level])[own]
        for hierarchy, level, own in zip(task.hierarchies, levels, codes, strict=True)
    ]
