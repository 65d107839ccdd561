"""Copies: tables of synthetic records, each drawn from a model of its own.

Each copy has a model of a bootstrap sample of the records. So the copies differ by what is uncertain about
the model as well as by chance, and estimates over them can be combined, see `utility.combined_estimates`.

Source: Raghunathan et al. (2003).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.declared.domain_codes import values_of
from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic.copula import copula_records
from anon_pipeline.synthetic.trees import tree_records

Integers = NDArray[np.int64]
Draws = Callable[[SyntheticPolicy, Integers, Integers, int, RandomNumbers], Integers]

_METHODS: Mapping[str, Draws] = {"copula": copula_records, "trees": tree_records}
_TITLE = b"anon_pipeline synthetic copies 1"


def synthetic_codes(
    policy: SyntheticPolicy, codes: Integers, records: int, random: RandomNumbers
) -> list[Integers]:
    """Return the codes of each copy, (records, columns) each.

    Args:
        codes: (n, columns) of the data, see `domain_codes`.
    """
    draws, found = _METHODS[policy.method], list[Integers]()
    every = np.full(len(codes), len(codes))
    for _ in range(policy.copies):
        weights = np.bincount(random.below(every), minlength=len(codes))
        found.append(draws(policy, codes, weights.astype(np.int64), records, random))
    return found


def synthetic_tables(policy: SyntheticPolicy, codes: Integers, key: NoiseKey) -> list[pd.DataFrame]:
    """Return the copies that are released.

    Args:
        codes: (n, columns) of the data, see `domain_codes`.
        key: of all random numbers; equal keys give equal tables.
    """
    records = policy.copy_records or len(codes)
    copies = synthetic_codes(policy, codes, records, RandomNumbers.of_key(key, _TITLE))
    return [
        pd.DataFrame(
            {
                name: values_of(column, copy[:, place])
                for place, (name, column) in enumerate(policy.columns.items())
            }
        )
        for copy in copies
    ]
