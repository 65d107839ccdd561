"""Groups of records that make a value nearly certain, and how many more of them there are than by chance.

Small groups have one value by chance, so what is expected of groups of these sizes is subtracted, when the
values are dealt anew to the records of each stratum.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import pack_columns
from anon_pipeline.base.order import count_different, rank_values
from anon_pipeline.risk.certainty import COMMON, least_of_common
from anon_pipeline.risk.people import count_people

CHANCE = 1e-4
"""Probability that tables without a connection say something, at most: of so many records in such groups."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """Who is counted, in groups and in strata.

    stratum: (b,) of each group. sizes: (b,) of the groups. strata: (s,) sizes.
    held: values, groups and counts, (h,) each, of the values that somebody in a group has.
    owned: values, strata and counts, (o,) each, of the values that somebody in a stratum has.
    shares: (v,) of all, who have each value.
    """

    stratum: Integers
    sizes: Integers
    strata: Integers
    held: tuple[Integers, Integers, Integers] = field(repr=False)
    owned: tuple[Integers, Integers, Integers] = field(repr=False)
    shares: NDArray[np.float64] = field(repr=False)


def surplus_share(
    values: NDArray[np.integer],
    groups: NDArray[np.integer],
    strata: NDArray[np.integer],
    *,
    most: float,
    gain: float,
    people: NDArray[np.integer] | None = None,
) -> float:
    """Return the share of the records in groups that make a value nearly certain, beyond chance.

    A group makes a value nearly certain if ``most`` of its records have it, and it is ``gain`` times as
    frequent there as in all records; or, if half to `certainty.COMMON` of all records have it, its odds are
    `certainty.ODDS` times as large. By chance the records of a stratum are dealt to groups of the same sizes,
    so that a value's count in a group is hypergeometric. Nothing is said unless the records in such groups
    exceed their expected number by more than by chance, see `is_beyond_chance`.

    Args:
        values: (r,) codes, 0 or more.
        groups: (r,) within each stratum, 0 or more: records of different strata are in different groups.
        strata: (r,) 0 or more; all equal: groups of the whole table.
        most: above 1/2, so that a group has one such value at most.
        people: (r,) whose record it is: people are then counted, in each group that has a record of theirs.
            Somebody may have several values. By chance all values of a person are dealt together.
    Returns:
        In [0, 1]. Of a group of one, everything is due to chance.
    Source:
        [methods 8.4].

    >>> illness, building = np.arange(240) % 4, np.arange(240) % 4 // 2
    >>> surplus_share(illness, building, np.zeros(240, int), most=0.9, gain=2)
    0.0
    >>> round(surplus_share(illness, illness, np.zeros(240, int), most=0.9, gain=2), 6)
    1.0
    """
    if not len(values):
        return 0.0
    codes, own_groups, own_strata = (np.asarray(one, np.int64) for one in (values, groups, strata))
    counted = _count(codes, own_groups, own_strata, people)
    own, group, holders = counted.held
    sure = np.zeros(len(counted.sizes), np.bool_)
    sure[group[holders >= _least(counted.sizes[group], counted.shares[own], most, gain)]] = True
    chance = _chances(counted, most, gain)
    weights = counted.sizes.astype(np.float64)
    beyond = float(weights @ (sure - chance))
    return beyond / float(weights.sum()) if is_beyond_chance(beyond, weights, chance) else 0.0


def marked_surplus(
    marks: NDArray[np.integer],
    labels: NDArray[np.integer],
    *,
    most: float,
    gain: float,
    people: NDArray[np.integer] | None = None,
) -> float:
    """Return the share of the records in classes that make a mark nearly certain, beyond chance.

    It is `surplus_share` of the classes of a table, where records without a mark have nothing in common;
    faster, because only few records are marked.

    Args:
        marks: (r,) 0 for none, 1 or more for each mark.
        labels: (r,) class of each record, 0 … m−1, each with at least one record.
        most, gain, people: see `surplus_share`.
    Returns:
        In [0, 1].

    >>> marked_surplus(np.repeat([1, 0, 0, 0], 60), np.arange(240) // 60, most=0.9, gain=2)
    0.25
    """
    m, rows = int(labels.max(initial=-1)) + 1, np.flatnonzero(marks)
    sizes, everybody = _members_of(labels, m, people)
    kinds, kind = np.unique(sizes, return_inverse=True)
    owners: list[NDArray[np.int64]] = []
    needed: list[NDArray[np.float64]] = []
    sure = np.zeros(m, np.bool_)
    for mark in np.unique(marks[rows]):
        own = rows[marks[rows] == mark]
        holders, marked = _members_of(labels[own], m, None if people is None else people[own])
        least = _least(kinds, np.full(len(kinds), marked / everybody), most, gain)
        sure |= holders >= least[kind]
        owners.append(np.full(len(kinds), marked, np.int64))
        needed.append(least)
    if not sure.any():
        return 0.0
    held, bounds, drawn = np.concatenate(owners), np.concatenate(needed), np.tile(kinds, len(needed))
    able = np.flatnonzero(bounds <= held)
    chance, whole = np.zeros(len(bounds)), np.full(len(able), everybody, np.int64)
    chance[able] = hypergeometric_tails(whole, held[able], drawn[able], bounds[able].astype(np.int64))
    chances = np.minimum(chance.reshape(len(needed), -1).sum(axis=0), 1.0)[kind]
    weights = sizes.astype(np.float64)
    beyond = float(weights @ (sure - chances))
    return beyond / float(weights.sum()) if is_beyond_chance(beyond, weights, chances) else 0.0


def _members_of(
    labels: NDArray[np.integer], m: int, people: NDArray[np.integer] | None
) -> tuple[NDArray[np.int64], int]:
    """Count who is in each class, (m,), and in all."""
    if people is None:
        return np.bincount(labels, minlength=m), len(labels)
    return count_people(labels, people, m=m), count_different(people)


def is_beyond_chance(beyond: float, weights: NDArray[np.float64], chance: NDArray[np.float64]) -> bool:
    """Tell whether a sum exceeds its expected value by more than it does by chance, see `CHANCE`.

    Few of many groups are certain by chance, so that the sum is skewed. It is compared with a Poisson number
    of groups of one size that has its variance, and its skewness if all chances are small.

    Args:
        beyond: how far the sum is above its expected value.
        weights: (b,) what each group adds to it, if it is certain.
        chance: (b,) that it is.

    >>> [is_beyond_chance(more, np.ones(100), np.full(100, 0.01)) for more in (3.0, 8.0)]
    [False, True]
    """
    from scipy.special import gammainc  # noqa: PLC0415 - slow to import: only where a table has such groups

    spread = chance * (1 - chance)
    variance = float(weights**2 @ spread)
    if beyond <= 0 or variance <= 0:
        return beyond > 0
    size = float(weights**3 @ spread) / variance
    groups = variance / size**2
    return float(gammainc(beyond / size + groups, groups)) < CHANCE


def _least(
    sizes: NDArray[np.int64], shares: NDArray[np.float64], most: float, gain: float
) -> NDArray[np.float64]:
    """Return how many of a group must have a value of these shares for it to be nearly certain, (x,)."""
    certain = np.ceil(most * sizes - 1e-9)
    rare = np.maximum(certain, np.floor(gain * shares * sizes + 1e-9) + 1)
    common = (shares >= 1 / gain) & (shares <= COMMON)
    found = np.where(shares > COMMON, np.inf, rare)
    found[common] = np.maximum(certain[common], least_of_common(sizes[common], shares[common]))
    return np.where(found > sizes, np.inf, found)


def _count(
    values: Integers, groups: Integers, strata: Integers, people: NDArray[np.integer] | None
) -> _Counts:
    strata = rank_values(strata, int(strata.max()) + 1)[0]
    cells = rank_values(*pack_columns((strata, groups)))[0]
    stratum = np.zeros(int(cells.max()) + 1, np.int64)
    stratum[cells] = strata
    sizes, totals = (_members(labels, people) for labels in (cells, strata))
    everybody, everywhere = _holders(values, np.zeros_like(values), people), len(values)
    if people is not None:
        everywhere = count_different(people)
    shares = np.zeros(int(values.max()) + 1)
    shares[everybody[0]] = everybody[2] / everywhere
    held, owned = (_holders(values, labels, people) for labels in (cells, strata))
    return _Counts(stratum, sizes, totals, held, owned, shares)


def _members(labels: Integers, people: NDArray[np.integer] | None) -> Integers:
    if people is not None:
        labels = _once((labels, people.astype(np.int64)))[0]
    return np.bincount(labels)


def _holders(
    values: Integers, labels: Integers, people: NDArray[np.integer] | None
) -> tuple[Integers, Integers, Integers]:
    """Return the values that each label has, the labels, and how many of its members have them, (h,) each."""
    if people is not None:
        values, labels, _ = _once((values, labels, people.astype(np.int64)))
    keys, space = pack_columns((labels, values))
    ranks, different = rank_values(keys, space)
    first = np.zeros(different, np.int64)
    first[ranks] = np.arange(len(ranks))
    return values[first], labels[first], np.bincount(ranks)


def _once(columns: tuple[Integers, ...]) -> tuple[Integers, ...]:
    """Return the different rows of some columns."""
    ranks, different = rank_values(*pack_columns(columns))
    first = np.zeros(different, np.int64)
    first[ranks] = np.arange(len(ranks))
    return tuple(column[first] for column in columns)


def _chances(counted: _Counts, most: float, gain: float) -> NDArray[np.float64]:
    """Return the chance that each group makes a value nearly certain, (b,).

    Groups of one size in one stratum have the same chance, and only values that enough of the stratum have
    add to it.
    """
    width = int(counted.strata.max()) + 1
    kinds, of_kind = np.unique(counted.stratum * width + counted.sizes, return_inverse=True)
    stratum, sizes = np.divmod(kinds, width)
    values, owner, owners = counted.owned
    order = np.argsort(owner * width + (width - 1 - owners), kind="stable")
    keys = (owner * width + (width - 1 - owners))[order]
    first = np.searchsorted(keys, stratum * width)
    enough = np.searchsorted(
        keys, stratum * width + width - 1 - np.ceil(most * sizes - 1e-9).astype(np.int64), "right"
    )
    each = np.maximum(enough - first, 0)
    kind = np.repeat(np.arange(len(kinds)), each)
    place = order[np.repeat(first, each) + np.arange(len(kind)) - np.repeat(np.cumsum(each) - each, each)]
    least = _least(sizes[kind], counted.shares[values[place]], most, gain)
    possible = least <= owners[place]
    kind, place, least = kind[possible], place[possible], least[possible].astype(np.int64)
    tails = hypergeometric_tails(counted.strata[stratum[kind]], owners[place], sizes[kind], least)
    return np.minimum(np.bincount(kind, tails, minlength=len(kinds)), 1.0)[of_kind]


def hypergeometric_tails(
    population: Integers, marked: Integers, drawn: Integers, least: Integers
) -> NDArray[np.float64]:
    """Return the chance that at least so many of those drawn are marked, (x,).

    Args:
        population: (x,) of whom ``marked``, (x,), are marked.
        drawn: (x,) how many of them are drawn without replacement.
        least: (x,) not above ``drawn`` and ``marked``.

    >>> hypergeometric_tails(*(np.array([n]) for n in (10, 4, 2, 2))).round(4).tolist()  # 4/10 · 3/9
    [0.1333]
    """
    if not len(population):
        return np.zeros(0)
    highest = np.minimum(drawn, marked)
    terms = highest - least + 1
    row = np.repeat(np.arange(len(terms)), terms)
    found = least[row] + np.arange(len(row)) - np.repeat(np.cumsum(terms) - terms, terms)
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, int(population.max()) + 1)))))

    def choose(n: Integers, k: Integers) -> NDArray[np.float64]:
        """Return the logarithm of n choose k; −∞ where k is outside of 0 … n."""
        inside = (k >= 0) & (k <= n)
        k = np.where(inside, k, 0)
        return np.where(inside, logs[n] - logs[k] - logs[n - k], -np.inf)

    n, c, g = population[row], marked[row], drawn[row]
    chances = np.exp(choose(c, found) + choose(n - c, g - found) - choose(n, g))
    return np.minimum(np.bincount(row, chances, minlength=len(terms)), 1.0)
