"""Attackers who know all other values of a person, and guess a secret in the tables of a bucketized release.

They find the person's bucket by the columns of other tables, and in it the rows with the person's values of
the columns beside the secret. That they find the right bucket is assumed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.bucketized.bucket_tables import secret_codes
from anon_pipeline.bucketized.learned_guess import right_guesses
from anon_pipeline.bucketized.sum_guess import right_by_sums
from anon_pipeline.declared.domain_codes import values_of
from anon_pipeline.policy.bucketized_release import BucketizedPolicy

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


def guesses_of(policy: BucketizedPolicy, codes: Integers, buckets: Integers, secret: str) -> float:
    """Return the share of records whose secret the best of several attackers guesses right.

    One takes the most frequent secret of the rows that fit; others have learned from all buckets, see
    `learned_guess`, or know which sum or product of numbers the secret is, see `sum_guess`.

    Args:
        codes: (n, columns) of the source.
        buckets: (n,) of each record, 0 … m − 1.
        secret: column of any slice.
    """
    names = list(policy.columns)
    own = next(one for one in policy.slices if secret in one)
    beside = [name for name in own if name != secret]
    known = [name for one in policy.slices if secret not in one for name in one]
    answers = secret_codes(policy, codes, secret)
    rows = _rows_that_fit(codes[:, [names.index(name) for name in beside]], buckets)
    cut = [policy.columns[name].bounds is not None for name in known]
    elsewhere = codes[:, [names.index(name) for name in known]]
    shares = [
        right_guesses(elsewhere, answers, groups, cut=cut)
        for groups in ([buckets, rows] if beside else [buckets])
    ]
    if secret in policy.numeric:
        numbers = [name for name in (*known, *beside) if name in policy.numeric]
        values = _numbers(policy, codes, [secret])[:, 0]
        shares.append(right_by_sums(_numbers(policy, codes, numbers), values, answers, rows))
    return max(*shares, _most_frequent(rows, answers))


def _rows_that_fit(beside: Integers, buckets: Integers) -> Integers:
    """Number the sets of rows with the same bucket and the same values beside the secret, (n,)."""
    found = np.unique(np.column_stack([buckets, beside]), axis=0, return_inverse=True)[1]
    return found.ravel().astype(np.int64)


def _most_frequent(rows: Integers, answers: Integers) -> float:
    """Return the share of records with the most frequent secret of the rows that fit."""
    pairs, counts = np.unique(np.stack([rows, answers]), axis=1, return_counts=True)
    most = np.zeros(int(rows.max()) + 1, np.int64)
    np.maximum.at(most, pairs[0], counts)
    return float(most.sum() / len(answers))


def _numbers(policy: BucketizedPolicy, codes: Integers, names: Sequence[str]) -> Reals:
    """Return the numbers of columns as they are released, (n, names)."""
    places = list(policy.columns)
    found = np.empty((len(codes), len(names)), np.float64)
    for place, name in enumerate(names):
        found[:, place] = values_of(policy.columns[name], codes[:, places.index(name)])
    return found
