"""Answers a search from one small number for each cell: no tuple is kept that nobody asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import count_codes, narrow_integers, slices_of
from anon_pipeline.division.grouped_records import GroupedRecords, group_in_parts, group_records
from anon_pipeline.division.kept_rows import KeptRows
from anon_pipeline.division.record_keys import Levels
from anon_pipeline.recode.fulldomain.counter import add_counts, count_part
from anon_pipeline.recode.fulldomain.nodes import NodeCount
from anon_pipeline.recode.task import Task
from anon_pipeline.recode.tuples import DistinctTuples

MOST = 2**22
"""Tuples, and values of them, that are kept together: a search of them needs about a gibibyte."""
_ROOM = 2**24  # that are counted together, 16 bytes each; of more the records are gone through again


@dataclass(frozen=True, slots=True, eq=False)
class RecordCounter:
    """A `recode.fulldomain.counter.Counter` of n records in memory, in as few bytes as hold their codes.

    task: the question.
    codes: q times (n,) leaf codes.
    limited: (n,) values of each limited column, in the order of the limits.
    target: (n,) class labels, for a loss that needs them; None without.
    without: (n,) records that do not count, whatever they have; None: all count.
    most: tuples, and values of them, that are counted together.
    records: that count.
    _leaves: what `leaves` returned, which is asked for with each node.
    _small: what `small` returned. _kept: classes of some nodes that were counted.
    """

    task: Task
    codes: tuple[NDArray[np.integer], ...] = field(repr=False)
    limited: tuple[NDArray[np.integer], ...] = field(default=(), repr=False)
    target: NDArray[np.integer] | None = field(default=None, repr=False)
    without: NDArray[np.bool_] | None = field(default=None, repr=False)
    most: int = MOST
    _leaves: list[NDArray[np.int64]] = field(default_factory=list, repr=False)
    _small: dict[tuple[int, ...], int] = field(default_factory=dict, repr=False)
    records: int = field(init=False)
    _kept: KeptRows = field(init=False, repr=False)

    def __post_init__(self) -> None:
        gone = 0 if self.without is None else int(self.without.sum())
        object.__setattr__(self, "records", len(self.codes[0]) - gone)
        object.__setattr__(self, "_kept", KeptRows(self.records))

    def leaves(self) -> tuple[NDArray[np.int64], ...]:
        """Return the records of each leaf of each column, q times (D,)."""
        if not self._leaves:
            columns = zip(self.codes, self.task.hierarchies, strict=True)
            self._leaves.extend([count_codes(self._slices(own), one.leaves) for own, one in columns])
        return tuple(self._leaves)

    def values(self) -> tuple[NDArray[np.int64], ...]:
        """Return the records with each value of each limited column, (v,) each."""
        return tuple(count_codes(self._slices(own)) for own in self.limited)

    def pairs(self, one: int, other: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pairs of leaves of two columns that occur, (c, 2), and the records of each, (c,)."""
        both = [self.task.hierarchies[place] for place in (one, other)]
        leaves = [narrow_integers(hierarchy.lookups[0]) for hierarchy in both]
        found = group_records(Levels((self.codes[one], self.codes[other]), leaves, self.without), ())
        assert found is not None  # noqa: S101 - no number was given that it may exceed
        return found.codes.astype(np.int64), found.sizes

    def table(self, levels: Sequence[int], most: int | None = None) -> DistinctTuples | None:
        """Return the classes of a node as a table; None: there are more than ``most``."""
        found = group_records(self.on(levels), self._others, most=most)
        if found is None:
            return None
        return found.table(slice(0, len(found.sizes)), self._lookups(levels), labeled=self._labeled)

    def count(self, levels: Sequence[int]) -> NodeCount:
        """Count and price the classes of one node, so many at a time.

        Values are counted if the loss needs labels, or if no more records than may be suppressed are in
        classes of fewer than k. Otherwise only the sizes of classes are counted.
        """
        if not self._labeled and (not self.limited or self.small(levels) > self._limit):
            return self._add_up(self._classes(levels), levels)
        return self._add_up(group_in_parts(self.on(levels), self._others, most=_ROOM), levels)

    def small(self, levels: Sequence[int]) -> int:
        """Return how many records of a node are in classes of fewer than k records."""
        asked = tuple(levels)
        if asked not in self._small:
            k = self.task.constraints.k
            self._small[asked] = sum(int(own.sizes[own.sizes < k].sum()) for own in self._classes(asked))
        return self._small[asked]

    def _add_up(self, parts: Iterable[GroupedRecords], levels: Sequence[int]) -> NodeCount:
        """Count and price the classes of one node, which come in parts."""
        leaves, limit = self.leaves(), self._limit
        return add_counts(
            (
                count_part(self.task, leaves, part, levels, limit=limit)
                for part in self._tables(parts, levels)
            ),
            limit=limit,
        )

    @property
    def _limit(self) -> int:
        return min(self.task.constraints.max_suppressed, self.records - 1)

    def on(self, levels: Sequence[int]) -> Levels:
        """Return the records with their codes on a node's levels."""
        lookups = [narrow_integers(lookup) for lookup in self._lookups(levels)]
        return Levels(self.codes, lookups, self.without)

    def _classes(self, levels: Sequence[int]) -> Iterator[GroupedRecords]:
        """Yield the classes of a node in parts, without values; keep them if one part has them all."""
        rows = self._kept.below(levels)
        if rows is None:
            own = self.on(levels)
        else:
            own = rows.on([*zip(self._lookups(rows.levels), self._lookups(levels), strict=True)])
        for found in group_in_parts(own, (), most=_ROOM):
            if int(found.sizes.sum()) == self.records:
                self._kept.keep(levels, found)
            yield found

    def _tables(self, parts: Iterable[GroupedRecords], levels: Sequence[int]) -> Iterator[DistinctTuples]:
        """Yield classes as tables of at most ``most`` entries, or of one class."""
        lookups = self._lookups(levels)
        for found in parts:
            classes = len(found.sizes)
            for run in slices_of(classes, most=max(classes * self.most // found.entries, 1)):
                yield found.table(run, lookups, labeled=self._labeled)

    @property
    def _others(self) -> tuple[NDArray[np.integer], ...]:
        return (*self.limited, *(() if self.target is None else (self.target,)))

    @property
    def _labeled(self) -> bool:
        return self.target is not None

    def _slices(self, own: NDArray[np.integer]) -> Iterator[NDArray[np.integer]]:
        """Yield the values of the records that count, a slice of them at a time."""
        for part in slices_of(len(own)):
            yield own[part] if self.without is None else own[part][~self.without[part]]

    def _lookups(self, levels: Sequence[int]) -> list[NDArray[np.int64]]:
        return [own.lookups[level] for own, level in zip(self.task.hierarchies, levels, strict=True)]
