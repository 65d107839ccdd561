"""Answers Mondrian's cuts from one small number for each cell: records are counted part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import count_codes, narrow_integers, slices_of
from anon_pipeline.division.grouped_records import GroupedRecords, group_records
from anon_pipeline.division.record_keys import Levels
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.recode.contents import ClassContents
from anon_pipeline.recode.joint import Joint, join_counts
from anon_pipeline.recode.mondrian.counter import AxisEntries, Part
from anon_pipeline.risk.histograms import ClassHistograms

_Rows = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class PartCounter:
    """A `recode.mondrian.counter.EntryCounter` of n records in memory, in as few bytes as hold their codes.

    hierarchies: q, of the generalize columns; ``codes``: q times (n,) leaf codes.
    limited: (n,) values of each limited column, in the order of the limits.
    without: (n,) records that do not count, whatever they have; None: all count.
    _within: the last part that was asked for, and those that it was cut from, with their records.
    """

    hierarchies: tuple[Hierarchy, ...]
    codes: tuple[NDArray[np.integer], ...] = field(repr=False)
    limited: tuple[NDArray[np.integer], ...] = field(default=(), repr=False)
    without: NDArray[np.bool_] | None = field(default=None, repr=False)
    _within: list[tuple[Part, _Rows]] = field(default_factory=list, repr=False)

    @property
    def records(self) -> int:
        """Records that count."""
        return len(self.codes[0]) - (0 if self.without is None else int(self.without.sum()))

    def values(self) -> tuple[NDArray[np.int64], ...]:
        """Return the records with each value of each limited column, (v,) each."""
        return tuple(count_codes(self._slices(own, None)) for own in self.limited)

    def leaves(self, part: Part) -> tuple[NDArray[np.int64], ...]:
        """Return the records of each leaf of each column in a part, q times (D,)."""
        rows = self._rows(part)
        return tuple(
            count_codes(self._slices(own, rows), hierarchy.leaves)
            for own, hierarchy in zip(self.codes, self.hierarchies, strict=True)
        )

    def contents(self, part: Part) -> ClassContents:
        """Look into a part as one class; its ``records`` are those of the part."""
        rows = self._rows(part)
        records = self.records if rows is None else len(rows)
        sizes = np.array([records], np.int64)
        counted = (count_codes(self._slices(own, rows)) for own in self.limited)
        return ClassContents(records, sizes, tuple(_one_class(own, sizes) for own in counted))

    def entries(self, part: Part, column: int) -> AxisEntries:
        """Count a part by one column and the values of all limited columns together."""
        found = self._group(part, (self.codes[column],))
        assert found is not None  # noqa: S101 - no number was given that it may exceed
        codes = found.codes.T.astype(np.int64)
        return AxisEntries(codes[0], codes[1:], found.sizes)

    def joint(self, part: Part, most: int) -> Joint | None:
        """Return the records of a part as entries; None: there are more than ``most``."""
        found = self._group(part, self.codes, most=most)
        if found is None:
            return None
        codes, q = found.codes.astype(np.int64), len(self.codes)
        return join_counts(codes[:, :q], [*codes[:, q:].T], found.sizes, self.hierarchies)

    def _group(
        self, part: Part, columns: Sequence[NDArray[np.integer]], *, most: int | None = None
    ) -> GroupedRecords | None:
        """Group the records of a part by some columns and all limited ones; None: too many groups."""
        rows = self._rows(part)
        own = [*columns, *self.limited]
        if rows is not None:
            own = [column[rows] for column in own]
        lookups = [narrow_integers(np.arange(int(column.max()) + 1)) for column in own]
        return group_records(Levels(own, lookups, self.without if rows is None else None), (), most=most)

    def _rows(self, part: Part) -> _Rows | None:
        """Return the records of a part, ascending; None: all that count."""
        while self._within and not _lies_in(part, self._within[-1][0]):
            self._within.pop()
        if not self._within and all(allowed.all() for allowed in part):
            return None
        outer, rows = self._within[-1] if self._within else (None, None)
        cut = [
            column
            for column, allowed in enumerate(part)
            if outer is None or not np.array_equal(allowed, outer[column])
        ]
        if cut:
            self._within.append((part, self._narrow(part, cut, rows)))
        return self._within[-1][1]

    def _narrow(self, part: Part, cut: Sequence[int], rows: _Rows | None) -> _Rows:
        """Return those of some records, or of all that count, that have leaves of a part."""
        found = list[_Rows]()
        for places in slices_of(len(self.codes[0]) if rows is None else len(rows)):
            own = np.arange(places.start, places.stop, dtype=np.int32) if rows is None else rows[places]
            inside = np.ones(len(own), np.bool_)
            if rows is None and self.without is not None:
                inside &= ~self.without[places]
            for column in cut:
                inside &= part[column][self.codes[column][own]]
            found.append(own[inside])
        return np.concatenate(found)

    def _slices(self, own: NDArray[np.integer], rows: _Rows | None) -> Iterator[NDArray[np.integer]]:
        """Yield the values of the records of a part, a slice of them at a time; None: of all that count."""
        for places in slices_of(len(own) if rows is None else len(rows)):
            if rows is not None:
                yield own[rows[places]]
            else:
                yield own[places] if self.without is None else own[places][~self.without[places]]


def _lies_in(part: Part, outer: Part) -> bool:
    return all(bool((own <= whole).all()) for own, whole in zip(part, outer, strict=True))


def _one_class(counts: NDArray[np.int64], sizes: NDArray[np.int64]) -> ClassHistograms:
    """Write the records with each value of a column, (v,), as the histogram of one class."""
    values = np.flatnonzero(counts)
    return ClassHistograms(np.array([0, len(values)], np.int64), values, counts[values], sizes)
