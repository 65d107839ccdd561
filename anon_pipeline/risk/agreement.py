"""Whether equal values of one column mark records that agree in others, too, as records of one person do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.compilation import kernel
from anon_pipeline.base.order import count_values, ranks_of, sorted_places

ALIKE = 0.5
"""Mean agreement beyond chance (Cohen's kappa) above which records of one value look like one person's."""

_FEWEST_REPEATED = 10  # records beyond the first of their value, from which another column can follow
_OFTEN = 4  # records of a value on average, below which those that occur once are looked for
COUNTED_FROM = 2**16  # records from which a compiled loop counts pairs; of fewer its compilation takes longer

_MOST = 2**31 - 1  # records whose places have four bytes
_DENSE = 2  # pairs of a group and a value, up to so many for each record, have a counter each

Integers = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Repeated:
    """The r records whose value others have, too, in g groups of equal values, each of two records or more.

    inside: (r,) their positions among all n records, in few bytes; ascending.
    groups: (r,) the group of each, 0 … g−1, in few bytes.
    sizes: (g,) records of each group.
    """

    inside: Integers = field(repr=False)
    groups: NDArray[np.signedinteger] = field(repr=False)
    sizes: Integers = field(repr=False)

    def select(self, codes: Integers) -> Integers:
        """Return the values (r,) that these records have in a column (n,)."""
        return codes if len(self.inside) == len(codes) else codes.take(self.inside)

    @property
    def counted(self) -> bool:
        """Whether a compiled loop counts pairs: of few records, and of too many, none does."""
        return COUNTED_FROM <= len(self.groups) <= _MOST

    @cached_property
    def order(self) -> Integers:
        """Places in ``inside``, (r,), ordered by group, in four bytes; sorted when they are asked for."""
        return sorted_places(self.groups, len(self.sizes)).astype(np.int32)


def repeated_groups(values: Integers) -> Repeated:
    """Return the records whose value others have, too.

    Args:
        values: (n,) a value's number, −1 where it is missing.
    """
    there = values[values >= 0] if int(values.min(initial=0)) < 0 else values
    repeated = np.append(np.bincount(there) > 1, False)
    if len(there) == len(values) and repeated[:-1].all():  # each value is its group
        inside, groups = narrow_integers(np.arange(len(values))), values.astype(np.int32)
    else:
        inside = narrow_integers(np.flatnonzero(repeated[values]))
        groups = ranks_of(repeated)[values[inside]]
    return Repeated(inside, groups, np.bincount(groups))


def beyond_chance(counts: Integers, codes: Integers, among: Repeated) -> float | None:
    """Return how far pairs of one group agree beyond pairs of the whole, at most 1; None: all agree anyway.

    Args:
        counts: (v,) records of each value, of the whole.
        codes: (r,) values of those that are repeated in another column.
        among: the groups of that other column.
    Returns:
        Cohen's kappa, where the share of pairs that agree is the mean over groups.
    """
    n, sizes = int(counts.sum()), among.sizes
    chance = float((counts * (counts - 1)).sum() / (n * (n - 1)))
    if chance >= 1:
        return None
    pairs = _pairs_in_loop(counts, codes, among) if among.counted else _counted_pairs(counts, codes, among)
    agree = float((pairs / (sizes * (sizes - 1))).mean())
    return (agree - chance) / (1 - chance)


def _counted_pairs(counts: Integers, codes: Integers, among: Repeated) -> Integers:
    """Count the ordered pairs of each group with one value, (g,), by sorting."""
    width, groups, many = len(counts), among.groups, len(among.sizes)
    if _OFTEN * width > int(counts.sum()):  # a value that occurs once agrees with no other record
        again = counts[codes] > 1
        codes, groups = codes[again], groups[again]
    keys = groups.astype(np.int64)
    keys *= width
    keys += codes
    cells, same = count_values(keys, many * width)
    del keys
    cells //= width
    return np.bincount(cells, weights=same * (same - 1), minlength=many).astype(np.int64)


def _pairs_in_loop(counts: Integers, codes: Integers, among: Repeated) -> Integers:
    """Count the ordered pairs of each group with one value, (g,), in a compiled loop.

    Where groups and values are few, each pair of them has a counter; else records are ordered by group.
    """
    width, many, codes = len(counts), len(among.sizes), codes.astype(np.int32, copy=False)
    pairs = np.zeros(many, np.int64)
    if many * width <= _DENSE * len(codes):
        cells = np.zeros((many, width), np.int32)
        _add_cells(codes, among.groups.astype(np.int32, copy=False), cells, pairs)
    else:
        _add_pairs(codes, among.order, np.cumsum(among.sizes), np.zeros(width, np.int64), pairs)
    return pairs


@kernel
def _add_cells(codes, groups, cells, pairs):  # type: ignore[no-untyped-def]
    """Count the ordered pairs of each group with one value, (g,), by the records of each cell, (g, v)."""
    for at in range(len(codes)):
        cells[groups[at], codes[at]] += 1
    for group in range(len(pairs)):
        found = np.int64(0)
        for code in range(cells.shape[1]):
            same = np.int64(cells[group, code])
            found += same * (same - 1)
        pairs[group] = found


@kernel
def _add_pairs(  # type: ignore[no-untyped-def]
    codes, order, ends, seen, pairs
):
    """Count the ordered pairs of each group with one value, (g,), by adding each record to those before it.

    ``seen`` (v,) is all 0, and is so again after each group.
    """
    begin = 0
    for group in range(len(ends)):
        found = 0
        for at in range(begin, ends[group]):
            code = codes[order[at]]
            found += 2 * seen[code]
            seen[code] += 1
        for at in range(begin, ends[group]):
            seen[codes[order[at]]] = 0
        pairs[group] = found
        begin = ends[group]


def found_agreements(values: Integers, columns: Iterable[Integers]) -> list[float]:
    """Return how far records of one value agree in each column beyond chance, where they may differ in it.

    Args:
        values: (n,) a value's number, −1 where it is missing; at least one is repeated.
        columns: arrays (n,) of values' numbers, ≥ 0.
    Returns:
        The kappa of each column that not all records agree in.
    """
    among = repeated_groups(values)
    found = [beyond_chance(np.bincount(codes), among.select(codes), among) for codes in columns]
    return [kappa for kappa in found if kappa is not None]


def tells_one_person(kappas: Sequence[float]) -> bool:
    """Tell whether records of one value agree in columns as those of one person do.

    On average by more than `ALIKE`, and in two of the columns or more where there are two: a first name
    agrees with the sex, a diagnosis with the ward, in everybody's records.

    Args:
        kappas: of columns that do not follow from one another, see `found_agreements`.

    >>> tells_one_person([0.9]), tells_one_person([1.0, 0.2]), tells_one_person([1.0, 0.6])
    (True, False, True)
    """
    alike = sum(kappa > ALIKE for kappa in kappas)
    return bool(kappas) and float(np.mean(kappas)) > ALIKE and alike >= min(2, len(kappas))


def independent_columns(columns: Sequence[Integers]) -> list[int]:
    """Choose columns of which none follows from another: a city adds nothing to a postal code.

    Those with most values come first; a column goes whose values agree by more than `ALIKE` beyond chance
    among records that have one value of a column that stays.

    Args:
        columns: arrays (n,) of values' numbers, ≥ 0.
    Returns:
        Positions in ``columns``; those with one value in all records are none of them.
    """
    counts = [np.bincount(codes) for codes in columns]
    many = [np.count_nonzero(own) for own in counts]
    left = [j for j in sorted(range(len(columns)), key=lambda j: -many[j]) if many[j] > 1]
    kept = []
    while left:
        kept.append(left.pop(0))
        if left:
            among = repeated_groups(columns[kept[-1]])  # of one column at a time
            left = [j for j in left if not _follows(counts[j], columns[j], among)]
    return kept


def _follows(counts: Integers, codes: Integers, among: Repeated) -> bool:
    """Tell whether the repeated groups of another column agree in this one; too few of them say nothing."""
    if len(among.inside) - len(among.sizes) < _FEWEST_REPEATED:
        return False
    kappa = beyond_chance(counts, among.select(codes), among)
    return kappa is not None and kappa > ALIKE
