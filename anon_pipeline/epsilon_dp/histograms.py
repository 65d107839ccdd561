"""Noisy counts of declared values, and records that are made up to have them.

The counts of a table change by 1 in two cells where one record is replaced: two-sided geometric noise of
scale 2/ε makes them ε-DP (sensitivity 2, sequential composition over tables). What follows uses nothing but
the noisy counts: post-processing.

Source: [DB 8.4, 10]; Dwork and Roth (2014), 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.declared.domain_codes import bin_of, bin_starts
from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.perturb.discrete_laplace import discrete_laplace
from anon_pipeline.perturb.keys import NoiseKey, Words
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

SENSITIVITY = 2
"""How much the counts of a table change, added up, where one record is replaced."""


def exact_counts(policy: EpsilonDpPolicy, codes: Integers) -> list[Integers]:
    """Count the records of each cell of each table; private.

    Args:
        codes: (n, columns) see `domain_codes`.
    Returns:
        For each table its cells, in the shape of its columns.
    """
    names = list(policy.columns)
    found = []
    for table in policy.tables:
        shape = [policy.columns[name].counted for name in table]
        parts = [
            bin_of(codes[:, names.index(name)], policy.columns[name].size, counted)
            for name, counted in zip(table, shape, strict=True)
        ]
        cells = np.ravel_multi_index(parts, shape)
        found.append(np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64))
    return found


def noisy_counts(
    policy: EpsilonDpPolicy, codes: Integers, epsilon: Fraction, key: NoiseKey
) -> list[Integers]:
    """Return the counts of each table with noise: all that is ever used of the data.

    Args:
        epsilon: of all tables together, which share it equally.
    """
    share = epsilon / len(policy.tables)
    noisy = []
    for number, counts in enumerate(exact_counts(policy, codes)):
        cells = counts.size
        words = Words(key, np.arange(cells, dtype=np.int64), column=number)
        noise = discrete_laplace(np.full(cells, SENSITIVITY, np.int64), share, entropy=words)
        noisy.append(counts + noise.reshape(counts.shape))
    return noisy


def refuse_unfit_counts(policy: EpsilonDpPolicy, records: int, epsilon: Fraction) -> None:
    """Refuse an ε with which noise could not be drawn exactly, before anything is booked.

    Raises:
        InputError: it has too many decimals.
    """
    share = epsilon / len(policy.tables)
    if SENSITIVITY * share.denominator > 2**52 or share.numerator > 2**62:
        raise InputError("epsilon: its noise cannot be drawn exactly. Use fewer decimals, or fewer tables")


def made_records(
    policy: EpsilonDpPolicy, noisy: Sequence[Integers], records: int, random: RandomNumbers
) -> Integers:
    """Make records whose counts are near to noisy ones.

    The first table is apportioned: each cell gets the records that its count, fitted to the number of
    records, is a share of, rounded so that they add up. Each later table adds its new columns to the
    records, apportioned in the same way among those with the same values of the columns that it shares with
    earlier tables.

    Args:
        noisy: the counts of each table.
        records: how many are made.
        random: independent of the data and of the noise.
    Returns:
        (records, columns) codes, in random order; numbers of a bin are uniform in it.
    """
    names = list(policy.columns)
    binned = np.zeros((records, len(names)), np.int64)
    known: list[str] = []
    for table, counts in zip(policy.tables, noisy, strict=True):
        shared = [name for name in table if name in known]
        fresh = [name for name in table if name not in known]
        if fresh:
            order = [table.index(name) for name in (*shared, *fresh)]
            shape = [policy.columns[name].counted for name in shared]
            weights = fitted_weights(counts, records).transpose(order).reshape(int(np.prod(shape)), -1)
            groups = _cells(binned, [names.index(name) for name in shared], shape)
            drawn = _cells_of_records(weights, groups, random)
            parts = np.unravel_index(drawn, [policy.columns[name].counted for name in fresh])
            for name, part in zip(fresh, parts, strict=True):
                binned[:, names.index(name)] = part
            known += fresh
    return _within_bins(policy, binned, random)[random.permutation(records)]


def fitted_weights(counts: Integers, records: int) -> Integers:
    """Return weights of cells in proportion to the nearest counts that are ≥ 0 and add up to the records.

    These are max(c − τ, 0) for one τ ≥ 0: with noise cut off at zero alone, many empty cells would get
    records. The weights are m times as large, where m is the number of cells above τ, and so whole numbers.
    Positive counts that add up to less are taken as they are: their shares stay.

    Args:
        counts: with noise, of any shape.
        records: ≥ 1.
    Source:
        Duchi et al. (2008), Figure 1: projection onto the simplex.
    """
    positive: Integers = np.maximum(counts, 0)
    if int(positive.sum()) <= records:
        return positive
    falling = np.sort(counts, axis=None)[::-1]
    beyond = np.cumsum(falling) - records  # m·τ, if the first m cells are those above τ
    many = np.arange(1, len(falling) + 1)
    last = int(np.flatnonzero(falling * many > beyond)[-1])
    weights: Integers = np.maximum(counts * many[last] - beyond[last], 0)
    return weights


def _cells(binned: Integers, columns: Sequence[int], shape: Sequence[int]) -> Integers:
    """Return the cell of each record in a table of some columns, (r,); 0 of no columns."""
    if not columns:
        return np.zeros(len(binned), np.int64)
    return np.ravel_multi_index([binned[:, column] for column in columns], shape).astype(np.int64)


def _cells_of_records(weights: Integers, groups: Integers, random: RandomNumbers) -> Integers:
    """Give each record a cell of its group, (r,), as often as the weights say.

    Args:
        weights: (groups, cells) ≥ 0; a group without any has those of all groups together.
        groups: (r,) of each record.
    """
    drawn = np.zeros(len(groups), np.int64)
    order = np.argsort(groups, kind="stable")
    found, starts = np.unique(groups[order], return_index=True)
    together = weights.sum(axis=0)
    for group, members in zip(found, np.split(order, starts[1:]), strict=True):
        own = weights[group] if weights[group].any() else together
        drawn[members[random.permutation(len(members))]] = np.repeat(
            np.arange(len(own)), apportion(own, len(members), random)
        )
    return drawn


def apportion(weights: Integers, records: int, random: RandomNumbers) -> Integers:
    """Divide records by weights, (cells,): the whole parts, and the rest by the largest remainders.

    Cells with equal remainders get the rest in random order. Without weights all cells are equal.
    """
    own = weights if weights.any() else np.ones_like(weights)
    total = int(own.sum())
    exact = [int(weight) * records for weight in own] if total > 2**62 // max(records, 1) else own * records
    whole = np.array([value // total for value in exact] if isinstance(exact, list) else exact // total)
    rests = np.array([value % total for value in exact] if isinstance(exact, list) else exact % total)
    left = records - int(whole.sum())
    ties = random.permutation(len(own))
    largest = ties[np.argsort(-rests[ties], kind="stable")[:left]]
    whole[largest] += 1
    return whole.astype(np.int64)


def _within_bins(policy: EpsilonDpPolicy, binned: Integers, random: RandomNumbers) -> Integers:
    """Return codes that are uniform in their bins."""
    codes = binned.copy()
    for place, column in enumerate(policy.columns.values()):
        starts = bin_starts(column.size, column.counted)
        low, high = starts[binned[:, place]], starts[binned[:, place] + 1]
        codes[:, place] = low + random.below(high - low)
    return codes
