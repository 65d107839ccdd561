"""The tables of a bucketized release: a slice of the columns each, with the bucket of each row."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.bucketized.buckets import buckets_of
from anon_pipeline.declared.domain_codes import bin_of, values_of
from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.bucketized_release import BUCKET, BucketizedPolicy

Integers = NDArray[np.int64]
_TITLE = b"anon_pipeline buckets 1"


def sensitive_codes(policy: BucketizedPolicy, codes: Integers) -> Integers:
    """Return the codes of the sensitive column, (n,): of its bins where it has some."""
    return secret_codes(policy, codes, policy.sensitive)


def secret_codes(policy: BucketizedPolicy, codes: Integers, name: str) -> Integers:
    """Return the codes of a column whose values are guessed, (n,): of its bins where it has some."""
    column = policy.columns[name]
    return bin_of(codes[:, list(policy.columns).index(name)], column.size, column.counted)


def bucket_tables(policy: BucketizedPolicy, codes: Integers, key: NoiseKey) -> list[pd.DataFrame]:
    """Return the tables that are released: rows by bucket, within it in a random order of each table.

    Args:
        codes: (n, columns) of the data, see `domain_codes`.
        key: of all random numbers; equal keys give equal tables.
    """
    random, names = RandomNumbers.of_key(key, _TITLE), list(policy.columns)
    buckets = buckets_of(sensitive_codes(policy, codes), l=policy.l, k=policy.k, random=random)
    tables = []
    for columns in policy.slices:
        order = np.lexsort((random.permutation(len(codes)), buckets))
        tables.append(
            pd.DataFrame(
                {
                    BUCKET: buckets[order],
                    **{
                        name: values_of(policy.columns[name], codes[order, names.index(name)])
                        for name in columns
                    },
                }
            )
        )
    return tables
