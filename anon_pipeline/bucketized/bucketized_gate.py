"""The gate of bucketized releases: all tables are judged together."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

from anon_pipeline.base.errors import InputError
from anon_pipeline.bucketized.bucket_tables import sensitive_codes
from anon_pipeline.bucketized.buckets import buckets_of
from anon_pipeline.bucketized.secret_attackers import guesses_of
from anon_pipeline.declared.declared_values import DRAW, VALUES, broken_values, judge_draw
from anon_pipeline.declared.domain_codes import bin_of, codes_of
from anon_pipeline.declared.parts import Release
from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.bucketized_release import BUCKET, BucketizedPolicy

SIZE, SHARE, GUESSED = "bucket_size", "value_share", "guessed"

MEANINGS = {
    VALUES: "Each table has its columns, only declared values, and the same number of rows of each bucket.",
    DRAW: "The random numbers come from the operating system.",
    SIZE: "Each bucket has at least k records: rows of two tables belong together with probability 1/k at "
    "most.",
    SHARE: "In each bucket no sensitive value has more than this share of the records, 1/l.",
    GUESSED: "An attacker who knows all other values of a person, and learns from all buckets which of them "
    "go with which sensitive values, guesses right for at most this share of the records.",
}
"""Limits of the gate, in words. The last one is measured with an attacker that is simulated."""


def refuse_bucketized(policy: BucketizedPolicy, records: int) -> None:
    """Refuse a source that is too small for one bucket.

    Raises:
        InputError: fewer than k or l records.
    """
    least = max(policy.k, policy.l)
    if records < least:
        raise InputError(
            f"the source must have at least {least:,} records, as many as a bucket, got {records:,}"
        )


def judge_bucketized(policy: BucketizedPolicy, release: Release) -> list[Verdict]:
    """Judge the tables of a bucketized release together; the attacker needs the data."""
    wrong = broken_tables(policy, release)
    values = Verdict(VALUES, Status.REFUSED if wrong else Status.PASSED, reason=wrong)
    draw = judge_draw(seeded=release.seeded, from_files=release.codes is None)
    if wrong is not None:
        why = "the tables are not as they must be"
        bounds = (
            (SIZE, policy.k, "at least"),
            (SHARE, 1 / policy.l, "at most"),
            (GUESSED, policy.gate.guessed, "at most"),
        )
        return [
            values,
            draw,
            *(Verdict(name, Status.UNMEASURED, None, bound, sense, why) for name, bound, sense in bounds),
        ]
    return [values, draw, *_of_buckets(policy, release.tables[-1]), _of_attacker(policy, release)]


def broken_tables(policy: BucketizedPolicy, release: Release) -> str | None:
    """Say what is wrong with the tables, by counts and names; None: nothing."""
    if len(release.tables) != len(policy.slices):
        return f"there must be {len(policy.slices)} tables"
    buckets: list[Counter[int]] = []
    for table, columns in zip(release.tables, policy.slices, strict=True):
        if list(table.columns[:1]) != [BUCKET] or not pd.api.types.is_integer_dtype(table[BUCKET]):
            return f"the first column of each table must be {BUCKET}, with whole numbers"
        wrong = broken_values(policy, table.drop(columns=BUCKET), release.records, columns=columns)
        if wrong is not None:
            return wrong
        buckets.append(Counter(table[BUCKET].tolist()))
    same = all(one == buckets[0] for one in buckets[1:])
    return None if same else "all tables must have the same number of rows of each bucket"


def _of_buckets(policy: BucketizedPolicy, table: pd.DataFrame) -> list[Verdict]:
    """Judge sizes and shares of values: whoever has the file can compute them."""
    column, own = policy.columns[policy.sensitive], np.unique(table[BUCKET], return_inverse=True)[1]
    codes = bin_of(codes_of(column, table[policy.sensitive]), column.size, column.counted)
    seen, codes = np.unique(codes, return_inverse=True)
    pairs, many = np.unique(own * len(seen) + codes, return_counts=True)
    sizes, most = np.bincount(own), np.zeros(int(own.max()) + 1, np.int64)
    np.maximum.at(most, pairs // len(seen), many)
    least, share = int(sizes.min()), float((most / sizes).max())
    kept = bool((most * policy.l <= sizes).all())
    return [
        Verdict(SIZE, _status(least >= policy.k), float(least), policy.k, "at least", recomputable=True),
        Verdict(SHARE, _status(kept), share, 1 / policy.l, "at most", recomputable=True),
    ]


def _of_attacker(policy: BucketizedPolicy, release: Release) -> Verdict:
    """Judge how often an attacker guesses right, who sees buckets of the same kind, drawn with a seed.

    The verdict is on the sensitive column, unless another secret is guessed too often.
    """
    bound = policy.gate.guessed
    if release.codes is None:
        return Verdict(GUESSED, Status.UNMEASURED, None, bound, "at most", "needs the data")
    for name, most in policy.gate.guessed_of.items():
        share = simulated_guesses(policy, release.codes, secret=name)
        if share > most:
            return Verdict(GUESSED, Status.REFUSED, share, most, "at most", f"of {name}")
    share = simulated_guesses(policy, release.codes)
    return Verdict(GUESSED, _status(share <= bound), share, bound, "at most")


def simulated_guesses(policy: BucketizedPolicy, codes: np.ndarray, *, secret: str | None = None) -> float:
    """Return the share of right guesses for buckets that are drawn as those of the release are.

    Args:
        codes: (n, columns) of the source.
        secret: column whose values are guessed; default: the sensitive one.
    """
    sensitive = sensitive_codes(policy, codes)
    buckets = buckets_of(sensitive, l=policy.l, k=policy.k, random=RandomNumbers(_SEED))
    return guesses_of(policy, codes, buckets, policy.sensitive if secret is None else secret)


_SEED = 20_161_127  # of simulated buckets, which are never released


def _status(kept: bool) -> Status:
    return Status.PASSED if kept else Status.REFUSED
