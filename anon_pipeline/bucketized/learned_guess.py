"""An attacker who learns from all buckets which sensitive values go with which quasi-identifiers.

In one bucket every assignment of its values is equally probable. Over many buckets it shows which values
come with which quasi-identifiers, and this says which assignment in a bucket is the likely one. The attacker
here estimates, for each column, how values go with sensitive values (naive Bayes): each record counts for the
values of its bucket, first alike, then by how probable they are given its quasi-identifiers, a few times
over.

Source: Kifer (2009).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Flags = Sequence[bool]
Reals = NDArray[np.float64]

_ROUNDS = 10
_MOST = 20  # intervals that numbers are cut into
_MOST_PAIRS = 20  # of columns, the first ones: each takes as long as a column
_RECORDS_EACH = 5  # of a pair of values, on average; of fewer nothing is learned


def right_guesses(known: Integers, sensitive: Integers, buckets: Integers, *, cut: Flags) -> float:
    """Return the share of records whose sensitive value the best of several attackers guesses right.

    One learns of each column by itself, numbers in intervals; one of their values as they are; and, of each
    pair of columns that has enough records, one of the two together.

    Args:
        known: (n, q) codes of the quasi-identifiers of all other slices.
        sensitive: (n,) codes of the sensitive column.
        buckets: (n,) of each record, 0 … m − 1.
        cut: (q,) whether many values of the column are cut into intervals: numbers are, categories are not.
    """
    exact = [np.unique(column, return_inverse=True)[1].astype(np.int64) for column in known.T]
    coarse = [_few(column) if own else column for column, own in zip(exact, cut, strict=True)]
    pairs = itertools.islice(_pairs(coarse), _MOST_PAIRS)
    looks = [coarse, *([exact] if any(cut) else []), *([pair] for pair in pairs)]
    return max(right_by(columns, sensitive, buckets) for columns in looks)


def right_by(columns: Sequence[Integers], sensitive: Integers, buckets: Integers) -> float:
    """Return the share of records that one attacker guesses right.

    Args:
        columns: what he looks at, (n,) codes 0, 1, … each.
    """
    own = np.unique(sensitive, return_inverse=True)[1].astype(np.int64)
    records, values, prior = _candidates(own, buckets)
    chance = prior
    for _ in range(_ROUNDS):
        chance = _given_columns(columns, records, values, chance, prior)
    best = np.zeros(len(own))
    np.maximum.at(best, records, chance)
    ties = chance >= best[records] * (1 - 1e-12)
    tied = np.bincount(records, ties, minlength=len(own))
    right = ties & (values == own[records])
    return float((right / tied[records]).sum() / len(own))


def _pairs(columns: Sequence[Integers]) -> Iterator[Integers]:
    """Yield the codes of pairs of columns that have enough records for each pair of values."""
    for one, other in itertools.combinations(columns, 2):
        cells = one * (int(other.max(initial=0)) + 1) + other
        distinct, codes = np.unique(cells, return_inverse=True)
        if len(distinct) * _RECORDS_EACH <= len(codes):
            yield codes.astype(np.int64)


def _candidates(own: Integers, buckets: Integers) -> tuple[Integers, Integers, Reals]:
    """Return the values that each record may have: records, values, and their shares of the bucket, (c,)."""
    pairs, counts = np.unique(np.stack([buckets, own], axis=1), axis=0, return_counts=True)
    sizes, distinct = np.bincount(buckets), np.bincount(pairs[:, 0])
    firsts = np.cumsum(distinct) - distinct
    each = distinct[buckets]
    records = np.repeat(np.arange(len(own)), each)
    places = np.arange(len(records)) - np.repeat(np.cumsum(each) - each, each) + firsts[buckets[records]]
    return records, pairs[places, 1], counts[places] / sizes[buckets[records]]


def _given_columns(
    coded: Sequence[Integers], records: Integers, values: Integers, chance: Reals, prior: Reals
) -> Reals:
    """Return how probable each candidate is, (c,), by naive Bayes within its bucket."""
    many = int(values.max()) + 1
    total, found = np.bincount(values, chance, minlength=many), np.log(prior)
    for column in coded:
        cells, wide = column[records] * many + values, int(column.max()) + 1
        together = np.bincount(cells, chance, minlength=wide * many)
        found += np.log((together[cells] + 1) / (total[values] + wide))
    highest = np.full(int(records.max()) + 1, -np.inf)
    np.maximum.at(highest, records, found)
    found = np.exp(found - highest[records])
    likely: Reals = found / np.bincount(records, found)[records]
    return likely


def _few(column: Integers) -> Integers:
    """Return codes 0, 1, … of a column; many values are cut into intervals of equally many records."""
    distinct, codes = np.unique(column, return_inverse=True)
    if len(distinct) <= _MOST:
        return codes.astype(np.int64)
    ranks = np.argsort(np.argsort(column, kind="stable"), kind="stable")
    return ranks * _MOST // len(column)
