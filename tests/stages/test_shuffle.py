"""A uniform order of the released records."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from anon_pipeline.perturb.entropy import seeded_entropy, system_entropy
from anon_pipeline.stages.shuffle import permutation


def test_all_24_orders_of_4_are_equally_likely():
    entropy = seeded_entropy(24)
    place = {order: i for i, order in enumerate(permutations(range(4)))}
    drawn = [place[tuple(permutation(4, entropy=entropy).tolist())] for _ in range(12_000)]
    assert chisquare(np.bincount(drawn, minlength=24)).pvalue > 1e-3


@given(st.integers(0, 300), st.integers())
def test_every_record_comes_once(n, seed):
    assert sorted(permutation(n, entropy=seeded_entropy(seed)).tolist()) == list(range(n))


def test_same_seed_same_order_and_the_system_never():
    first, second = (permutation(50, entropy=seeded_entropy(1)).tolist() for _ in range(2))
    assert first == second
    assert (
        permutation(50, entropy=system_entropy()).tolist()
        != permutation(50, entropy=system_entropy()).tolist()
    )


def test_records_of_a_large_table_stay_nowhere_near():
    n = 100_000
    order = permutation(n, entropy=seeded_entropy(2))
    assert abs(np.corrcoef(order, np.arange(n))[0, 1]) < 4 / np.sqrt(n)
    assert (order == np.arange(n)).sum() < 10  # fixed points are Poisson(1)
