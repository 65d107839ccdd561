"""The methods of ε-DP releases: what each takes from the data with noise, and the records made of it.

A method is a function from codes to noisy numbers, which is ε-DP, and one from these to records, which sees
nothing else. Nothing else of the data is used after them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.declared.domain_codes import values_of
from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.epsilon_dp.histograms import made_records, noisy_counts, refuse_unfit_counts
from anon_pipeline.epsilon_dp.noisy_means import (
    column_shares,
    noisy_group_means,
    noisy_ranked_column,
    ranked_records,
    refuse_unfit_noise,
)
from anon_pipeline.epsilon_dp.record_groups import group_sizes
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy

Integers = NDArray[np.int64]
_TITLE = b"anon_pipeline records 1"


@dataclass(frozen=True, slots=True)
class Method:
    """A method of ε-DP releases.

    noise: from policy, codes (n, columns), ε and key to noisy numbers, which are ε-DP; nothing else of the
        data is used.
    records: from policy, noisy numbers, number of records and random numbers to codes (records, columns).
    refuses: from policy, number of records and ε; raises where the noise could not be exact.
    """

    noise: Callable[[EpsilonDpPolicy, Integers, Fraction, NoiseKey], list[Integers]]
    records: Callable[[EpsilonDpPolicy, Sequence[Integers], int, RandomNumbers], Integers]
    refuses: Callable[[EpsilonDpPolicy, int, Fraction], None]


def _group_noise(
    policy: EpsilonDpPolicy, codes: Integers, epsilon: Fraction, key: NoiseKey
) -> list[Integers]:
    chosen = policy.group_means
    k, corners = (2, False) if chosen is None else (chosen.k, chosen.orders == "corners")
    return [noisy_group_means(policy, codes, epsilon, key, k=k, corners=corners)]


def _group_records(
    policy: EpsilonDpPolicy, noisy: Sequence[Integers], records: int, random: RandomNumbers
) -> Integers:
    chosen = policy.group_means
    sizes = group_sizes(records, 2 if chosen is None else chosen.k)
    return np.repeat(noisy[0], sizes, axis=0)[random.permutation(records)]


def _ranked_noise(
    policy: EpsilonDpPolicy, codes: Integers, epsilon: Fraction, key: NoiseKey
) -> list[Integers]:
    k = 2 if policy.column_means is None else policy.column_means.k
    return [
        noisy_ranked_column(policy, codes[:, place], share, key, place=place, k=k)
        for place, share in enumerate(column_shares(policy, epsilon))
    ]


def _ranked_records(
    policy: EpsilonDpPolicy, noisy: Sequence[Integers], records: int, random: RandomNumbers
) -> Integers:
    return ranked_records(policy, list(noisy), records, random)


_METHODS: Mapping[str, Method] = {
    "histograms": Method(noisy_counts, made_records, refuse_unfit_counts),
    "group_means": Method(_group_noise, _group_records, refuse_unfit_noise),
    "column_means": Method(_ranked_noise, _ranked_records, refuse_unfit_noise),
}


def method_of(policy: EpsilonDpPolicy) -> Method:
    """Return the method of a policy."""
    return _METHODS[policy.method]


def refuse_inexact_noise(policy: EpsilonDpPolicy, records: int) -> None:
    """Refuse what could not be drawn exactly, see `noisy_means.refuse_unfit_noise`."""
    method_of(policy).refuses(policy, records, exact_fraction(policy.epsilon))


def noisy_table(policy: EpsilonDpPolicy, codes: Integers, key: NoiseKey) -> pd.DataFrame:
    """Return the table that is released, (n, columns): a function of ε-DP numbers, policy and key.

    Args:
        codes: (n, columns) see `domain_codes`.
        key: of all random numbers; equal keys give equal tables.
    """
    method, records = method_of(policy), len(codes)
    noisy = method.noise(policy, codes, exact_fraction(policy.epsilon), key)
    made = method.records(policy, noisy, records, RandomNumbers.of_key(key, _TITLE))
    return pd.DataFrame(
        {
            name: values_of(column, made[:, place])
            for place, (name, column) in enumerate(policy.columns.items())
        }
    )
