"""An attacker who learns from all buckets which sensitive values go with which quasi-identifiers.

In one bucket every assignment of its values is equally probable. Over many buckets it shows which values
come with which quasi-identifiers, and this says which assignment in a bucket is the likely one. The attacker
here estimates, for each column, how values go with sensitive values (naive Bayes): each record counts for the
values of its bucket, first alike, then by how probable they are given its quasi-identifiers, a few times
over.

Source: Kifer (2009).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

_ROUNDS = 10
_MOST = 20  # intervals that numbers are cut into


def right_guesses(known: Integers, sensitive: Integers, buckets: Integers) -> float:
    """Return the share of records whose sensitive value the attacker guesses right.

    Args:
        known: (n, q) codes of the quasi-identifiers of all other slices.
        sensitive: (n,) codes of the sensitive column.
        buckets: (n,) of each record, 0 … m − 1.
    """
    coded = [_few(column) for column in known.T]
    own = np.unique(sensitive, return_inverse=True)[1].astype(np.int64)
    records, values, prior = _candidates(own, buckets)
    chance = prior
    for _ in range(_ROUNDS):
        chance = _given_columns(coded, records, values, chance, prior)
    best = np.zeros(len(own))
    np.maximum.at(best, records, chance)
    ties = chance >= best[records] * (1 - 1e-12)
    tied = np.bincount(records, ties, minlength=len(own))
    right = ties & (values == own[records])
    return float((right / tied[records]).sum() / len(own))


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
    coded: list[Integers], records: Integers, values: Integers, chance: Reals, prior: Reals
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
