"""Records grouped by their codes on some levels, a slice of them at a time, as tables of whole classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers, slices_of
from anon_pipeline.base.threads import processors, side_by_side
from anon_pipeline.division.record_keys import Keys, Levels
from anon_pipeline.division.tally import AT_ONCE, Tally, starts_of
from anon_pipeline.recode.tuples import DistinctTuples
from anon_pipeline.recode.value_counts import count_columns
from anon_pipeline.risk.histograms import ClassHistograms

_THREADS: Final = 2  # that count, for each keeps what it has counted
_SAMPLE: Final = 2**16  # records whose numbers say where to part classes that do not fit together


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """What m classes hold of one column: where each begins, (m + 1,); value and count of each pair, (d,)."""

    starts: NDArray[np.int64] = field(repr=False)
    codes: NDArray[np.signedinteger] = field(repr=False)
    counts: NDArray[np.signedinteger] = field(repr=False)

    def histograms(self, run: slice, sizes: NDArray[np.int64]) -> ClassHistograms:
        """Return those of a run of classes, which have so many records, (r,)."""
        begin, end = int(self.starts[run.start]), int(self.starts[run.stop])
        starts = self.starts[run.start : run.stop + 1] - begin
        codes, counts = (own[begin:end].astype(np.int64) for own in (self.codes, self.counts))
        return ClassHistograms(starts, codes, counts, sizes)


@dataclass(frozen=True, slots=True, eq=False)
class GroupedRecords:
    """The m classes of records, in lexicographic order of their codes.

    codes: (m, q) of each class, in as few bytes as hold them.
    sizes: (m,) records of each.
    values: of the other columns.
    """

    codes: NDArray[np.signedinteger] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    values: tuple[_Values, ...] = field(repr=False)

    @property
    def entries(self) -> int:
        """Classes, or the values that they hold if these are more."""
        return max(len(self.sizes), sum(len(own.codes) for own in self.values))

    def table(self, run: slice, lookups: Sequence[NDArray[np.int64]], *, labeled: bool) -> DistinctTuples:
        """Return a run of classes as a table, each written as its first leaf on each level.

        Args:
            lookups: q times (D,) code of each leaf on the level of the codes.
            labeled: whether the last of the other columns is a target.
        """
        sizes, codes = self.sizes[run], self.codes[run]
        leaves = [np.searchsorted(lookup, own) for lookup, own in zip(lookups, codes.T, strict=True)]
        found = [own.histograms(run, sizes) for own in self.values]
        tuples = np.stack(leaves, axis=1).astype(np.int32)
        return DistinctTuples(tuples, sizes, count_columns(found, labeled=labeled))


def group_records(
    levels: Levels, others: Sequence[NDArray[np.integer]], *, most: int | None = None
) -> GroupedRecords | None:
    """Group records by their codes, and count the values of other columns in each group.

    Args:
        levels: n ≥ 1 records, of which at least one counts.
        others: (n,) integers ≥ 0 each, for the records that count.
        most: classes, and values of them, that are wanted together.
    Returns:
        None: there are more than ``most``.
    """
    return _group(Keys(levels, _largest(others)), levels, others, most=most)


def group_in_parts(
    levels: Levels, others: Sequence[NDArray[np.integer]], *, most: int
) -> Iterator[GroupedRecords]:
    """Group records as `group_records` does, in parts of whole classes, in the order of their codes.

    Yields:
        Classes that have at most ``most`` values together, or a single class.
    """
    keys = Keys(levels, _largest(others))
    records = len(levels.columns[0])
    places = np.unique(np.linspace(0, records - 1, min(records, _SAMPLE)).astype(np.int64))
    sample = np.unique(keys.some(places))
    whole = (0, keys.space)
    left = [whole]
    while left:
        begin, end = left.pop()
        bounds = None if (begin, end) == whole else (begin, end)
        found = _group(keys, levels, others, most=most if end - begin > 1 else None, within=bounds)
        if found is None:
            known = sample[(sample > begin) & (sample < end)]
            middle = int(known[len(known) // 2]) if len(known) else (begin + end) // 2
            left += [(middle, end), (begin, middle)]
        elif len(found.sizes):
            yield found


def _largest(others: Sequence[NDArray[np.integer]]) -> int:
    return max((int(own.max()) + 1 for own in others), default=1)


def _group(
    keys: Keys,
    levels: Levels,
    others: Sequence[NDArray[np.integer]],
    *,
    most: int | None,
    within: tuple[int, int] | None = None,
) -> GroupedRecords | None:
    """Group the records whose numbers are from … up to, but not including, two bounds."""
    widths = [int(own.max()) + 1 for own in others] or [1]
    records, threads = len(levels.columns[0]), min(_THREADS, processors())
    parts = [*slices_of(records, most=max(AT_ONCE // threads, 1))]
    counting = _Counting(keys, levels, others, widths, most, within)
    counted = side_by_side(
        [partial(counting.tallies, parts[one::threads]) for one in range(threads)], records=records
    )
    tallies = counted[0]
    for more in counted[1:]:
        for tally, other in zip(tallies, more, strict=True):
            tally.join(other)
    if counting.exceeded:
        return None
    found = _groups_of(keys, tallies, widths, valued=bool(others))
    return None if most is not None and found.entries > most else found


@dataclass(slots=True, eq=False)
class _Counting:
    """Counts the numbers of records, some slices of them in each thread; arguments: see `_group`.

    exceeded: whether there are more different ones than wanted. ended: whether no thread is to go on.
    """

    keys: Keys = field(repr=False)
    levels: Levels = field(repr=False)
    others: Sequence[NDArray[np.integer]] = field(repr=False)
    widths: Sequence[int] = field(repr=False)
    most: int | None
    within: tuple[int, int] | None
    exceeded: bool = False
    ended: bool = False

    def tallies(self, parts: Sequence[slice]) -> list[Tally]:
        """Count some slices; a tally for each of the other columns, or one for the classes alone."""
        tallies = [Tally(self.keys.space * width, len(self.levels.columns[0])) for width in self.widths]
        try:
            for part in parts:
                if self.ended:
                    break
                self._add(part, tallies)
                if self.most is not None and any(tally.exceeds(self.most) for tally in tallies):
                    self.exceeded = self.ended = True
        except BaseException:  # an interrupt, too: no other thread is to be waited for
            self.ended = True
            raise
        return tallies

    def _add(self, part: slice, tallies: Sequence[Tally]) -> None:
        """Count one slice."""
        key, rows = self.keys.some(part), None
        if self.within is not None:
            rows = (key >= self.within[0]) & (key < self.within[1])
            key = key[rows]
        weights = self.levels.weights
        if weights is not None:
            weights = weights[part] if rows is None else weights[part][rows]
        if not self.others:
            tallies[0].add(key, weights)
        for tally, own, width in zip(tallies, self.others, self.widths, strict=False):
            values = self.levels.select(own[part], part)
            tally.add(key * width + (values if rows is None else values[rows]), weights)


def _groups_of(
    keys: Keys, tallies: Sequence[Tally], widths: Sequence[int], *, valued: bool
) -> GroupedRecords:
    """Make groups of what was counted; ``valued``: numbers are of classes with a value each."""
    if not valued:
        found, sizes = tallies[0].counts()
        return GroupedRecords(keys.rows(found), sizes, ())
    values, classes, sizes = list[_Values](), np.zeros(0, np.int64), np.zeros(0, np.int64)
    for tally, width in zip(tallies, widths, strict=True):
        pairs, counts = tally.counts()
        own = pairs // width
        begins = starts_of(own)
        classes, sizes = own[begins], np.add.reduceat(counts, begins) if len(begins) else sizes
        starts = np.concatenate((begins, [len(pairs)]))
        values.append(_Values(starts, narrow_integers(pairs % width), narrow_integers(counts)))
    return GroupedRecords(keys.rows(classes), sizes, tuple(values))
