"""Noisy means of groups of records: by insensitive microaggregation, or of each column by itself.

Noise is added to whole sums, so that it is exact; the division by the group's size comes after it. Where one
record is replaced,

* each group's sum changes by the column's range at most, so the sums of all m groups together by m times it:
  the mean of one group has sensitivity range/k, all together n/k · range/k [DB 9.1, 10.1];
* groups of neighbours in one sorted column pass values on from each to the next, all in one direction, so
  that all sums together change by the range at most: n/k times less [DB 10.2].

Categories of a group of records: the exponential mechanism on how often each value is in it [DB 9.4,
Algorithm 9], where all values are equally far apart. Those of a column by itself: noisy counts.

Algorithm 10 of the book leaves each record the means of its groups. Which records share a group is then
published without noise, and the result is not ε-DP: `tests/whole/test_algorithm_10.py` enumerates it. So
the columns are shuffled apart here.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.epsilon_dp.exponential_kernel import fill
from anon_pipeline.epsilon_dp.histograms import SENSITIVITY, apportion
from anon_pipeline.epsilon_dp.record_groups import group_sizes, record_groups
from anon_pipeline.perturb.budget import exact_fraction, split_epsilon
from anon_pipeline.perturb.discrete_laplace import discrete_laplace
from anon_pipeline.perturb.feed_words import feed
from anon_pipeline.perturb.keys import NoiseKey, Words
from anon_pipeline.policy.epsilon_dp import MOST_CELLS, EpsilonDpPolicy

Integers = NDArray[np.int64]

_EXACT = 2**52
_CHOICE_WORDS = 32


def column_shares(policy: EpsilonDpPolicy, epsilon: Fraction) -> tuple[Fraction, ...]:
    """Return the ε of each column, by its weight."""
    return split_epsilon(epsilon, [exact_fraction(column.weight) for column in policy.columns.values()])


def group_sums(codes: Integers, groups: Integers, many: int) -> Integers:
    """Return the sum of the codes of each group, (m,), exactly.

    Args:
        codes: (n,) up to 2⁴⁰ each; n up to 2²².
    """
    found = np.zeros(many, np.int64)
    np.add.at(found, groups, codes)
    return found


def noisy_group_means(
    policy: EpsilonDpPolicy, codes: Integers, epsilon: Fraction, key: NoiseKey, *, k: int, corners: bool
) -> Integers:
    """Return a code of each column for each group of records, (m, columns): noisy means, noisy choices.

    Args:
        codes: (n, columns) see `domain_codes`.
        epsilon: of all columns together.
    """
    sizes, groups = group_sizes(len(codes), k), record_groups(policy, codes, k=k, corners=corners)
    many, found = len(sizes), list[Integers]()
    for place, column in enumerate(policy.columns.values()):
        share = column_shares(policy, epsilon)[place]
        words = Words(key, np.arange(many, dtype=np.int64), column=place)
        if column.values is None:
            sums = group_sums(codes[:, place], groups, many)
            found.append(means_with_noise(sums, sizes, column.steps, many, share, words))
        else:
            cells = groups * column.size + codes[:, place]
            counts = np.bincount(cells, minlength=many * column.size).reshape(many, column.size)
            found.append(choose_values(counts.astype(np.int64), share / many, words))
    return np.stack(found, axis=1)


def noisy_ranked_column(
    policy: EpsilonDpPolicy, codes: Integers, epsilon: Fraction, key: NoiseKey, *, place: int, k: int
) -> Integers:
    """Return what is known of one column: noisy means of its groups, (m,), or noisy counts, (values,).

    Args:
        codes: (n,) of the column at this place.
        epsilon: of this column.
    """
    column = list(policy.columns.values())[place]
    if column.values is not None:
        counts = np.bincount(codes, minlength=column.size).astype(np.int64)
        words = Words(key, np.arange(column.size, dtype=np.int64), column=place)
        return counts + discrete_laplace(np.full(column.size, SENSITIVITY, np.int64), epsilon, entropy=words)
    sizes = group_sizes(len(codes), k)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    sums = group_sums(np.sort(codes), groups, len(sizes))
    words = Words(key, np.arange(len(sizes), dtype=np.int64), column=place)
    return means_with_noise(sums, sizes, column.steps, 1, epsilon, words)


def means_with_noise(
    sums: Integers, sizes: Integers, steps: int, times: int, epsilon: Fraction, words: Words
) -> Integers:
    """Return noisy means as codes within the domain, (m,).

    Args:
        times: how many times the range all sums together change, at most.
    """
    noise = discrete_laplace(np.full(len(sums), times * steps, np.int64), epsilon, entropy=words)
    means: Integers = np.clip((2 * (sums + noise) + sizes) // (2 * sizes), 0, steps)
    return means


def refuse_unfit_noise(policy: EpsilonDpPolicy, records: int, epsilon: Fraction) -> None:
    """Refuse groups that are larger than the table, or whose noise could not be drawn exactly.

    This is decided before anything is booked.

    Args:
        records: n, which is public.
    Raises:
        InputError: naming the method or the columns.
    """
    grouped = policy.group_means
    size = 1 if (made := grouped or policy.column_means) is None else made.k
    if size > records:
        raise InputError(
            f"{policy.method}.k: must be at most the number of records, {records:,}, got {size:,}: each mean "
            "is of at least k records. Take a smaller k."
        )
    many = 1 if grouped is None else len(group_sizes(records, grouped.k))
    shares = column_shares(policy, epsilon)
    for (name, column), share in zip(policy.columns.items(), shares, strict=True):
        scale = 1 if column.values is not None else column.steps
        if many * scale * 2 * share.denominator > _EXACT or share.numerator * records > 2**60:
            raise InputError(
                f"columns.{name}: the noise of so many groups cannot be drawn exactly. Use a coarser "
                "resolution, larger groups, or epsilon and weights with fewer decimals"
            )
        if column.values is not None and many * column.size > MOST_CELLS:
            raise InputError(
                f"columns.{name}: there must be at most {MOST_CELLS:,} values in all groups together, got "
                f"{many * column.size:,}. Use larger groups"
            )
    if policy.numeric and records * max(policy.columns[name].steps for name in policy.numeric) > 2**60:
        raise InputError("the sums of so many records are not exact. Use a coarser resolution")


def choose_values(counts: Integers, epsilon: Fraction, words: Words) -> Integers:
    """Choose a value for each group by the exponential mechanism, (m,): a frequent one is more probable.

    Args:
        counts: (m, values) how often each value is in the group: two of them change by 1 where one record
            is replaced.
        epsilon: of each group.
    """
    rate = epsilon / 2
    return feed(
        lambda chosen, drawn, elements: fill(
            chosen, counts, rate.numerator, rate.denominator, drawn, elements
        ),
        len(counts),
        first=_CHOICE_WORDS,
        entropy=words,
    )


def ranked_records(
    policy: EpsilonDpPolicy, noisy: list[Integers], records: int, random: RandomNumbers
) -> Integers:
    """Return records whose columns are independent, (records, columns) codes.

    Args:
        noisy: of each column, see `noisy_ranked_column`.
        records: how many are made.
        random: independent of the data and of the noise.
    """
    ranking = policy.column_means
    k, found = 2 if ranking is None else ranking.k, list[Integers]()
    for column, known in zip(policy.columns.values(), noisy, strict=True):
        if column.values is None:
            values = np.repeat(known, group_sizes(records, k))
        else:
            values = np.repeat(np.arange(column.size), apportion(np.maximum(known, 0), records, random))
        found.append(values[random.permutation(records)])
    return np.stack(found, axis=1).astype(np.int64)
